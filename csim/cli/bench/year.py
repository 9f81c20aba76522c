"""`csim bench year`: a year of a stream folder in minutes."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated

import typer

from csim.bench.tables import year as table
from csim.cli.bench.options import AsJson, Out
from csim.cli.bench.output import make_and_show

Images = Annotated[
    int, typer.Option("--images", min=200_000, help="Images of the year, one each second.")
]
Answers = Annotated[int, typer.Option("--answers", min=0, help="Questions that are answered.")]
History = Annotated[str, typer.Option("--history", help="As for `csim init --history`.")]


def year(
    out: Out = Path("results"),
    images: Images = 31_000_000,
    answers: Answers = 50_000,
    history: History = "30d",
    as_json: AsJson = False,
) -> None:
    """Simulate a year of images and measure how large and slow the folder gets.

    It takes about 10 minutes and 3 GB of disk space.

    Example: csim bench year --images 1000000 --history 2d
    """
    with tempfile.TemporaryDirectory(prefix="csim-year-") as work:
        make_and_show(
            lambda _: table.make(Path(work), images=images, answers=answers, history=history),
            out,
            as_json,
        )
