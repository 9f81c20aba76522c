"""Tables and figures: a file each, with its command, its time and what to expect.

Tables of streams have `cases(plan)`, the runs they need, and `make(results, plan)`, which draws
from finished runs. The others measure in `make`, their rows on several cores. `layout` writes them,
`plans` chooses runs, `vectors` measures networks, and `csim/cli/bench/` gives each a command.
"""
