"""`csim label`: answer questions in the terminal or from a file, or label given images.

The terminal also answers questions of a service.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from csim.cli.answer_file import send_file
from csim.cli.desk import Desk, FolderDesk, Shown
from csim.cli.pipe_console import PipeConsole
from csim.cli.send_message import send_and_print
from csim.cli.service_options import (
    FolderOrNone,
    TokenFile,
    Url,
    connect,
    folder_of,
    refuse_folder,
)
from csim.cli.terminal_picture import draw_side_by_side
from csim.cli.typed_answer import HELP, TypedAnswer, understand
from csim.errors import InputError, QuestionError
from csim.folder.reader import Reader
from csim.messages import Junk, LabelImages, Named, Skip, Split, Undo

_MEMBERS_SHOWN = 5  # further images of the group
_MEMBER_WIDTH = 12  # characters across for each of them
_GUESSES_SHOWN = 9  # so that one digit chooses one


def label(
    folder: FolderOrNone = None,
    answers: Annotated[
        Path | None,
        typer.Option(
            "--from",
            help="Read answers from a file: .jsonl or .csv with the columns question and name, "
            "or .json from Label Studio.",
        ),
    ] = None,
    image: Annotated[
        list[str] | None,
        typer.Option(help="Say what this image is, by its id. Repeat the option for more images."),
    ] = None,
    name: Annotated[str | None, typer.Option(help="The class of the images.")] = None,
    junk: Annotated[
        bool, typer.Option("--junk", help="The images are junk: nothing of interest.")
    ] = False,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json", help="List the open questions, or with --from the outcome, as JSON."
        ),
    ] = False,
    url: Url = None,
    token_file: TokenFile = None,
) -> None:
    """Answer the open questions of a stream.

    Each question shows one image of a group; your answer labels the group. csim
    saves an answer before it shows the next question. The stream need not be
    running. You can give the same file again: csim says which answers it takes,
    which it took before and which it refuses, and tries refused ones again.

    With --image you label images that csim did not ask about. Each must be recent,
    stored or shown by a question, and counts as one label.

    Example: csim label birds

    Example: csim label birds --from answers.csv

    Example: csim label birds --image 2026/017.png --name heron

    Example: csim label --url http://127.0.0.1:8000
    """
    labels_images = bool(image or name is not None or junk)
    if url is not None:
        refuse_folder(folder)
        if labels_images or answers is not None:
            raise InputError("--from, --image, --name and --junk need a stream folder, not --url")
        _label_service(url, token_file, as_json)
        return
    folder = folder_of(folder)
    if labels_images:
        _label_images(folder, image or [], name, junk, as_json)
        return
    if answers is not None:
        send_file(folder, answers, as_json)
        return
    with Reader(folder) as reader:
        _label(FolderDesk(folder, reader), as_json, f" Next: csim run {folder} …")


def _label_service(url: str, token_file: Path | None, as_json: bool) -> None:
    with connect(url, token_file) as client:
        from csim.cli.service_desk import ServiceDesk  # noqa: PLC0415

        _label(ServiceDesk(client), as_json)


def _label(desk: Desk, as_json: bool, what_next: str = "") -> None:
    if as_json:
        questions = [_as_dict(question) for question in desk.unanswered()]
        typer.echo(json.dumps(questions, ensure_ascii=False))
    else:
        LabelSession(desk, what_next).run()


def _label_images(
    folder: Path, images: list[str], name: str | None, is_junk: bool, as_json: bool
) -> None:
    if not images or (name is None) != is_junk:
        raise InputError(
            "to label images, give --image and one of --name and --junk; as in "
            f"csim label {folder} --image 2026/017.png --name heron"
        )
    count = "1 image is" if len(images) == 1 else f"{len(images)} images are"
    text = f"{count} labelled as {'junk' if is_junk else name}"
    send_and_print(folder, LabelImages(tuple(images), name), text, as_json)


class LabelSession:
    """Show questions to a person at the terminal and save the answers.

    Parameters
    ----------
    desk
        Where questions come from and answers go.
    what_next
        What to tell the person at the end, after the number of answers.
    """

    def __init__(self, desk: Desk, what_next: str = "") -> None:
        self._desk = desk
        self._what_next = what_next
        self._console = PipeConsole(highlight=False, markup=False)
        self._said: list[int] = []  # ids of questions answered, skipped or split, in this order
        self._answered: set[int] = set()
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
                    "That was the last question." if self._said else "No question is open."
                )
        finally:
            with self._console.status("saving the answers"):
                refused = self._desk.close()
        lost = sum(isinstance(said, Named | Junk) for said, _ in refused)
        if count := len(self._answered) - lost:
            self._console.print(
                f"{count} answer{'s' * (count != 1)} saved.{self._what_next}", soft_wrap=True
            )
        for _, refusal in refused:
            typer.echo(f"refused: {refusal}", err=True)
        if refused:
            raise typer.Exit(2)

    def _next(self) -> Shown | None:
        if self._undone is None:
            return self._desk.next()
        question = self._desk.question(self._undone)
        self._undone = None
        return question

    def _show(self, question: Shown) -> None:
        place, item_id = question.representative
        size = len(question.members)
        facts = f"   {self._desk.left()} open, image {place:,} ({item_id}), group of {size}"
        self._console.print(
            Text.assemble((f"\nQuestion {question.id}", "bold"), (facts, "dim")), soft_wrap=True
        )
        if file := self._desk.picture(place):
            self._console.print(draw_side_by_side([file]))
        if pictures := self._small_pictures(question):
            self._console.print(draw_side_by_side([*pictures.values()], width=_MEMBER_WIDTH))
        for number, (name, score) in enumerate(question.guesses[:_GUESSES_SHOWN], start=1):
            self._console.print(
                Text.assemble((f"  {number} ", "bold"), name, (f"  {score:.2f}", "dim"))
            )

    def _small_pictures(self, question: Shown) -> dict[str, bytes]:
        """Return the files of further images of the group by id, in the order of `x 1 2`."""
        others = [member for member in question.members if member != question.representative]
        found = {item_id: self._desk.picture(place) for place, item_id in others[:_MEMBERS_SHOWN]}
        return {item_id: file for item_id, file in found.items() if file is not None}

    def _prompt(self, question: Shown) -> bool:
        """Read one answer; return whether the person continues."""
        guesses = [name for name, _ in question.guesses[:_GUESSES_SHOWN]]
        while True:
            try:
                text = input("What is this? (? for help) ")
            except EOFError:
                return False
            try:
                typed = understand(text, guesses, self._desk.class_names())
            except InputError as error:
                self._console.print(f"{error}", soft_wrap=True)
                continue
            if typed.command == "quit":
                return False
            if typed.command == "help":
                self._console.print(HELP, soft_wrap=True)
            elif typed.command != "undo":
                self._answer(question, typed)
                return True
            elif self._said:
                self._undo()
                return True
            else:
                self._console.print("You have not answered a question yet.")

    def _answer(self, question: Shown, typed: TypedAnswer) -> None:
        try:
            if typed.command == "skip":
                self._desk.send(Skip(question.id))
                self._said.append(question.id)
            elif typed.command == "split":
                self._split(question)
            elif typed.command == "take out":
                self._take_out(question, typed.pictures)
            elif typed.command == "junk":
                self._say("junk", Junk(question.id))
            else:
                self._say(typed.meaning, Named(question.id, typed.name))
        except QuestionError as error:
            self._console.print(f"{error}", soft_wrap=True)

    def _say(self, meaning: str, answer: Named | Junk) -> None:
        self._desk.send(answer)
        self._said.append(answer.question_id)
        self._answered.add(answer.question_id)
        self._console.print(f"That is {meaning}. u takes it back.", soft_wrap=True)

    def _split(self, question: Shown, parts: tuple[tuple[str, ...], ...] = ()) -> None:
        if len(question.members) < 2:
            self._console.print("This group has one image only, so csim cannot split it.")
            return
        with self._console.status("splitting"):
            self._desk.send(Split(question.id, parts))
        self._said.append(question.id)
        self._console.print("Each part is a question now. u takes it back.", soft_wrap=True)

    def _take_out(self, question: Shown, numbers: tuple[int, ...]) -> None:
        """Ask about some of the small pictures and about the rest of the group instead."""
        shown = [*self._small_pictures(question)]
        if not all(1 <= number <= len(shown) for number in numbers):
            self._console.print(f"The small pictures have the numbers 1 to {len(shown)}.")
            return
        chosen = {shown[number - 1] for number in numbers}
        ids = [item_id for _, item_id in question.members]
        out = tuple(item_id for item_id in ids if item_id in chosen)
        rest = tuple(item_id for item_id in ids if item_id not in chosen)
        self._split(question, (rest, out))

    def _undo(self) -> None:
        undone = self._said.pop()
        self._answered.discard(undone)
        try:
            self._desk.send(Undo(undone))
        except QuestionError as error:
            self._console.print(f"{error}", soft_wrap=True)
            return
        self._undone = undone
        self._console.print(f"Question {undone} is open again.")


def _as_dict(question: Shown) -> dict[str, object]:
    return {
        "question": question.id,
        "position": question.position,
        "representative": question.representative[1],
        "members": [item_id for _, item_id in question.members],
        "guesses": [{"name": name, "score": round(score, 4)} for name, score in question.guesses],
    }
