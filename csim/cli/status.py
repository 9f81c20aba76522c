"""`csim status`: the state of a stream folder."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from csim.folder.reader import Reader
from csim.folder.status import Status, read_status

_REFUSALS_SHOWN = 3


def status(
    folder: Annotated[Path, typer.Argument(help="The stream folder.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print it as one JSON object.")] = False,
) -> None:
    """Show the state of a stream, even while it runs.

    Example: csim status birds
    """
    with Reader(folder) as reader:
        found = read_status(reader)
    if as_json:
        typer.echo(json.dumps(dataclasses.asdict(found), ensure_ascii=False))
        return
    console = Console(highlight=False, markup=False)
    console.print(_facts(found))
    console.print(_classes(found))
    for refusal in found.refusals[-_REFUSALS_SHOWN:]:
        console.print(f"refused: {refusal}", soft_wrap=True)
    if found.questions.get("open"):
        console.print(f"Next: csim label {folder}", soft_wrap=True)


def _facts(found: Status) -> Table:
    table = Table(box=box.SIMPLE, show_header=False)
    table.add_column(style="bold")
    table.add_column()
    questions = ", ".join(f"{count:,} {kind}" for kind, count in found.questions.items())
    troubles = ", ".join(f"{count:,} {kind}" for kind, count in found.troubles.items())
    share = 100 * found.told / found.position if found.position else 0
    budget = f"{found.told:,}, {share:.1f} % of the images; the budget is {100 * found.budget:g} %"
    training = f", {found.training} is being trained" if found.training else ""
    size = f"{found.bytes / 1e6:,.1f} MB, {found.picture_bytes / 1e6:,.1f} MB of it pictures"
    for row in (
        ("images", f"{found.position:,}, {found.waiting:,} without a class"),
        ("engine", "not running" if found.engine is None else f"running, process {found.engine}"),
        ("questions", questions or "none yet"),
        ("labels spent", budget),
        ("model", f"{found.model}{training}"),
        ("messages", f"{found.messages:,} waiting, {len(found.refusals):,} refused"),
        ("unreadable files", troubles or "none"),
        ("on disk", size),
    ):
        table.add_row(*row)
    return table


def _classes(found: Status) -> Table:
    table = Table("id", "class", "images", "told", "", box=box.SIMPLE)
    for row in found.classes:
        learned = "" if row.is_learned else "not yet learned"
        table.add_row(str(row.id), row.name, f"{row.images:,}", f"{row.told:,}", learned)
    return table
