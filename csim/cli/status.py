"""`csim status`: the state of a stream folder, or of the one that a service serves."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich import box
from rich.table import Table

from csim.cli.pipe_console import PipeConsole
from csim.cli.service_options import (
    FolderOrNone,
    TokenFile,
    Url,
    connect,
    folder_of,
    refuse_folder,
)
from csim.folder.reader import Reader
from csim.folder.status import Status, read_status, status_from
from csim.utc import duration

_REFUSALS_SHOWN = 3


def status(
    folder: FolderOrNone = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print it as one JSON object.")] = False,
    url: Url = None,
    token_file: TokenFile = None,
) -> None:
    """Show the state of a stream, even while it runs.

    Example: csim status birds

    Example: csim status --url http://127.0.0.1:8000
    """
    values = _read(folder_of(folder)) if url is None else _ask(url, token_file, folder)
    if as_json:
        typer.echo(json.dumps(values, ensure_ascii=False))
        return
    found = status_from(values)
    console = PipeConsole(highlight=False, markup=False)
    console.print(_facts(found))
    console.print(_classes(found))
    for refusal in found.refusals[-_REFUSALS_SHOWN:]:
        console.print(f"refused: {refusal}", soft_wrap=True)
    if opened := found.questions.get("open"):
        audit = f", {found.open_audit:,} of them for the audit" if found.open_audit else ""
        console.print(f"{_count(opened, 'question')} left to answer{audit}", soft_wrap=True)
        where = folder if url is None else f"--url {url}"
        console.print(f"Next: csim label {where}", soft_wrap=True)


def _read(folder: Path) -> dict[str, Any]:
    with Reader(folder) as reader:
        return dataclasses.asdict(read_status(reader))


def _ask(url: str, token_file: Path | None, folder: Path | None) -> dict[str, Any]:
    refuse_folder(folder)
    with connect(url, token_file) as client:
        return client.status()


def _facts(found: Status) -> Table:
    table = Table(box=box.SIMPLE, show_header=False)
    table.add_column(style="bold")
    table.add_column()
    questions = ", ".join(f"{count:,} {kind}" for kind, count in found.questions.items())
    troubles = ", ".join(f"{count:,} {kind}" for kind, count in found.troubles.items())
    share = 100 * found.told / found.position if found.position else 0
    budget = f"{found.told:,}, {share:.1f} % of the images; the budget is {100 * found.budget:g} %"
    training = f"; {found.training} is being trained" if found.training else ""
    if found.due:
        training = f"; {found.due} is due: the next `csim run` trains it"
    junk = f", {found.junk:,} junk" if found.junk else ""
    size = f"{found.bytes / 1e6:,.1f} MB, {found.picture_bytes / 1e6:,.1f} MB of it pictures"
    for row in (
        ("images", f"{found.position:,}, {found.waiting:,} without a class{junk}"),
        *_times(found),
        ("engine", "not running" if found.engine is None else f"running, process {found.engine}"),
        *_workers(found),
        *_accuracy(found),
        ("questions", questions or "none yet"),
        ("labels spent", budget),
        ("model", f"{found.model}, {_count(found.trained, 'model')} trained so far{training}"),
        ("labels revised", f"{found.revised:,}"),
        ("messages", f"{found.messages:,} waiting, {len(found.refusals):,} refused"),
        ("files not taken", troubles or "none"),
        ("on disk", size),
    ):
        table.add_row(*row)
    return table


def _workers(found: Status) -> list[tuple[str, str]]:
    """Return how many workers the run has, their versions, and what waits for them."""
    if found.workers is None:
        return []
    versions = ", ".join(
        f"{count:,} with csim {csim} and " + ("no model yet" if model is None else f"model {model}")
        for (csim, model), count in found.workers.versions.items()
    )
    retries = "1 retry" if found.workers.retries == 1 else f"{found.workers.retries:,} retries"
    waiting = f"{_count(found.workers.lag, 'image')} waiting, {retries}"
    if found.workers.workers is None:
        return [("queue", waiting)]
    return [("workers", f"{versions or 'none'}; {waiting}")]


def _times(found: Status) -> list[tuple[str, str]]:
    """Return when images came and how long answers took, as far as it is known."""
    rows = []
    if found.last_image is not None:
        rate = found.images_per_second
        before = "" if rate is None else f"; {rate:,.3g} images/s before it"
        rows.append(("last image", f"{found.last_image}{before}"))
    if found.seconds_to_answer is not None:
        rows.append(("answered in", duration(found.seconds_to_answer)))
    return rows


def _accuracy(found: Status) -> list[tuple[str, str]]:
    """Return what the audit says; without answers, what it needs."""
    if found.audit is None:
        more = f"answer the {_count(found.open_audit, 'question')} of the audit"
        return [("accuracy", f"not known yet; {more}" if found.open_audit else "not known yet")]
    answers = _count(found.audit.answers, "answer")
    rows = (("accuracy today", found.audit.today), ("at arrival", found.audit.at_arrival))
    return [
        (
            name,
            f"about {estimate.share:.0f} %, between {estimate.low:.0f} and {estimate.high:.0f} % "
            f"({answers} to the audit)",
        )
        for name, estimate in rows
    ]


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def _classes(found: Status) -> Table:
    table = Table("id", "class", "images", "told", "", box=box.SIMPLE)
    for row in found.classes:
        learned = "" if row.is_learned else "not yet learned"
        table.add_row(str(row.id), row.name, f"{row.images:,}", f"{row.told:,}", learned)
    return table
