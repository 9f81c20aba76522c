"""`csim restore`: a stream folder from its backup."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from csim.folder.copy import restore_folder


def restore(
    backup: Annotated[Path, typer.Argument(help="What `csim backup` made. It stays as it is.")],
    folder: Annotated[
        Path, typer.Argument(help="Path of the stream folder. It may be missing or damaged.")
    ],
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the outcome as one JSON object.")
    ] = False,
) -> None:
    """Restore a stream folder from a backup.

    csim refuses a folder that is running. It deletes nothing: the folder that
    was there gets another name, which csim prints.

    Example: csim restore /mnt/backup/birds-2026-11-16 birds
    """
    with Console(stderr=True).status("copying") as shown:
        replaced = restore_folder(
            backup, folder, lambda share: shown.update(f"copying, {share:.0%}")
        )
    if as_json:
        old = None if replaced is None else str(replaced)
        typer.echo(json.dumps({"folder": str(folder), "replaced": old}))
        return
    typer.echo(f"{folder} is as {backup} was; continue it with `csim run {folder} …`")
    if replaced is not None:
        typer.echo(f"The old folder is {replaced}; delete it when you no longer need it.")
