"""Stage 5: a group becomes a question, and a person's answer becomes labels."""
