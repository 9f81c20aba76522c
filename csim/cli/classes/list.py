"""`csim classes list`: all classes of a stream folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.table import Table

from csim.cli.pipe_console import PipeConsole
from csim.folder.reader import Reader


def list_classes(
    folder: Annotated[Path, typer.Argument(help="The stream folder.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print them as JSON.")] = False,
) -> None:
    """List all classes.

    Example: csim classes list birds
    """
    with Reader(folder) as reader:
        rows = reader.classes()
    if as_json:
        values = [
            {
                "id": row.id,
                "name": row.name,
                "images": row.images,
                "told": row.told,
                "learned": row.is_learned,
            }
            for row in rows
        ]
        typer.echo(json.dumps(values, ensure_ascii=False))
        return
    table = Table("id", "class", "images", "told", "learned", box=box.SIMPLE)
    for row in rows:
        learned = "yes" if row.is_learned else "not yet"
        table.add_row(str(row.id), row.name, f"{row.images:,}", f"{row.told:,}", learned)
    PipeConsole(highlight=False, markup=False).print(table)
