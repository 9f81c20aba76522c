"""Stage 6: labelled images, by class, for the next training."""
