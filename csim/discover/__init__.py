"""Stage 4: rejected images become groups, each thought to be of one kind."""
