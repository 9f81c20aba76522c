"""Stage 4: new and doubtful images become groups, each thought to be of one class."""
