"""Choose which image leaves when the shelf of a class is full.

A shelf keeps told images (a person labelled them) apart from inferred ones (spread from an answer,
or predicted). `ProtectTold`, the default, never replaces a told image by an inferred one, because a
person spent time on it. `OldestOut` is the paper's rule.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from csim.records import Item, ItemId


@dataclass
class Shelf:
    """Hold the images of one class: order of arrival and item by item id, oldest first."""

    told: dict[ItemId, tuple[int, Item]] = field(default_factory=dict)
    inferred: dict[ItemId, tuple[int, Item]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.told) + len(self.inferred)


class Eviction(Protocol):
    """Make room on a full shelf."""

    def make_room(self, shelf: Shelf, *, is_told: bool) -> ItemId | None:
        """Remove one image for a new one and return its id, or return None to refuse the new one.

        `is_told` tells whether the new image is told.
        """
        ...


class OldestOut:
    """Remove the oldest image, told or inferred."""

    def make_room(self, shelf: Shelf, *, is_told: bool) -> ItemId | None:
        """Remove the oldest image and return its id."""
        oldest = [next(iter(part.values())) for part in (shelf.told, shelf.inferred) if part]
        _, item = min(oldest, key=lambda entry: entry[0])
        (shelf.told if item.id in shelf.told else shelf.inferred).pop(item.id)
        return item.id


class ProtectTold:
    """Remove the oldest inferred image; remove a told one only for another told one."""

    def make_room(self, shelf: Shelf, *, is_told: bool) -> ItemId | None:
        """Remove the oldest inferred image; if none is left, a told one for a told one."""
        part = shelf.inferred or (shelf.told if is_told else {})
        item_id = next(iter(part), None)
        if item_id is not None:
            del part[item_id]
        return item_id
