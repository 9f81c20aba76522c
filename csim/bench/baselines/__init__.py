"""Methods of other people that ours is compared with, written from their publications for the bench alone."""
