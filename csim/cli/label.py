"""`csim label`: answer questions in the terminal, or from a file."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.text import Text

from csim.cli.blocks import side_by_side
from csim.records import Named, Skip, Split, Undo

if TYPE_CHECKING:
    from csim.folder.reader import QuestionRow, Reader

_FACES = 5  # further images of a group that are shown
_HELP = "a name, or the number of a guess; k skips, s splits, u takes the last answer back, q ends"


def label(
    folder: Annotated[Path, typer.Argument(help="The stream folder.")],
    answers: Annotated[
        Path | None,
        typer.Option(
            "--from",
            help="Answers from a file: .jsonl or .csv with question and name, or Label Studio .json.",
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="List the open questions as JSON, or the outcome.")
    ] = False,
) -> None:
    """Answer what the stream asks.

    Each question shows an image that stands for a group. An answer is safe once
    the next question appears, whether the stream is running or not. A file may
    be given again: an answer that was taken from it before is not taken twice.

    Example: csim label birds

    Example: csim label birds --from answers.csv
    """
    from csim.folder.reader import Reader  # noqa: PLC0415  # slow to load: `csim --help` need not wait

    if answers is not None:
        _take(folder, answers, as_json)
        return
    with Reader(folder) as reader:
        if as_json:
            typer.echo(
                json.dumps(
                    [_plain(reader, question) for question in _unanswered(reader)],
                    ensure_ascii=False,
                )
            )
            return
        Session(folder, reader).hold()


def _take(folder: Path, file: Path, as_json: bool) -> None:
    from csim.export.answers import read_answers  # noqa: PLC0415
    from csim.folder.send import send  # noqa: PLC0415

    messages = read_answers(file)
    digest = hashlib.sha256(file.read_bytes()).hexdigest()[:16]
    outcomes = send(folder, messages, keys=[f"{digest} {place}" for place in range(len(messages))])
    refused = [outcome.refusal for outcome in outcomes if outcome.refusal is not None]
    waiting = sum(not outcome.is_taken for outcome in outcomes)
    if as_json:
        values = {
            "answers": len(outcomes),
            "refused": len(refused),
            "waiting": waiting,
            "refusals": refused,
        }
        typer.echo(json.dumps(values, ensure_ascii=False))
    else:
        typer.echo(
            f"{len(outcomes) - len(refused)} answers are safe, {waiting} of them wait for the running engine"
        )
        for words in refused:
            typer.echo(f"refused: {words}", err=True)
    if refused:
        raise typer.Exit(2)


class Session:
    """A person in front of the terminal.

    Parameters
    ----------
    folder
        The stream folder.
    reader
        Of that folder.
    """

    def __init__(self, folder: Path, reader: Reader) -> None:
        self._folder = folder
        self._reader = reader
        self._console = Console(highlight=False, markup=False)
        self._answered: list[int] = []
        self._done: set[int] = set()
        self._again: int | None = None  # whose answer was just taken back

    def hold(self) -> None:
        """Show one question after another until none is left or the person has had enough."""
        from csim.folder.send import send  # noqa: PLC0415

        try:
            while question := self._next():
                self._show(question)
                if not self._hear(question):
                    break
            else:
                self._console.print(
                    "No question is open." if not self._answered else "That was the last question."
                )
        finally:
            if self._done:
                with self._console.status("taking the answers"):
                    outcomes = send(self._folder, [])
                assert not outcomes
        if self._answered:
            self._console.print(
                f"{len(self._answered)} answers given. Go on: csim run {self._folder} …",
                soft_wrap=True,
            )

    def _next(self) -> QuestionRow | None:
        if self._again is not None:
            again, self._again = self._again, None
            return self._reader.question(again)
        return next(
            (question for question in _unanswered(self._reader) if question.id not in self._done),
            None,
        )

    def _show(self, question: QuestionRow) -> None:
        left = sum(other.id not in self._done for other in _unanswered(self._reader))
        item = self._reader.item(question.representative)
        self._console.print(
            Text.assemble(
                (f"\nQuestion {question.id}", "bold"),
                (
                    f"   {left} open, image {item.place:,} ({item.id}), stands for {len(question.members)}",
                    "dim",
                ),
            ),
            soft_wrap=True,
        )
        if file := self._reader.picture(question.representative):
            self._console.print(side_by_side([file]))
        others = [place for place in question.members if place != question.representative][:_FACES]
        if faces := [file for place in others if (file := self._reader.picture(place))]:
            self._console.print(side_by_side(faces, across=12))
        for number, (name, score) in enumerate(question.guesses[:9], start=1):
            self._console.print(
                Text.assemble((f"  {number} ", "bold"), name, (f"  {score:.2f}", "dim"))
            )

    def _hear(self, question: QuestionRow) -> bool:
        """Take one answer; tell whether the person goes on."""
        while True:
            try:
                words = input(f"{_HELP}\nWhat is this? ").strip()
            except EOFError:
                return False
            if words == "q":
                return False
            if words == "u":
                if self._answered:
                    self._take_back()
                    return True
                self._console.print("Nothing has been answered here yet.")
            elif words:
                self._answer(question, words)
                return True

    def _answer(self, question: QuestionRow, words: str) -> None:
        self._done.add(question.id)
        if words == "k":
            self._post(Skip(question.id))
        elif words == "s":
            self._split(question)
        else:
            names = [name for name, _ in question.guesses[:9]]
            is_number = words.isdecimal() and 1 <= int(words) <= len(names)
            self._post(Named(question.id, names[int(words) - 1] if is_number else words))
            self._answered.append(question.id)

    def _split(self, question: QuestionRow) -> None:
        from csim.folder.send import send  # noqa: PLC0415

        if len(question.members) < 2:
            self._console.print("It stands for itself alone and cannot be split.")
            self._done.discard(question.id)
            return
        with self._console.status("splitting"):
            (outcome,) = send(self._folder, [Split(question.id)])
        if outcome.refusal:
            self._console.print(outcome.refusal, soft_wrap=True)

    def _take_back(self) -> None:
        self._again = self._answered.pop()
        self._post(Undo(self._again))
        self._console.print(f"The answer to question {self._again} is taken back.")

    def _post(self, message: Named | Skip | Undo) -> None:
        from csim.folder.database import open_for_messages  # noqa: PLC0415
        from csim.folder.inbox import post  # noqa: PLC0415

        connection = open_for_messages(self._reader.layout.database)
        try:
            post(connection, [message])
        finally:
            connection.close()


def _unanswered(reader: Reader) -> list[QuestionRow]:
    """Return what waits for an answer: open questions, and those whose answer was taken back."""
    return reader.questions("open") + reader.questions("undone")


def _plain(reader: Reader, question: QuestionRow) -> dict[str, object]:
    return {
        "question": question.id,
        "position": question.position,
        "representative": reader.item(question.representative).id,
        "members": [reader.item(place).id for place in question.members],
        "guesses": [{"name": name, "score": round(score, 4)} for name, score in question.guesses],
    }
