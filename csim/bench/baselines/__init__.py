"""Published methods that csim is compared with, written from their publications for the bench."""
