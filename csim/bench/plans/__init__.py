"""Which runs a table of streams needs, and what the paper reports for them."""
