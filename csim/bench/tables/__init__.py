"""Tables and figures: a file each, with its command, its time and what to expect.

`table.py` is the table itself, `sheet.py` adds its picture. Tables of streams have `cases(plan)`, the runs they need,
and `make(results, plan)`, which draws from result files; the others measure in `make`, their rows on several cores by
`cases.py`. `csim/cli/bench/` gives each a command.
"""
