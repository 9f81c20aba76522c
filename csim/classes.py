"""The classes of a stream in memory: list and edit them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import csim.records as r
from csim.engine import Engine
from csim.errors import ClassError
from csim.messages import AddClass, Edit, MergeClasses, RemoveClass, RenameClass, RestoreClass
from csim.threads import one_at_a_time


@dataclass(frozen=True)
class ClassSummary:
    """Describe a class; `images` is the number of images stored for it."""

    id: r.ClassId
    name: str
    images: int
    is_learned: bool


class Classes:
    """List and edit the classes of a stream; name a class by its name or its id."""

    def __init__(
        self, engine: Engine, lock: threading.RLock, edit: Callable[[Edit], list[r.Event]]
    ) -> None:
        self._engine = engine
        self._lock = lock
        self._edit = edit

    def __iter__(self) -> Iterator[ClassSummary]:
        return iter(self.list())

    @one_at_a_time
    def list(self) -> list[ClassSummary]:
        """Return all classes in order of id."""
        learned = self._engine.head.class_ids
        store = self._engine.store
        names = self._engine.dialogue.catalogue.names()
        return [ClassSummary(c, name, store.count(c), c in learned) for c, name in names.items()]

    @one_at_a_time
    def name(self, class_id: r.ClassId) -> str | None:
        """Return the current name of a class id; None if the class was removed."""
        current = self._engine.dialogue.catalogue.current(class_id)
        return None if current is None else self._engine.dialogue.catalogue.names()[current]

    @one_at_a_time
    def add(self, name: str) -> r.ClassId:
        """Add a class before its first image; return its id."""
        self._edit(AddClass(name))
        return self._id(name)

    @one_at_a_time
    def rename(self, which: str | r.ClassId, name: str) -> None:
        """Give a class another name; its id stays the same."""
        self._edit(RenameClass(self._id(which), name))

    @one_at_a_time
    def merge(self, source: str | r.ClassId, into: str | r.ClassId) -> None:
        """Merge the class `source` into the class `into`."""
        self._edit(MergeClasses(self._id(source), self._id(into)))

    @one_at_a_time
    def remove(self, which: str | r.ClassId) -> None:
        """Remove a class and its stored images."""
        self._edit(RemoveClass(self._id(which)))

    @one_at_a_time
    def restore(self, which: str | r.ClassId) -> None:
        """Bring a removed class back, with its id, its name and its stored images."""
        removed = self._engine.dialogue.catalogue.removed()
        found = [c for c, name in removed.items() if which in (c, name)]
        if not found:
            names = ", ".join(removed.values()) or "none"
            raise ClassError(f"no removed class is called {which!r}; the removed ones are {names}")
        self._edit(RestoreClass(found[-1]))

    def _id(self, which: str | r.ClassId) -> r.ClassId:
        return self._engine.dialogue.class_id(which) if isinstance(which, str) else which
