"""What people said, in words; class names stay apart, because they may run from right to left."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from csim.folder.codec import Message
from csim.messages import (
    AddClass,
    Correct,
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
from csim.records import ClassId
from csim.web.page.render import counted


class Wording(NamedTuple):
    """Hold what a person did, and the class names in it."""

    verb: str
    name: str = ""
    link: str = ""  # between the two names
    other: str = ""


def word(message: Message, names: Mapping[ClassId, str]) -> Wording:
    """Return a message in words; `names` are those of today, by class id.

    >>> word(Named(2, "heron"), {})
    Wording(verb='Named', name='heron', link='', other='')
    >>> word(MergeClasses(4, 2), {2: "heron", 4: "heron"})
    Wording(verb='Merged', name='heron', link='into', other='heron')
    """
    match message:
        case Named(_, name):
            return Wording("Named", _name(name, names))
        case Junk():
            return Wording("Called junk")
        case Correct(_, name):
            return Wording("Corrected to", _name(name, names))
        case LabelImages(item_ids, name):
            return Wording(f"Labelled {counted(len(item_ids), 'image')}", _name(name, names))
        case Skip():
            return Wording("Skipped")
        case Split():
            return Wording("Split")
        case Undo():
            return Wording("Took back")
        case UndoAnswers(question_ids):
            return Wording(f"Took back {counted(len(question_ids), 'label')}")
        case AddClass(name):
            return Wording("Added", name)
        case RenameClass(class_id, name):
            return Wording("Renamed", _name(class_id, names), "to", name)
        case MergeClasses(source, target):
            return Wording("Merged", _name(source, names), "into", _name(target, names))
        case RemoveClass(class_id):
            return Wording("Removed", _name(class_id, names))
        case RestoreClass(class_id):
            return Wording("Restored", _name(class_id, names))


def _name(given: str | ClassId | None, names: Mapping[ClassId, str]) -> str:
    """Return a name that somebody gave, or the name of a class id; None is junk."""
    if given is None:
        return "junk"
    return given if isinstance(given, str) else names.get(given, f"class {given}")
