"""`csim backup`: a copy of a stream folder as it was at one moment, even while it runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from csim.folder.copy import copy_folder


def backup(
    folder: Annotated[Path, typer.Argument(help="The stream folder.")],
    copy: Annotated[Path, typer.Argument(help="Path of the copy. It must not exist yet.")],
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the outcome as one JSON object.")
    ] = False,
) -> None:
    """Copy a stream folder, even while it runs.

    The copy is a stream folder as it was at one moment. Every command can read
    it, and `csim run` can continue it. `csim restore` brings it back.

    Example: csim backup birds /mnt/backup/birds-2026-11-16
    """
    with Console(stderr=True).status("copying") as shown:
        size = copy_folder(folder, copy, lambda share: shown.update(f"copying, {share:.0%}"))
    if as_json:
        typer.echo(json.dumps({"copy": str(copy), "bytes": size}))
    else:
        typer.echo(f"{copy} holds {size / 1e6:,.1f} MB: {folder} as it was at one moment")
