"""Where `csim label` gets questions and puts answers: a stream folder, or a service.

The session in `label.py` is the same for both. `FolderDesk` writes answers to the folder's inbox
and has them taken at the end. `csim.cli.service_desk.ServiceDesk` sends them at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from csim.errors import QuestionError
from csim.folder.database import open_for_messages
from csim.folder.inbox import outcome, post
from csim.folder.reader import QuestionRow, Reader
from csim.folder.send import send
from csim.messages import Junk, Named, Skip, Split, Undo
from csim.records import ItemId, QuestionId

Said = Named | Junk | Skip | Split | Undo


@dataclass(frozen=True, slots=True)
class Shown:
    """Describe a question to show; images are pairs of place and id."""

    id: QuestionId
    position: int
    representative: tuple[int, ItemId]
    members: Sequence[tuple[int, ItemId]]
    guesses: Sequence[tuple[str, float]]  # class name and score, best first


class Desk(Protocol):
    """Give questions to a person, and take the answers."""

    def next(self) -> Shown | None:
        """Return the next question to answer; None if there is none."""

    def question(self, question_id: QuestionId) -> Shown:
        """Return one question."""

    def unanswered(self) -> Iterator[Shown]:
        """Yield the questions that wait for an answer."""

    def left(self) -> int:
        """Return how many questions wait for an answer."""

    def picture(self, place: int) -> bytes | None:
        """Return an image's file; None if it is no longer kept."""

    def class_names(self) -> set[str]:
        """Return the names of all classes."""

    def send(self, said: Said) -> None:
        """Save an answer; raise a `QuestionError` if it is refused."""

    def close(self) -> list[tuple[Said, str]]:
        """Have all answers taken; return those that were refused, with the reason."""


class FolderDesk(Desk):
    """Read questions of a stream folder, which need not be running, and write answers to it.

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
        self._sent: dict[int, Said] = {}  # by the number of the message
        self._done: set[QuestionId] = set()

    def next(self) -> Shown | None:
        """Return the next question to answer; None if there is none."""
        row = next(self._not_done(), None)
        return None if row is None else self._shown(row)

    def question(self, question_id: QuestionId) -> Shown:
        """Return one question."""
        return self._shown(self._reader.question(question_id))

    def unanswered(self) -> Iterator[Shown]:
        """Yield the questions that wait for an answer."""
        return map(self._shown, self._rows())

    def left(self) -> int:
        """Return how many questions wait for an answer."""
        return sum(1 for _ in self._not_done())

    def picture(self, place: int) -> bytes | None:
        """Return an image's file; None if it is no longer kept."""
        return self._reader.picture(place)

    def class_names(self) -> set[str]:
        """Return the names of all classes."""
        # An answer that the stream has not taken yet may have named a class.
        named = {said.name for said in self._sent.values() if isinstance(said, Named)}
        return {row.name for row in self._reader.classes()} | {str(name) for name in named}

    def send(self, said: Said) -> None:
        """Save an answer; raise a `QuestionError` if it is refused."""
        if isinstance(said, Split | Undo):  # the next question depends on it
            (result,) = send(self._folder, [said])
            if result.refusal:
                raise QuestionError(result.refusal)
            self._done.discard(said.question_id)
            return
        with closing(open_for_messages(self._reader.layout.database)) as connection:
            (number,) = post(connection, [said])
        self._done.add(said.question_id)
        self._sent[number] = said

    def close(self) -> list[tuple[Said, str]]:
        """Have all answers taken; return those that were refused, with the reason."""
        if not self._sent:
            return []
        send(self._folder, [])
        with closing(open_for_messages(self._reader.layout.database)) as connection:
            found = [(said, outcome(connection, number)[1]) for number, said in self._sent.items()]
        return [(said, refusal) for said, refusal in found if refusal is not None]

    def _not_done(self) -> Iterator[QuestionRow]:
        return (row for row in self._rows() if row.id not in self._done)

    def _rows(self) -> list[QuestionRow]:
        return self._reader.questions("open") + self._reader.questions("undone")

    def _shown(self, row: QuestionRow) -> Shown:
        ids = {item.place: item.id for item in self._reader.members(row.id)}
        face = (row.representative, self._reader.item(row.representative).id)
        return Shown(row.id, row.position, face, list(ids.items()), row.guesses)
