"""Answers from a file: send them, and say what became of each, from the state of today."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from csim.export.answers import read_answers
from csim.folder.history import QuestionState
from csim.folder.reader import Reader
from csim.folder.send import send
from csim.messages import Answer, Correct, Junk, Named, Skip, Split
from csim.records import (
    QuestionId,
)

_MOST_SENTENCES = 20  # of each kind; a file may have a hundred thousand wrong lines


@dataclass
class FileOutcome:
    """Count what became of the answers of a file; `changed` and `refusals` are sentences."""

    taken: int = 0
    before: int = 0  # answers that hold already, from this file or another source
    waiting: int = 0
    changed: list[str] = field(default_factory=list)  # taken before, but no longer true
    refusals: list[str] = field(default_factory=list)


def send_file(folder: Path, file: Path, as_json: bool) -> None:
    """Send the answers of a file to a stream and print what became of them.

    csim takes an answer of the same file once. It tries an answer again that was refused before.

    Parameters
    ----------
    folder
        The stream folder.
    file
        The answers, as `read_answers` reads them.
    as_json
        Print the outcome as JSON.
    """
    answers = read_answers(file)
    digest = hashlib.sha256(file.read_bytes()).hexdigest()[:16]
    with Reader(folder) as reader:
        today = reader.history.question_states()
    keys = [f"{digest} {index}" for index in range(len(answers))]
    new = _without_those_that_hold(answers, today)
    with _show_progress(len(new)) as on_progress:
        outcomes = send(
            folder,
            [answers[index] for index in new],
            keys=[keys[index] for index in new],
            on_progress=on_progress,
        )
    found = FileOutcome(before=len(answers) - len(new))
    with Reader(folder) as reader:
        today = reader.history.question_states()
    last = {answer.question_id: index for index, answer in enumerate(answers)}
    for index, outcome in zip(new, outcomes, strict=True):
        answer = answers[index]
        if outcome.refusal is not None:
            found.refusals.append(outcome.refusal)
        elif not outcome.is_taken:
            found.waiting += 1
        elif not outcome.is_old:
            found.taken += 1
        elif last[answer.question_id] == index and (change := _change(answer, today)):
            found.changed.append(change)
        else:
            found.before += 1
    _print(found, len(answers), as_json)
    if found.refusals:
        raise typer.Exit(2)


def _without_those_that_hold(
    answers: Sequence[Answer], today: Mapping[QuestionId, QuestionState]
) -> list[int]:
    """Return the indices of all answers but those that are true already.

    If a file says several things about a question, they all count, in their order.
    """
    mentions = Counter(answer.question_id for answer in answers)
    return [
        index
        for index, answer in enumerate(answers)
        if mentions[answer.question_id] > 1 or not _holds(answer, today.get(answer.question_id))
    ]


def _holds(answer: Answer, state: QuestionState | None) -> bool:
    if state is None:
        return False
    match answer:
        case Named(_, name) | Correct(_, name):
            found = (state.status, state.name, state.is_junk)
            return found == ("answered", name, name is None)
        case Junk():
            return state.is_junk
        case Skip():
            return state.status == "skipped"
        case Split():
            return state.status == "split"
        case _:
            return state.status == "undone"


def _change(answer: Answer, today: Mapping[QuestionId, QuestionState]) -> str | None:
    """Return what became of an answer that was taken before; None if nothing did."""
    state = today.get(answer.question_id)
    if state is None or _holds(answer, state):
        return None
    name = "junk" if state.is_junk else state.name
    now = state.status if name is None else f"{state.status} with {name}"
    return (
        f"question {answer.question_id} is {now} by now; the file's answer was taken before and is "
        "not taken again, so give it with `csim label`"
    )


def _print(found: FileOutcome, count: int, as_json: bool) -> None:
    if as_json:
        values = {
            "answers": count,
            "taken": found.taken,
            "before": found.before,
            "changed": found.changed,
            "refused": len(found.refusals),
            "waiting": found.waiting,
            "refusals": found.refusals,
        }
        typer.echo(json.dumps(values, ensure_ascii=False))
        return
    wait = f", {found.waiting} wait for the running engine" if found.waiting else ""
    old = found.before + len(found.changed)
    typer.echo(
        f"{found.taken} answer{'s' * (found.taken != 1)} taken, {old} taken before{wait}, "
        f"{len(found.refusals)} refused"
    )
    _print_some("changed", found.changed)
    _print_some("refused", found.refusals)


def _print_some(what: str, sentences: Sequence[str]) -> None:
    for sentence in sentences[:_MOST_SENTENCES]:
        typer.echo(f"{what}: {sentence}", err=True)
    if len(sentences) > _MOST_SENTENCES:
        more = len(sentences) - _MOST_SENTENCES
        typer.echo(f"{what}: {more:,} more; --json lists all", err=True)


@contextmanager
def _show_progress(total: int) -> Iterator[Callable[[int], None]]:
    """Give a function that shows how many answers are taken, on a terminal only."""
    console = Console(stderr=True, highlight=False)
    with Progress(
        TextColumn("answers"),
        BarColumn(),
        MofNCompleteColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    ) as bar:
        task = bar.add_task("", total=total)
        yield lambda taken: bar.update(task, completed=taken)
