"""Stage 7: the store becomes a new model. It alone uses the stages embed, decide and store."""
