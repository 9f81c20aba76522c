"""`csim bench scaling`: workers, a node that dies, and the coordinator alone."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated

import typer

from csim.cli.bench.options import AsJson, Out
from csim.cli.bench.output import make_and_show
from csim.errors import InputError

Seed = Annotated[int, typer.Option("--seed", min=0, help="Seed of the images.")]
Photographs = Annotated[
    int,
    typer.Option(
        "--photographs", min=1024, help="Photographs for the workers. More steadies the figures."
    ),
]
Images = Annotated[
    int,
    typer.Option("--images", min=4096, help="Images for the coordinator. More steadies the pace."),
]


def scaling(
    out: Out = Path("results"),
    seed: Seed = 0,
    photographs: Photographs = 2048,
    images: Images = 60_000,
    as_json: AsJson = False,
) -> None:
    """Measure workers, the replacement of a node, and the coordinator alone.

    It needs the extras cluster and photos, two processors, and root for a network
    namespace. It takes about 5 minutes. Run nothing else meanwhile.

    Example: csim bench scaling --images 20000
    """
    try:
        from csim.bench.tables import scaling as table  # noqa: PLC0415
    except ImportError as error:
        raise InputError(
            "csim bench scaling needs Ray, which is not installed; run: "
            "pip install 'csim-stream[cluster,photos]'"
        ) from error
    with tempfile.TemporaryDirectory(prefix="csim-scaling-") as work:
        make_and_show(
            lambda on_done: table.make(
                Path(work), photographs=photographs, images=images, seed=seed, on_done=on_done
            ),
            out,
            as_json,
        )
