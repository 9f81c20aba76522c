"""Events and messages as JSON, which names an image by its id."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import fields
from typing import Any

import csim.records as r
from csim.errors import InputError
from csim.messages import (
    AddClass,
    Answer,
    Correct,
    Edit,
    Junk,
    LabelImages,
    MergeClasses,
    Named,
    RemoveClass,
    RenameClass,
    RestoreClass,
    Skip,
    Split,
    Undo,
    UndoAnswers,
)

Message = Answer | Edit  # what a person can send to a stream
FindItem = Callable[[r.ItemId], r.Item]

_EVENTS: dict[str, type[Any]] = {
    kind.__name__: kind
    for kind in (
        r.Joined, r.Left, r.Labelled, r.Told, r.Revised, r.Skipped, r.Divided, r.Undone,
        r.Corrected, r.Audited, r.Expired, r.ClassAdded, r.ClassRenamed, r.ClassesMerged,
        r.ClassRemoved, r.ClassRestored, r.Retrained,
    )
}  # fmt: skip
_MESSAGES: dict[str, type[Any]] = {
    kind.__name__: kind
    for kind in (
        Named, Junk, Skip, Split, Undo, Correct,
        AddClass, RenameClass, MergeClasses, RemoveClass, RestoreClass, LabelImages,
        UndoAnswers,
    )
}  # fmt: skip


def event_to_text(event: r.Event) -> tuple[str, str]:
    """Return an event's kind and the rest of it as JSON.

    >>> event_to_text(r.Skipped(7, 2))
    ('Skipped', '{"position": 7, "question_id": 2}')
    """
    if isinstance(event, r.Asked):
        question = event.question
        body = {
            "position": event.position,
            "question_id": question.id,
            "representative": question.representative.id,
            "members": [item.id for item in question.members],
            "guesses": question.guesses,
        }
        # Only if so: a replay compares with logs of earlier versions, which had neither.
        for name in ("is_audit", "is_given"):
            if getattr(question, name):
                body[name] = True
        return "Asked", json.dumps(body)
    return _to_text(event)


def event_from_text(kind: str, body: str, find_item: FindItem) -> r.Event:
    """Return the event that `event_to_text` wrote; `find_item` finds the items of a question."""
    if kind == "Asked":
        values = json.loads(body)
        members = {item_id: find_item(item_id) for item_id in values["members"]}
        question = r.Question(
            values["question_id"],
            values["position"],
            members[values["representative"]],
            tuple(members.values()),
            tuple((class_id, score) for class_id, score in values["guesses"]),
            values.get("is_audit", False),
            values.get("is_given", False),
        )
        return r.Asked(values["position"], question)
    event: r.Event = _from_text(_EVENTS, kind, body)
    return event


def message_to_text(message: Message) -> tuple[str, str]:
    """Return a message's kind and the rest of it as JSON.

    >>> message_to_text(Named(2, "heron"))
    ('Named', '{"question_id": 2, "name": "heron"}')
    """
    return _to_text(message)


def message_from_text(kind: str, body: str) -> Message:
    """Return the message that `message_to_text` wrote.

    >>> message_from_text("Split", '{"question_id": 2, "parts": [["a"], ["b"]]}')
    Split(question_id=2, parts=(('a',), ('b',)))
    """
    if kind not in _MESSAGES:
        raise InputError(f"a message must be one of {', '.join(_MESSAGES)}; got {kind!r}")
    message: Message = _from_text(_MESSAGES, kind, body)
    return message


def _to_text(record: Any) -> tuple[str, str]:  # noqa: ANN401
    return type(record).__name__, json.dumps(
        {field.name: getattr(record, field.name) for field in fields(record)}
    )


def _from_text(kinds: dict[str, type[Any]], kind: str, body: str) -> Any:  # noqa: ANN401
    return kinds[kind](**{name: _frozen(value) for name, value in json.loads(body).items()})


def _frozen(value: Any) -> Any:  # noqa: ANN401
    return tuple(_frozen(entry) for entry in value) if isinstance(value, list) else value
