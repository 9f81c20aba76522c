"""What the service answers, as typed dictionaries; the fields are those of its OpenAPI document."""

from __future__ import annotations

from typing import TypedDict


class ClassRef(TypedDict):
    """Name a class."""

    id: int
    name: str


Decision = TypedDict(
    "Decision",
    {
        "id": str,
        "position": int,
        "time": str | None,
        "decision": str,
        "class": ClassRef | None,
        "score": float | None,
        "model": int | None,
        "question": int | None,
    },
)


class ImageState(Decision):
    """Say what csim decided about an image, and the class that it has today."""

    today: ClassRef | None
    is_junk: bool
    decided_by: str
    answered_by: int | None
    picture: str | None


class Member(TypedDict):
    """Name an image of a group."""

    id: str
    position: int
    picture: str | None


class Lease(TypedDict):
    """Say who has a question, and until when."""

    labeller: str
    until: str


Guess = TypedDict("Guess", {"class": ClassRef, "score": float})

QuestionSummary = TypedDict(
    "QuestionSummary",
    {
        "id": int,
        "position": int,
        "time": str | None,
        "answered": str | None,
        "status": str,
        "class": ClassRef | None,
        "is_junk": bool,
        "is_audit": bool,
        "is_given": bool,
        "images": int,
        "representative": Member,
        "guesses": list[Guess],
        "lease": Lease | None,
    },
)


class Question(QuestionSummary):
    """Describe a question with all images of its group."""

    members: list[Member]


class Outcome(TypedDict):
    """Say what became of an answer."""

    message: int
    taken: bool
    questions: list[int]


class ClassEntry(ClassRef):
    """Describe a class of today."""

    images: int
    told: int
    is_learned: bool
    examples: list[Member]


class EditOutcome(TypedDict):
    """Say what an edit changes."""

    dry_run: bool
    change: str
    images: int
    told: int
    message: int | None
    taken: bool


class Event(TypedDict):
    """Hold an event: its id, its kind and its fields."""

    id: str
    kind: str
    body: dict[str, object]
