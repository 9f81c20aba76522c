"""Writing a table to the folder of results and printing it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import typer

from csim.bench.layout.rows import Done
from csim.bench.layout.sheet import Sheet
from csim.bench.layout.table import Table
from csim.bench.study import prepare
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
    show_table(table, as_json)


def show_table(table: Table, as_json: bool) -> None:
    """Print a table."""
    typer.echo(table.markdown())
    if as_json:
        typer.echo(table.json())
