"""Stage 3: a vector gets a class, or is rejected."""
