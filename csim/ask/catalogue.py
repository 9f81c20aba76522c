"""The catalogue of classes: the names that people use, and the ids that never change.

You can edit a name. An id is used once and never again. After a merge the old id refers to the
class it was merged into, after a removal to none. So models and events with the old id stay
readable.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from csim.errors import ClassError, InputError
from csim.records import ClassId, State

_MAX_NAME_LENGTH = 200  # characters: enough for any label, too little for a pasted text


@dataclass
class _Entry:
    name: str
    support: int = 0  # answers that name the class
    is_lasting: bool = False  # from the warm-up or added by hand: exists without an answer


class Catalogue:
    """Keep classes by id and by name."""

    def __init__(self) -> None:
        self._entries: dict[ClassId, _Entry] = {}
        self._gone: dict[ClassId, ClassId | None] = {}  # merged into, or None if removed

    def __contains__(self, class_id: object) -> bool:
        return class_id in self._entries

    def names(self) -> dict[ClassId, str]:
        """Return the name of every class by its id, sorted by id."""
        return {class_id: entry.name for class_id, entry in sorted(self._entries.items())}

    def find(self, name: str) -> ClassId | None:
        """Return the id of the class with a name, or None."""
        name = clean_name(name)
        return next(
            (class_id for class_id, entry in self._entries.items() if entry.name == name), None
        )

    def add(self, name: str, *, is_lasting: bool) -> ClassId:
        """Add a class and return its id; `is_lasting` if it stays without an answer."""
        self.check_free(name)
        class_id = len(self._entries) + len(self._gone)
        self._entries[class_id] = _Entry(clean_name(name), is_lasting=is_lasting)
        return class_id

    def rename(self, class_id: ClassId, name: str) -> None:
        """Give a class another name."""
        self.check(class_id)
        if self.find(name) != class_id:
            self.check_free(name)
        self._entries[class_id].name = clean_name(name)

    def merge(self, source: ClassId, target: ClassId) -> None:
        """Merge the class `source` into `target`."""
        self.check(source, target)
        if source == target:
            raise ClassError(
                f"a class cannot be merged into itself, and both ids are {source}; choose another"
            )
        merged = self._entries.pop(source)
        kept = self._entries[target]
        kept.support += merged.support
        kept.is_lasting |= merged.is_lasting
        self._gone = {old: target if new == source else new for old, new in self._gone.items()}
        self._gone[source] = target

    def remove(self, class_id: ClassId) -> None:
        """Remove a class; its id then refers to none."""
        self.check(class_id)
        del self._entries[class_id]
        self._gone = {old: None if new == class_id else new for old, new in self._gone.items()}
        self._gone[class_id] = None

    def current(self, class_id: ClassId | None) -> ClassId | None:
        """Return the class that an id refers to now: itself, what it was merged into, or None."""
        return class_id if class_id is None or class_id in self._entries else self._gone[class_id]

    def support(self, class_id: ClassId) -> None:
        """Count one more answer that names a class."""
        self._entries[class_id].support += 1

    def withdraw(self, class_id: ClassId) -> bool:
        """Count one answer less; tell whether the class has nothing left to keep it."""
        entry = self._entries[class_id]
        entry.support -= 1
        return entry.support <= 0 and not entry.is_lasting

    def check(self, *class_ids: ClassId) -> None:
        """Raise a `ClassError` if an id refers to no class now."""
        for class_id in class_ids:
            if class_id not in self._entries:
                raise ClassError(
                    f"no class has the id {class_id}; the ids are {_listed(self._entries)}"
                )

    def check_free(self, name: str) -> None:
        """Raise a `ClassError` if a class has the name already."""
        if (taken := self.find(name)) is not None:
            raise ClassError(
                f"the name {name!r} belongs to class {taken}; choose another, or merge the two"
            )

    def state(self) -> State:
        """Return all classes, and what became of old ids."""
        return {
            "classes": [[c, e.name, e.support, e.is_lasting] for c, e in self._entries.items()],
            "gone": [[old, new] for old, new in self._gone.items()],
        }

    def restore(self, state: State) -> None:
        """Load what `state` returned."""
        self._entries = {
            class_id: _Entry(name, support, is_lasting)
            for class_id, name, support, is_lasting in state["classes"]
        }
        self._gone = dict(state["gone"])


def clean_name(name: str) -> str:
    """Return a class name in normal form, without blanks around it, or raise an `InputError`.

    >>> clean_name("  grey heron ")
    'grey heron'
    """
    if not isinstance(name, str):
        raise InputError(f"a class name must be text, got {type(name).__name__}; convert it")
    cleaned = unicodedata.normalize("NFC", name).strip()
    if not cleaned:
        raise InputError(
            "a class name must have at least one visible character, but it is empty; give one"
        )
    if len(cleaned) > _MAX_NAME_LENGTH:
        raise InputError(
            f"a class name must have at most {_MAX_NAME_LENGTH} characters, "
            f"this one has {len(cleaned)}; shorten it"
        )
    if not cleaned.isprintable():
        raise InputError(
            f"a class name must be one line of printable text, got {cleaned[:40]!r}; "
            "remove line ends and control characters"
        )
    return cleaned


def _listed(class_ids: Iterable[ClassId]) -> str:
    return ", ".join(str(class_id) for class_id in sorted(class_ids)) or "none"
