"""The catalogue of classes: the names that people use and the ids that never change.

A name can be edited; an id is given once and never again. After a merge the old id stands for the class it
went up in, after a removal for none, so that models and events which know the old id can still be read.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from csim.errors import ClassError, InputError
from csim.records import ClassId, State

_LONGEST = 200  # characters of a name: room for any label, too little for a pasted text


@dataclass
class _Entry:
    name: str
    support: int = 0  # answers that stand behind the class
    is_lasting: bool = False  # from the warm-up or added by hand: it needs no answer to exist


class Catalogue:
    """Classes by id and by name."""

    def __init__(self) -> None:
        self._entries: dict[ClassId, _Entry] = {}
        self._gone: dict[ClassId, ClassId | None] = {}  # merged into, or None if removed

    def __contains__(self, class_id: object) -> bool:
        return class_id in self._entries

    def names(self) -> dict[ClassId, str]:
        """Return every class's name by id, in order of id."""
        return {class_id: entry.name for class_id, entry in sorted(self._entries.items())}

    def find(self, name: str) -> ClassId | None:
        """Return the id behind a name, or None."""
        name = clean_name(name)
        return next(
            (class_id for class_id, entry in self._entries.items() if entry.name == name), None
        )

    def add(self, name: str, *, is_lasting: bool) -> ClassId:
        """Make a class; `is_lasting` if it stays without any answer behind it."""
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
        """Let `source` go up in `target`."""
        self.check(source, target)
        if source == target:
            raise ClassError(f"a class cannot go up in itself; source and target are both {source}")
        gone = self._entries.pop(source)
        kept = self._entries[target]
        kept.support += gone.support
        kept.is_lasting |= gone.is_lasting
        self._gone = {old: target if new == source else new for old, new in self._gone.items()} | {
            source: target
        }

    def remove(self, class_id: ClassId) -> None:
        """Forget a class; its id then stands for none."""
        self.check(class_id)
        del self._entries[class_id]
        self._gone = {old: None if new == class_id else new for old, new in self._gone.items()} | {
            class_id: None
        }

    def current(self, class_id: ClassId | None) -> ClassId | None:
        """Return what an id stands for today: itself, the class it went up in, or None."""
        return class_id if class_id is None or class_id in self._entries else self._gone[class_id]

    def support(self, class_id: ClassId) -> None:
        """Count an answer that stands behind a class."""
        self._entries[class_id].support += 1

    def withdraw(self, class_id: ClassId) -> bool:
        """Count an answer less; tell whether nothing is left behind the class."""
        entry = self._entries[class_id]
        entry.support -= 1
        return entry.support <= 0 and not entry.is_lasting

    def check(self, *class_ids: ClassId) -> None:
        """Refuse ids that stand for no class today."""
        for class_id in class_ids:
            if class_id not in self._entries:
                raise ClassError(
                    f"no class has the id {class_id}; the ids are {_listed(self._entries)}"
                )

    def check_free(self, name: str) -> None:
        """Refuse a name that a class already has."""
        if (taken := self.find(name)) is not None:
            raise ClassError(
                f"the name {name!r} belongs to class {taken}; choose another, or merge the two"
            )

    def state(self) -> State:
        """Return all classes."""
        return {
            "classes": [[c, e.name, e.support, e.is_lasting] for c, e in self._entries.items()],
            "gone": [[old, new] for old, new in self._gone.items()],
        }

    def restore(self, state: State) -> None:
        """Take back what `state` returned."""
        self._entries = {
            c: _Entry(name, support, lasting) for c, name, support, lasting in state["classes"]
        }
        self._gone = dict(state["gone"])


def clean_name(name: str) -> str:
    """Return a class name in its one form, without blanks around it, or refuse it.

    >>> clean_name("  grey heron ")
    'grey heron'
    """
    if not isinstance(name, str):
        raise InputError(f"a class name must be text, got {type(name).__name__}")
    cleaned = unicodedata.normalize("NFC", name).strip()
    if not cleaned:
        raise InputError("a class name must hold at least one visible character; it is empty")
    if len(cleaned) > _LONGEST:
        raise InputError(
            f"a class name may have {_LONGEST} characters, this one has {len(cleaned)}; shorten it"
        )
    if not cleaned.isprintable():
        raise InputError(f"a class name must be one line of printable text, got {cleaned[:40]!r}")
    return cleaned


def _listed(class_ids: Iterable[ClassId]) -> str:
    return ", ".join(str(class_id) for class_id in sorted(class_ids)) or "none"
