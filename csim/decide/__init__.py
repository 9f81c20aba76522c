"""Stage 3: a vector is given a class, or rejected."""
