"""Preview an edit of the classes: what it would change, or why csim would refuse it."""

from __future__ import annotations

from dataclasses import dataclass

from csim.ask.catalogue import clean_name
from csim.errors import ClassError
from csim.folder.reader import ClassRow, Reader
from csim.messages import AddClass, ClassEdit, MergeClasses, RemoveClass, RenameClass, RestoreClass
from csim.records import (
    ClassId,
)


@dataclass(frozen=True, slots=True)
class Preview:
    """Say what an edit would change."""

    text: str  # a sentence
    images: int  # images of the stream that would get another class, another name, or none
    told: int  # of the labels that people gave, those that this is about


def preview(reader: Reader, edit: ClassEdit) -> Preview:
    """Return what an edit would change; raise the error with which csim would refuse it."""
    rows = {row.id: row for row in reader.classes()}
    match edit:
        case AddClass(name):
            _check_free(rows, name, None)
            return Preview(f"adds the class {clean_name(name)!r}", 0, 0)
        case RenameClass(class_id, name):
            row = _row(rows, class_id)
            _check_free(rows, name, class_id)
            text = f"renames {row.name!r} to {clean_name(name)!r}"
            return Preview(text, row.images, row.told)
        case MergeClasses(source, target):
            row = _row(rows, source)
            into = _row(rows, target)
            if source == target:
                raise ClassError("a class cannot be merged into itself; choose another")
            text = f"gives the images of {row.name!r} the class {into.name!r}"
            return Preview(text, row.images, row.told)
        case RemoveClass(class_id):
            row = _row(rows, class_id)
            text = f"removes {row.name!r}; its images have no class until csim decides again"
            return Preview(text, row.images, row.told)
        case RestoreClass(class_id):
            removed = reader.history.removed_classes()
            if class_id not in removed:
                raise ClassError(f"no class with the id {class_id} was removed; there is no need")
            _check_free(rows, removed[class_id], None)
            return Preview(f"restores {removed[class_id]!r} with the images it had", 0, 0)


def _row(rows: dict[ClassId, ClassRow], class_id: ClassId) -> ClassRow:
    if class_id not in rows:
        ids = ", ".join(str(known) for known in rows) or "none"
        raise ClassError(f"no class has the id {class_id}; the ids are {ids}")
    return rows[class_id]


def _check_free(rows: dict[ClassId, ClassRow], name: str, besides: ClassId | None) -> None:
    cleaned = clean_name(name)
    for row in rows.values():
        if row.name == cleaned and row.id != besides:
            raise ClassError(
                f"the name {cleaned!r} belongs to class {row.id}; choose another, or merge the two"
            )
