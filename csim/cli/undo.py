"""`csim undo`: take back an answer."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from csim.cli.send_message import send_and_print
from csim.errors import QuestionError
from csim.folder.reader import Reader
from csim.messages import Undo


def undo(
    folder: Annotated[Path, typer.Argument(help="The stream folder.")],
    question: Annotated[
        int | None,
        typer.Argument(
            show_default="the last one answered",
            help="Number of the question whose answer you take back.",
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the outcome as one JSON object.")
    ] = False,
) -> None:
    """Take back an answer so that you can give another one.

    It also takes back a skip, or a split whose parts have no answer yet.
    If no other answer named the class, csim removes the class immediately and
    revises its images.

    Example: csim undo birds 17
    """
    which = _last(folder) if question is None else question
    send_and_print(
        folder, Undo(which), f"what you said about question {which} is taken back", as_json
    )


def _last(folder: Path) -> int:
    with Reader(folder) as reader:
        last = reader.history.last_answered()
    if last is None:
        raise QuestionError("no question has an answer yet; answer one with `csim label`")
    return last
