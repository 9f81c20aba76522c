"""`csim status`: a stream folder at a glance."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from csim.folder.status import Status


def status(
    folder: Annotated[Path, typer.Argument(help="The stream folder.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print it as one JSON object.")] = False,
) -> None:
    """Show how a stream is doing; it may be running meanwhile.

    Example: csim status birds
    """
    from csim.folder.reader import Reader  # noqa: PLC0415  # slow to load: `csim --help` need not wait
    from csim.folder.status import read_status  # noqa: PLC0415

    with Reader(folder) as reader:
        found = read_status(reader)
    if as_json:
        typer.echo(json.dumps(dataclasses.asdict(found), ensure_ascii=False))
        return
    console = Console(highlight=False, markup=False)
    console.print(_facts(found))
    console.print(_classes(found))
    for refusal in found.refusals[-3:]:
        console.print(f"refused: {refusal}", soft_wrap=True)
    if found.questions.get("open"):
        console.print(f"Go on: csim label {folder}", soft_wrap=True)


def _facts(found: Status) -> Table:
    table = Table(box=box.SIMPLE, show_header=False)
    table.add_column(style="bold")
    table.add_column()
    questions = (
        ", ".join(f"{count:,} {status}" for status, count in found.questions.items()) or "none yet"
    )
    share = 100 * found.told / found.position if found.position else 0
    troubles = ", ".join(f"{count:,} {kind}" for kind, count in found.troubles.items()) or "none"
    training = f", {found.training} is being trained" if found.training else ""
    for row in (
        ("images", f"{found.position:,}, {found.waiting:,} without a class"),
        ("engine", "not running" if found.engine is None else f"running, process {found.engine}"),
        ("questions", questions),
        (
            "labels spent",
            f"{found.told:,}, {share:.1f} % of the images; the budget is {100 * found.budget:g} %",
        ),
        ("model", f"{found.model}{training}"),
        ("messages", f"{found.messages:,} wait, {len(found.refusals):,} were refused"),
        ("unreadable files", troubles),
        (
            "on disk",
            f"{found.bytes / 1e6:,.1f} MB, {found.picture_bytes / 1e6:,.1f} MB of it pictures",
        ),
    ):
        table.add_row(*row)
    return table


def _classes(found: Status) -> Table:
    table = Table("id", "class", "images", "told", "", box=box.SIMPLE)
    for own in found.classes:
        table.add_row(
            str(own.id),
            own.name,
            f"{own.images:,}",
            f"{own.told:,}",
            "" if own.is_learned else "not yet learned",
        )
    return table
