"""`csim label --url`: questions and answers of a service.

It keeps the question that it shows from other people, by a lease.
"""

from __future__ import annotations

import getpass
from collections.abc import Iterator
from contextlib import suppress
from uuid import uuid4

from csim.cli.desk import Desk, Said, Shown
from csim.client import Client, ServiceError
from csim.client.records import Question
from csim.errors import QuestionError
from csim.messages import Junk, Named, Skip, Split, Undo
from csim.records import QuestionId


class ServiceDesk(Desk):
    """Read questions of a service, and send answers to it.

    Parameters
    ----------
    client
        A client of the service.
    """

    def __init__(self, client: Client) -> None:
        self._client = client
        self._labeller = f"{getpass.getuser()} {uuid4().hex[:6]}"  # each terminal is another one
        self._held: QuestionId | None = None

    def next(self) -> Shown | None:
        """Return the next question to answer; None if there is none."""
        found = self._client.questions.next(self._labeller)
        self._held = None if found is None else found["id"]
        return None if found is None else _shown(found)

    def question(self, question_id: QuestionId) -> Shown:
        """Return one question."""
        return _shown(self._client.questions.get(question_id))

    def unanswered(self) -> Iterator[Shown]:
        """Yield the questions that wait for an answer."""
        for status in ("open", "undone"):
            after: int | None = 0
            while after is not None:
                page, after = self._client.questions.page(status, after=after)
                yield from (self.question(entry["id"]) for entry in page)

    def left(self) -> int:
        """Return how many questions wait for an answer."""
        counts = self._client.status()["questions"]
        return int(counts.get("open", 0) + counts.get("undone", 0))

    def picture(self, place: int) -> bytes | None:
        """Return an image's file; None if it is no longer kept."""
        try:
            return self._client.images.picture(place)
        except ServiceError as error:
            if error.status == 404:
                return None
            raise

    def class_names(self) -> set[str]:
        """Return the names of all classes."""
        return {entry["name"] for entry in self._client.classes.list(examples=0)}

    def send(self, said: Said) -> None:
        """Save an answer; raise a `QuestionError` if it is refused."""
        try:
            self._say(said)
        except ServiceError as error:
            if error.status == 409:
                raise QuestionError(str(error)) from error
            raise
        self._held = None

    def close(self) -> list[tuple[Said, str]]:
        """Have all answers taken; return those that were refused, with the reason."""
        if self._held is not None:
            with suppress(ServiceError):  # it may be gone; then the lease ends by itself
                self._client.questions.release(self._held, self._labeller)
        return []  # the service said at once what it refused

    def _say(self, said: Said) -> None:
        questions = self._client.questions
        match said:
            case Named(question_id, name):
                questions.answer(question_id, str(name), labeller=self._labeller)
            case Junk(question_id):
                questions.junk(question_id, labeller=self._labeller)
            case Skip(question_id):
                questions.skip(question_id, labeller=self._labeller)
            case Split(question_id, parts):
                questions.split(question_id, parts, labeller=self._labeller)
            case Undo(question_id):
                questions.undo(question_id, labeller=self._labeller)


def _shown(question: Question) -> Shown:
    face = question["representative"]
    return Shown(
        question["id"],
        question["position"],
        (face["position"], face["id"]),
        [(member["position"], member["id"]) for member in question["members"]],
        [(guess["class"]["name"], guess["score"]) for guess in question["guesses"]],
    )
