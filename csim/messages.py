"""What a person says: answers to questions, and edits of the classes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral

from csim.errors import InputError
from csim.records import ClassId, ItemId, QuestionId


# What a person answers to a question.
@dataclass(frozen=True, slots=True)
class Named:
    """Give the whole group this class.

    A name that no class has makes a new class. An id never does: a rename leaves it as it is.
    """

    question_id: QuestionId
    name: str | ClassId


@dataclass(frozen=True, slots=True)
class Junk:
    """Say that the group is nothing of interest: it gets no class, and csim does not ask again."""

    question_id: QuestionId


@dataclass(frozen=True, slots=True)
class Skip:
    """Leave a question unanswered for now; it can still be answered later."""

    question_id: QuestionId


@dataclass(frozen=True, slots=True)
class Split:
    """Ask about the parts of a mixed group instead.

    Without `parts` (item ids, part by part) csim halves the group where its vectors differ most.
    """

    question_id: QuestionId
    parts: tuple[tuple[ItemId, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Undo:
    """Undo the answer to a question, its skipping or its split; it can then be answered again."""

    question_id: QuestionId


@dataclass(frozen=True, slots=True)
class Correct:
    """Replace the answer to a question by another class, or by junk if the name is None."""

    question_id: QuestionId
    name: str | ClassId | None


# What a person changes about a class.
@dataclass(frozen=True, slots=True)
class AddClass:
    """Add a class before its first image."""

    name: str


@dataclass(frozen=True, slots=True)
class RenameClass:
    """Give a class another name; its id stays the same."""

    class_id: ClassId
    name: str


@dataclass(frozen=True, slots=True)
class MergeClasses:
    """Merge the class `source` into `target`."""

    source: ClassId
    target: ClassId


@dataclass(frozen=True, slots=True)
class RemoveClass:
    """Remove a class and its stored images."""

    class_id: ClassId


@dataclass(frozen=True, slots=True)
class RestoreClass:
    """Bring a removed class back, with its id, its name and its stored images."""

    class_id: ClassId


# What a person says without being asked.
@dataclass(frozen=True, slots=True)
class LabelImages:
    """Give images this class, or call them junk if the name is None; each counts as one label.

    Each image becomes an answered question of its own, so that you can undo or correct it.
    """

    item_ids: tuple[ItemId, ...]
    name: str | ClassId | None


@dataclass(frozen=True, slots=True)
class UndoAnswers:
    """Undo the answers to several questions, such as those that `LabelImages` made: all or none."""

    question_ids: tuple[QuestionId, ...]


Answer = Named | Junk | Skip | Split | Undo | Correct
ClassEdit = AddClass | RenameClass | MergeClasses | RemoveClass | RestoreClass
Edit = ClassEdit | LabelImages | UndoAnswers


def name_questions(
    question: QuestionId | Mapping[QuestionId, str], name: str | None
) -> list[Answer]:
    """Return the answers that name one question, or several, or raise what to write.

    >>> name_questions({7: "heron"}, None)
    [Named(question_id=7, name='heron')]
    """
    if isinstance(question, Mapping):
        return [Named(question_id, text) for question_id, text in question.items()]
    if not isinstance(question, Integral):
        raise InputError(
            "tell() needs a question's id and a name, or a mapping of ids to names, got "
            f'{question!r}; write tell(7, "heron") or tell({{7: "heron", 9: "crane"}})'
        )
    if name is None:
        raise InputError(
            f"an answer to question {question} needs a class name; call skip() to leave it open, "
            "or junk()"
        )
    return [Named(question, name)]
