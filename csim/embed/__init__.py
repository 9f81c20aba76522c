"""Stage 2: an image becomes a vector of unit length, near the vectors of its class."""
