"""`csim bench embedding`: t-SNE projections of images and of their vectors."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from csim.bench.tables import embedding as table
from csim.cli.bench.options import AsJson, DataDir, Jobs, Out
from csim.cli.bench.output import show_sheet
from csim.cli.bench.progress import show_count

Rows = Annotated[
    list[str],
    typer.Option("--dataset", help="Data set. Repeat the option for another row of the picture."),
]
Seed = Annotated[
    int,
    typer.Option("--seed", min=0, help="Seed of the known classes, the images and the networks."),
]
Quick = Annotated[
    bool, typer.Option("--quick", help="Take half a minute only: 40 images per class.")
]


def embedding(
    dataset: Rows = ["fashion-mnist"],  # noqa: B006
    seed: Seed = 0,
    quick: Quick = False,
    data_dir: DataDir = None,
    out: Out = Path("results"),
    jobs: Jobs = 2,
    as_json: AsJson = False,
) -> None:
    """Plot t-SNE projections of pixels and of vectors.

    The vectors come from networks that know three of ten classes. It takes a
    few minutes on one core. Points that are in runs/ already are only drawn.

    Example: csim bench embedding --dataset mnist --dataset fashion-mnist
    """
    rows = table.projections(dataset, seed=seed, is_quick=quick)
    with show_count() as on_done:
        sheet = table.make(rows, out, data_dir=data_dir, jobs=jobs, on_done=on_done)
    show_sheet(sheet, out, as_json)
