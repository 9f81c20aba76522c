"""The catalogue of classes: the names that people use, and the ids that never change.

You can edit a name. An id is used once and never again. After a merge the old id refers to the
class it was merged into, after a removal to none. So models and events with the old id stay
readable. A removed class can be restored: its id then refers to it again.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from unicodedata import category as _category

from csim.errors import ClassError, InputError
from csim.records import JUNK, ClassId, State

_MAX_NAME_LENGTH = 200  # characters: enough for any label, too little for a pasted text
_FORBIDDEN = ("Cc", "Cs", "Zl", "Zp")  # control characters, halves of characters, line ends
# They turn the text around them, so that a name can look like another one.
_BIDI_CONTROLS = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


@dataclass
class _Entry:
    name: str
    support: int = 0  # answers that name the class
    is_lasting: bool = False  # from the warm-up or added by hand: exists without an answer


@dataclass
class _Removed:
    entry: _Entry
    merged: tuple[ClassId, ...]  # the ids that referred to it


class Catalogue:
    """Keep classes by id and by name."""

    def __init__(self) -> None:
        self._entries: dict[ClassId, _Entry] = {}
        self._gone: dict[ClassId, ClassId | None] = {}  # merged into, or None if removed
        self._removed: dict[ClassId, _Removed] = {}
        self._junk_support = 0  # answers that say junk

    def __contains__(self, class_id: object) -> bool:
        return class_id in self._entries

    def names(self) -> dict[ClassId, str]:
        """Return the name of every class by its id, sorted by id."""
        return {class_id: entry.name for class_id, entry in sorted(self._entries.items())}

    def find(self, name: str | ClassId) -> ClassId | None:
        """Return the id of the class with a name, or None if no class has it.

        An id must refer to a class of today; after a merge it refers to the one it went into.
        """
        if isinstance(name, str):
            wanted = clean_name(name)
            found = (c for c, entry in self._entries.items() if entry.name == wanted)
            return next(found, None)
        class_id = self._gone.get(name, name)
        _check_exists(self._entries, name if class_id is None else class_id)
        return class_id

    def add(self, name: str, *, is_lasting: bool) -> ClassId:
        """Add a class and return its id; `is_lasting` if it stays without an answer."""
        _check_free(name, self.find(name))
        class_id = len(self._entries) + len(self._gone)
        self._entries[class_id] = _Entry(clean_name(name), is_lasting=is_lasting)
        return class_id

    def rename(self, class_id: ClassId, name: str) -> None:
        """Give a class another name."""
        _check_exists(self._entries, class_id)
        if (found := self.find(name)) != class_id:
            _check_free(name, found)
        self._entries[class_id].name = clean_name(name)

    def merge(self, source: ClassId, target: ClassId) -> None:
        """Merge the class `source` into `target`."""
        _check_exists(self._entries, source, target)
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
        _check_exists(self._entries, class_id)
        merged = tuple(old for old, new in self._gone.items() if new == class_id)
        self._removed[class_id] = _Removed(self._entries.pop(class_id), merged)
        self._gone |= dict.fromkeys((class_id, *merged))

    def restore_class(self, class_id: ClassId) -> tuple[ClassId, ...]:
        """Bring a removed class back; return the ids of classes that were merged into it."""
        if class_id not in self._removed:
            raise ClassError(
                f"no removed class has the id {class_id}; the removed ids are "
                f"{_listed(self._removed)}"
            )
        name = self._removed[class_id].entry.name
        if (taken_by := self.find(name)) is not None:
            raise ClassError(
                f"the name {name!r} belongs to class {taken_by} by now; rename that class first"
            )
        removed = self._removed.pop(class_id)
        self._entries[class_id] = removed.entry
        self._gone |= dict.fromkeys(removed.merged, class_id)
        del self._gone[class_id]
        removed.entry.is_lasting |= removed.entry.support <= 0  # a person wants it all the same
        return removed.merged

    def removed(self) -> dict[ClassId, str]:
        """Return the name of every removed class by its id, sorted by id."""
        return {class_id: gone.entry.name for class_id, gone in sorted(self._removed.items())}

    def current(self, class_id: ClassId | None) -> ClassId | None:
        """Return the class that an id refers to now: itself, what it was merged into, or None.

        `JUNK` refers to itself as long as an answer says junk.
        """
        if class_id == JUNK:
            return JUNK if self._junk_support else None
        return class_id if class_id is None or class_id in self._entries else self._gone[class_id]

    def support(self, class_id: ClassId) -> None:
        """Count one more answer that names a class, or says `JUNK`."""
        if class_id == JUNK:
            self._junk_support += 1
            return
        self._entries[class_id].support += 1

    def withdraw(self, class_id: ClassId) -> ClassId | None:
        """Count one answer less for the class that an id refers to, or referred to.

        Returns the class if it has nothing left to keep it, else None.
        """
        if class_id == JUNK:
            self._junk_support -= 1
            return None
        for removed_id, removed in self._removed.items():
            if class_id in (removed_id, *removed.merged):
                removed.entry.support -= 1
        current = self.current(class_id)
        if current is None:
            return None
        entry = self._entries[current]
        entry.support -= 1
        return current if entry.support <= 0 and not entry.is_lasting else None

    def state(self) -> State:
        """Return all classes, and what became of old ids."""
        return {
            "classes": [[c, e.name, e.support, e.is_lasting] for c, e in self._entries.items()],
            "gone": [[old, new] for old, new in self._gone.items()],
            "junk": self._junk_support,
            "removed": [
                [c, gone.entry.name, gone.entry.support, gone.entry.is_lasting, [*gone.merged]]
                for c, gone in self._removed.items()
            ],
        }

    def restore(self, state: State) -> None:
        """Load what `state` returned."""
        self._entries = {
            class_id: _Entry(name, support, is_lasting)
            for class_id, name, support, is_lasting in state["classes"]
        }
        self._gone = dict(state["gone"])
        self._junk_support = state["junk"]
        self._removed = {
            class_id: _Removed(_Entry(name, support, is_lasting), tuple(merged))
            for class_id, name, support, is_lasting, merged in state.get("removed", ())
        }


def _check_exists(classes: Collection[ClassId], *class_ids: ClassId) -> None:
    for class_id in class_ids:
        if class_id not in classes:
            raise ClassError(f"no class has the id {class_id}; the ids are {_listed(classes)}")


def _check_free(name: str, taken_by: ClassId | None) -> None:
    if taken_by is not None:
        raise ClassError(
            f"the name {name!r} belongs to class {taken_by}; choose another, or merge the two"
        )


def clean_name(name: str) -> str:
    """Return a class name in normal form, or raise an `InputError`.

    Characters are composed (NFC), every kind of space becomes a plain one, and spaces around the
    name are removed. So names that look the same are the same. Joiners inside a name stay: Persian,
    Indic scripts and many emoji need them.

    >>> clean_name("  grey\u00a0heron ")
    'grey heron'
    """
    if not isinstance(name, str):
        raise InputError(f"a class name must be text, got {type(name).__name__}; convert it")
    composed = unicodedata.normalize("NFC", name)
    cleaned = "".join(" " if _category(c) == "Zs" else c for c in composed).strip()
    if not any(_category(c)[0] in "LNPS" or _category(c) in ("Cn", "Co") for c in cleaned):
        raise InputError(
            f"a class name must have at least one visible character, got {cleaned!r}; give one"
        )
    if len(cleaned) > _MAX_NAME_LENGTH:
        raise InputError(
            f"a class name must have at most {_MAX_NAME_LENGTH} characters, "
            f"this one has {len(cleaned)}; shorten it"
        )
    if bad := [c for c in cleaned if _category(c) in _FORBIDDEN or c in _BIDI_CONTROLS]:
        raise InputError(
            f"a class name must be one line without control characters, got {cleaned[:40]!r}; "
            f"remove U+{ord(bad[0]):04X}"
        )
    return cleaned


def clean_labels(names: Iterable[str]) -> list[str]:
    """Return the class name of each labelled image in normal form, or raise an `InputError`.

    A stream starts with two classes or more, each with at least two images.

    >>> clean_labels(["heron", "crane ", "heron", "crane"])
    ['heron', 'crane', 'heron', 'crane']
    """
    normal: dict[str, str] = {}  # there are many images and few names
    labels = []
    for name in names:
        if not isinstance(name, str) or name not in normal:
            normal[name] = clean_name(name)
        labels.append(normal[name])
    counts = Counter(labels)
    if len(counts) < 2:
        raise InputError(f"there must be at least two classes, got {len(counts)}; add another")
    if lonely := sorted(name for name, count in counts.items() if count < 2):
        raise InputError(
            f"every class needs at least two images; {lonely[0]!r} has one, so add another"
        )
    return labels


def _listed(class_ids: Iterable[ClassId]) -> str:
    return ", ".join(str(class_id) for class_id in sorted(class_ids)) or "none"
