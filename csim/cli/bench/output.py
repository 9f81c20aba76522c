"""Writing a table to the folder of results and printing it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import typer

from csim.bench.study import prepare
from csim.bench.tables.cases import Done
from csim.bench.tables.sheet import Sheet
from csim.bench.tables.table import Table
from csim.cli.bench.progress import show_count


def show_sheet(sheet: Sheet, out: Path, as_json: bool) -> None:
    """Write a table and its picture, then print the table and the paths."""
    paths = sheet.write(out)
    typer.echo(sheet.table.markdown())
    typer.echo(f"written to {', '.join(map(str, paths))}")
    if as_json:
        typer.echo(sheet.table.json())


def make_and_show(make: Callable[[Done], Table], out: Path, as_json: bool) -> None:
    """Make a table while a bar shows the progress, then write and print it."""
    prepare(out)
    with show_count() as on_done:
        table = make(on_done)
    table.write(out)
    typer.echo(table.markdown())
    if as_json:
        typer.echo(table.json())
