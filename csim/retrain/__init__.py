"""Stage 7: train a new model on the store. It alone uses the stages embed, decide and store."""
