"""Options that several commands of `csim bench` share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from csim.cli.option_parsers import number_parser

DataDir = Annotated[
    Path | None,
    typer.Option("--data-dir", show_default="CSIM_DATA", help="Folder of the data sets."),
]
Out = Annotated[Path, typer.Option("--out", help="Folder to write to.")]


def seed_option(default: str | bool = True) -> Any:  # noqa: ANN401
    """Return the option `--seed`, which the user may repeat; its help shows `default`."""
    return typer.Option(
        "--seed",
        parser=number_parser("--seed", int, least=0),
        show_default=default,
        help="Seed of a run. Repeat the option for more runs.",
    )


Seeds = Annotated[list[int], seed_option()]
TableSeeds = Annotated[list[int] | None, seed_option("0, 1 and 2")]
Datasets = Annotated[
    list[str] | None,
    typer.Option(
        "--dataset",
        show_default="those of the table",
        help="Data set. Repeat the option for more.",
    ),
]
Methods = Annotated[
    list[str] | None,
    typer.Option(
        "--method", show_default="those of the table", help="Method. Repeat the option for more."
    ),
]
KnownShare = Annotated[
    float,
    typer.Option(
        "--r", parser=number_parser("--r", float), help="Share of the classes known at the start."
    ),
]
Jobs = Annotated[
    int,
    typer.Option(
        "--jobs",
        parser=number_parser("--jobs", int, least=1),
        help="Processes at the same time. The figures do not depend on it.",
    ),
]
AsJson = Annotated[
    bool, typer.Option("--json", help="Print the figures as one JSON object on the last line.")
]
