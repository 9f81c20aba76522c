"""Tables and figures: a file each, with its command, its time and what to expect.

`table.py` is the table itself, `cases.py` measures its rows on several cores, `networks.py` trains what most of
them look at. Every other file makes one table: `make(…) -> Table`, and `csim/cli/bench.py` gives it a command.
"""
