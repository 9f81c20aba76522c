"""Which image leaves when a class's shelf is full.

A shelf keeps the images whose label a person told apart from those whose label was inferred (spread from an
answer, or predicted). `ProtectTold`, the default, never gives up a told label for an inferred one: told ones
are what a person spent time on. `OldestOut` is the paper's rule.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from csim.records import Item, ItemId


@dataclass
class Shelf:
    """The images of one class: item and order of arrival by item id, oldest first."""

    told: dict[ItemId, tuple[int, Item]] = field(default_factory=dict)
    inferred: dict[ItemId, tuple[int, Item]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.told) + len(self.inferred)


class Eviction(Protocol):
    """A rule for a full shelf."""

    def make_room(self, shelf: Shelf, *, is_told: bool) -> ItemId | None:
        """Take one image off a full shelf for a newcomer; return its id, or None to turn the newcomer away."""
        ...


class OldestOut:
    """The oldest image leaves, whoever labelled it."""

    def make_room(self, shelf: Shelf, *, is_told: bool) -> ItemId | None:
        """Take off the oldest image."""
        oldest = [next(iter(part.values())) for part in (shelf.told, shelf.inferred) if part]
        _, item = min(oldest, key=lambda entry: entry[0])
        (shelf.told if item.id in shelf.told else shelf.inferred).pop(item.id)
        return item.id


class ProtectTold:
    """The oldest inferred image leaves; a told one only for another told one."""

    def make_room(self, shelf: Shelf, *, is_told: bool) -> ItemId | None:
        """Take off the oldest inferred image, else for a told newcomer the oldest told one."""
        part = shelf.inferred or (shelf.told if is_told else {})
        item_id = next(iter(part), None)
        if item_id is not None:
            del part[item_id]
        return item_id
