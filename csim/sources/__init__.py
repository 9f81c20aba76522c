"""Stage 1: where images come from."""
