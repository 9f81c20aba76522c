"""`csim bench page`: the labelling page in a browser."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated

import typer

from csim.cli.bench.options import AsJson, Out
from csim.cli.bench.output import make_and_show
from csim.errors import InputError

Seed = Annotated[int, typer.Option("--seed", min=0, help="Seed of the images.")]
Questions = Annotated[
    int, typer.Option("--questions", min=10, help="Open questions. More take longer to make.")
]
Answers = Annotated[
    int, typer.Option("--answers", min=2, help="Answers of each kind. More steady the figures.")
]
Images = Annotated[int, typer.Option("--images", min=512, help="Images of the overview's folder.")]


def page(
    out: Out = Path("results"),
    seed: Seed = 0,
    questions: Questions = 1000,
    answers: Answers = 100,
    images: Images = 1_000_000,
    as_json: AsJson = False,
) -> None:
    """Measure how fast the labelling page is, in chromium.

    The table says how long the next question takes after a key, how many
    questions an expert answers in a minute, and how long the overview takes.
    It takes about 10 minutes on two cores. Run nothing else meanwhile.

    Example: csim bench page --questions 100 --images 100000
    """
    try:
        from csim.bench.tables import page as table  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise InputError(
            f"`csim bench page` needs {error.name}, which is missing; "
            "install it with: pip install 'csim-stream[web,dev]'"
        ) from error
    with tempfile.TemporaryDirectory(prefix="csim-page-") as work:
        make_and_show(
            lambda on_done: table.make(
                Path(work),
                questions=questions,
                answers=answers,
                images=images,
                seed=seed,
                on_done=on_done,
            ),
            out,
            as_json,
        )
