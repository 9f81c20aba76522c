"""`csim backup`: a copy of a stream folder, whole, even while it runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console


def backup(
    folder: Annotated[Path, typer.Argument(help="The stream folder.")],
    copy: Annotated[Path, typer.Argument(help="Where the copy goes; there must be nothing yet.")],
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the outcome as one JSON object.")
    ] = False,
) -> None:
    """Copy a stream folder; it may be running meanwhile.

    The copy is a stream folder as it was at one moment: `csim run` goes on from
    it, every command reads it.

    Example: csim backup birds /mnt/backup/birds-2026-11-16
    """
    from csim.folder.copy import copy_folder  # noqa: PLC0415  # slow to load: `csim --help` need not wait

    with Console(stderr=True).status("copying"):
        size = copy_folder(folder, copy)
    if as_json:
        typer.echo(json.dumps({"copy": str(copy), "bytes": size}))
    else:
        typer.echo(f"{copy} holds {size / 1e6:,.1f} MB, as {folder} was at one moment")
