"""`csim undo`: take back an answer."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from csim.cli.outcomes import tell
from csim.errors import QuestionError
from csim.records import Undo


def undo(
    folder: Annotated[Path, typer.Argument(help="The stream folder.")],
    question: Annotated[
        int | None,
        typer.Argument(
            help="The question whose answer to take back. [default: the one answered last]"
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the outcome as one JSON object.")
    ] = False,
) -> None:
    """Take back an answer; the question can then be answered again.

    A class that nothing else stands behind is gone at once, and its images are
    revised.

    Example: csim undo birds 17
    """
    which = _last(folder) if question is None else question
    tell(folder, Undo(which), f"the answer to question {which} is taken back", as_json)


def _last(folder: Path) -> int:
    from csim.folder.reader import Reader  # noqa: PLC0415  # slow to load: `csim --help` need not wait

    with Reader(folder) as reader:
        last = reader.history.last_answered()
    if last is None:
        raise QuestionError("no question has been answered yet, so there is nothing to take back")
    return last
