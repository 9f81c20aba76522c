"""`csim bench durability`: a stream that is killed many times."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated

import typer

from csim.bench.tables import durability as table
from csim.cli.bench.options import AsJson, Out
from csim.cli.bench.output import make_and_show

Seed = Annotated[
    int,
    typer.Option(
        "--seed", min=0, help="Seed of the images, the answers and the moments of the kills."
    ),
]
Kills = Annotated[
    int, typer.Option("--kills", min=1, help="Number of kills. More take longer and test more.")
]


def durability(
    out: Out = Path("results"), seed: Seed = 0, kills: Kills = 100, as_json: AsJson = False
) -> None:
    """Kill a running stream many times and measure what durability costs.

    The table says whether anything was lost. It takes about 20 minutes on two cores.
    Run nothing else meanwhile.

    Example: csim bench durability --kills 10
    """
    with tempfile.TemporaryDirectory(prefix="csim-durability-") as work:
        make_and_show(
            lambda on_done: table.make(Path(work), kills=kills, seed=seed, on_done=on_done),
            out,
            as_json,
        )
