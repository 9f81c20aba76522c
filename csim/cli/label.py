"""`csim label`: answer questions in the terminal, or from a file."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from csim.cli.terminal_picture import draw_side_by_side
from csim.export.answers import read_answers
from csim.folder.database import open_for_messages
from csim.folder.inbox import post
from csim.folder.reader import QuestionRow, Reader
from csim.folder.send import send
from csim.records import Named, Skip, Split, Undo

_MEMBERS_SHOWN = 5  # further images of the group
_MEMBER_WIDTH = 12  # characters across for each of them
_GUESSES_SHOWN = 9  # so that one digit chooses one
_KEYS = "Type a name or the number of a guess (k: skip, s: split, u: undo, q: quit)."


def label(
    folder: Annotated[Path, typer.Argument(help="The stream folder.")],
    answers: Annotated[
        Path | None,
        typer.Option(
            "--from",
            help="Read answers from a file: .jsonl or .csv with the columns question and name, "
            "or .json from Label Studio.",
        ),
    ] = None,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json", help="List the open questions, or with --from the outcome, as JSON."
        ),
    ] = False,
) -> None:
    """Answer the open questions of a stream.

    Each question shows one image of a group; your answer labels the group. csim
    saves an answer before it shows the next question. The stream need not be
    running. You can give the same file again: csim takes each answer only once.

    Example: csim label birds

    Example: csim label birds --from answers.csv
    """
    if answers is not None:
        _send_file(folder, answers, as_json)
        return
    with Reader(folder) as reader:
        if as_json:
            questions = [_as_dict(reader, question) for question in _unanswered(reader)]
            typer.echo(json.dumps(questions, ensure_ascii=False))
            return
        LabelSession(folder, reader).run()


def _send_file(folder: Path, file: Path, as_json: bool) -> None:
    messages = read_answers(file)
    digest = hashlib.sha256(file.read_bytes()).hexdigest()[:16]
    outcomes = send(folder, messages, keys=[f"{digest} {index}" for index in range(len(messages))])
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
        saved = len(outcomes) - len(refused)
        wait = f"; the running engine will take {waiting} of them" if waiting else ""
        typer.echo(f"{saved} answer{'s' * (saved != 1)} saved{wait}")
        for refusal in refused:
            typer.echo(f"refused: {refusal}", err=True)
    if refused:
        raise typer.Exit(2)


class LabelSession:
    """Show questions to a person at the terminal and save the answers.

    Parameters
    ----------
    folder
        The stream folder.
    reader
        A reader of that folder.
    """

    def __init__(self, folder: Path, reader: Reader) -> None:
        self._folder = folder
        self._reader = reader
        self._console = Console(highlight=False, markup=False)
        self._answered: list[int] = []  # question ids, in the order of the answers
        self._done: set[int] = set()
        self._undone: int | None = None  # the question to show again

    def run(self) -> None:
        """Show one question after another until none is left or the person quits."""
        try:
            while question := self._next():
                self._show(question)
                if not self._prompt(question):
                    break
            else:
                self._console.print(
                    "That was the last question." if self._answered else "No question is open."
                )
        finally:
            if self._done:
                with self._console.status("saving the answers"):
                    outcomes = send(self._folder, [])
                assert not outcomes
        if self._answered:
            count = len(self._answered)
            self._console.print(
                f"{count} answer{'s' * (count != 1)} saved. Next: csim run {self._folder} …",
                soft_wrap=True,
            )

    def _next(self) -> QuestionRow | None:
        if self._undone is not None:
            question = self._reader.question(self._undone)
            self._undone = None
            return question
        return next(
            (question for question in _unanswered(self._reader) if question.id not in self._done),
            None,
        )

    def _show(self, question: QuestionRow) -> None:
        left = sum(other.id not in self._done for other in _unanswered(self._reader))
        item = self._reader.item(question.representative)
        size = len(question.members)
        facts = f"   {left} open, image {item.place:,} ({item.id}), group of {size}"
        self._console.print(
            Text.assemble((f"\nQuestion {question.id}", "bold"), (facts, "dim")), soft_wrap=True
        )
        if file := self._reader.picture(question.representative):
            self._console.print(draw_side_by_side([file]))
        others = [member for member in question.members if member != question.representative]
        found = [self._reader.picture(member) for member in others[:_MEMBERS_SHOWN]]
        if pictures := [file for file in found if file]:
            self._console.print(draw_side_by_side(pictures, width=_MEMBER_WIDTH))
        for number, (name, score) in enumerate(question.guesses[:_GUESSES_SHOWN], start=1):
            self._console.print(
                Text.assemble((f"  {number} ", "bold"), name, (f"  {score:.2f}", "dim"))
            )

    def _prompt(self, question: QuestionRow) -> bool:
        """Read one answer; return whether the person continues."""
        while True:
            try:
                text = input(f"{_KEYS}\nWhat is this? ").strip()
            except EOFError:
                return False
            if text == "q":
                return False
            if text == "u":
                if self._answered:
                    self._undo()
                    return True
                self._console.print("You have not answered a question yet.")
            elif text:
                self._answer(question, text)
                return True

    def _answer(self, question: QuestionRow, text: str) -> None:
        self._done.add(question.id)
        if text == "k":
            self._post(Skip(question.id))
        elif text == "s":
            self._split(question)
        else:
            names = [name for name, _ in question.guesses[:_GUESSES_SHOWN]]
            is_number = text.isdecimal() and 1 <= int(text) <= len(names)
            self._post(Named(question.id, names[int(text) - 1] if is_number else text))
            self._answered.append(question.id)

    def _split(self, question: QuestionRow) -> None:
        if len(question.members) < 2:
            self._console.print("This group has one image only, so csim cannot split it.")
            self._done.discard(question.id)
            return
        with self._console.status("splitting"):
            (outcome,) = send(self._folder, [Split(question.id)])
        if outcome.refusal:
            self._console.print(outcome.refusal, soft_wrap=True)

    def _undo(self) -> None:
        self._undone = self._answered.pop()
        self._post(Undo(self._undone))
        self._console.print(f"The answer to question {self._undone} is taken back.")

    def _post(self, message: Named | Skip | Undo) -> None:
        connection = open_for_messages(self._reader.layout.database)
        try:
            post(connection, [message])
        finally:
            connection.close()


def _unanswered(reader: Reader) -> list[QuestionRow]:
    """Return the open questions and those whose answer was taken back."""
    return reader.questions("open") + reader.questions("undone")


def _as_dict(reader: Reader, question: QuestionRow) -> dict[str, object]:
    return {
        "question": question.id,
        "position": question.position,
        "representative": reader.item(question.representative).id,
        "members": [reader.item(member).id for member in question.members],
        "guesses": [{"name": name, "score": round(score, 4)} for name, score in question.guesses],
    }
