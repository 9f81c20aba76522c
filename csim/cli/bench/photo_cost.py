"""`csim bench photo-cost`: time, memory and disk space of a stream of photographs."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated

import typer

from csim.bench.datasets import thin
from csim.bench.datasets.catalogue import load
from csim.bench.tables import photo_cost as table
from csim.cli.bench.options import AsJson, DataDir, Out
from csim.cli.bench.output import make_and_show

Seed = Annotated[int, typer.Option("--seed", min=0, help="Seed of the stream.")]

_SHAPE = (224, 224, 3)  # of lite0
_THIN = 3  # every third image: enough to steady the figures


def photo_cost(
    data_dir: DataDir = None, out: Out = Path("results"), seed: Seed = 0, as_json: AsJson = False
) -> None:
    """Measure what a stream of photographs costs beside its encoder.

    The table has forward passes, pace, memory and disk space. It uses fruits and
    groceries, and needs the extra photos. It takes about two minutes.

    Example: csim bench photo-cost
    """
    data = thin(load("fruits", data_dir, size=_SHAPE), _THIN)
    large = load("groceries", data_dir, size=_SHAPE)
    with tempfile.TemporaryDirectory(prefix="csim-photos-") as work:
        make_and_show(
            lambda on_done: table.make(data, large, Path(work), seed=seed, on_done=on_done),
            out,
            as_json,
        )
