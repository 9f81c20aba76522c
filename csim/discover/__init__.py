"""Stage 4: images that are new or in doubt become groups, each thought to be of one kind."""
