"""`csim bench service`: the service under load, and killed."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated

import typer

from csim.bench.tables import service as table
from csim.cli.bench.options import AsJson, Out
from csim.cli.bench.output import make_and_show

Seed = Annotated[
    int, typer.Option("--seed", min=0, help="Seed of the images and the moments of the kills.")
]
Kills = Annotated[
    int, typer.Option("--kills", min=1, help="Number of kills. More take longer and test more.")
]
Seconds = Annotated[
    float, typer.Option("--seconds", min=1, help="Length of the load. More steadies the figures.")
]


def service(
    out: Out = Path("results"),
    seed: Seed = 0,
    kills: Kills = 20,
    seconds: Seconds = 60,
    as_json: AsJson = False,
) -> None:
    """Load the service, kill it many times, and measure pace and waits.

    The table says whether anything was lost. It takes about 10 minutes on two cores.
    Run nothing else meanwhile.

    Example: csim bench service --kills 5
    """
    with tempfile.TemporaryDirectory(prefix="csim-service-") as work:
        make_and_show(
            lambda on_done: table.make(
                Path(work), kills=kills, seconds=seconds, seed=seed, on_done=on_done
            ),
            out,
            as_json,
        )
