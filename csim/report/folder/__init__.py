"""The report of a stream folder."""
