"""Stage 5: a group becomes a question, a person's words become labels."""
