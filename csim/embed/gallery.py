"""The gallery: the views of items under the model in use, each computed once.

A view may also come from outside the process (`given`). It is used if it is of the model in use,
and everything else is embedded here. Views from outside are part of the state: another machine may
have rounded them differently, so a restored gallery must not compute them again.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import Protocol

import numpy as np

from csim.errors import InputError
from csim.records import (
    Encoder,
    Floats,
    GivenViews,
    Images,
    Item,
    ItemId,
    State,
    View,
    Views,
    stack,
)

_Key = tuple[ItemId, int]
_Rows = dict[_Key, tuple[Floats, Floats]]  # vector (d,) and features (f,) by item
_EMBEDDED_ITEMS = 20_000  # remembered; older ones are embedded again when they are needed
_GIVEN_ITEMS = 5_000  # remembered of those from outside, which every snapshot holds
_LENGTH_TOLERANCE = 0.01  # of a given vector, which must have unit length


class ViewEncoder(Encoder, Protocol):
    """Embed images and return the features the vectors were made from."""

    def view(self, images: Images) -> Views:
        """Return vectors and features of images, at least one."""
        ...


class Gallery:
    """Remember the views of items under one model; a new model gets a new gallery.

    Parameters
    ----------
    encoder
        Embeds the items that no view was given for.
    version
        The model's version; a given view of another version is ignored.
    """

    def __init__(self, encoder: ViewEncoder, version: int) -> None:
        self._encoder = encoder
        self._version = version
        self._embedded: _Rows = {}
        self._given: _Rows = {}
        self._shapes: tuple[tuple[int, ...], tuple[int, ...]] | None = None  # (d,) and (f,)

    def embed(self, images: Images) -> Floats:
        """Return one vector of unit length per image, (n, d); nothing is remembered."""
        return self._encoder.embed(images)

    def views(self, items: Sequence[Item], given: GivenViews = ()) -> Views:
        """Return vectors and features of items.

        Parameters
        ----------
        items
            What to view; those that are not remembered are embedded in one go.
        given
            A view from outside for each item, or None; empty if there are none.
        """
        if not items:
            empty = self._encoder.embed(stack(items))
            return Views(empty, empty)
        usable = self._usable(items, given)
        known = self._remembered(items) | usable
        missing = [item for item in items if _key(item) not in known]
        embedded = self._embed(missing)
        self._given.update(usable)
        self._embedded.update(embedded)
        rows = [known.get(_key(item)) or embedded[_key(item)] for item in items]
        vectors, features = zip(*rows, strict=True)
        _drop_oldest(self._embedded, _EMBEDDED_ITEMS)
        _drop_oldest(self._given, _GIVEN_ITEMS)
        return Views(np.stack(vectors), np.stack(features))

    def state(self) -> State:
        """Return the views that came from outside; all others can be computed again."""
        rows = list(self._given.values())
        return {
            "ids": [item_id for item_id, _ in self._given],
            "positions": [position for _, position in self._given],
            "vectors": np.array([vector for vector, _ in rows], np.float32),
            "features": np.array([features for _, features in rows], np.float32),
        }

    def restore(self, state: State) -> None:
        """Load what `state` returned."""
        keys = zip(state["ids"], state["positions"], strict=True)
        rows = zip(state["vectors"], state["features"], strict=True)
        self._given = dict(zip(keys, rows, strict=True))

    def _remembered(self, items: Sequence[Item]) -> _Rows:
        keys = [_key(item) for item in items]
        embedded = {key: self._embedded[key] for key in keys if key in self._embedded}
        return embedded | {key: self._given[key] for key in keys if key in self._given}

    def _embed(self, items: Sequence[Item]) -> _Rows:
        if not items:
            return {}
        seen = self._encoder.view(stack(items))
        rows = zip(seen.vectors, seen.features, strict=True)
        return dict(zip(map(_key, items), rows, strict=True))

    def _usable(self, items: Sequence[Item], given: GivenViews) -> _Rows:
        """Return the given views of this model by item, checked."""
        if given and len(given) != len(items):
            raise InputError(
                f"views must be one per item or none; got {len(given)} for {len(items)} items"
            )
        pairs = [
            (item, view)
            for item, view in zip_longest(items, given)
            if view is not None and view.model == self._version
        ]
        if not pairs:
            return {}
        if self._shapes is None:
            blank = self._encoder.view(np.zeros_like(items[0].image)[None])
            self._shapes = (blank.vectors.shape[1:], blank.features.shape[1:])
        for item, view in pairs:
            _check(item, view, *self._shapes)
        return {
            _key(item): (np.array(view.vector, np.float32), np.array(view.features, np.float32))
            for item, view in pairs
        }


def _check(item: Item, view: View, vector: tuple[int, ...], features: tuple[int, ...]) -> None:
    """Refuse a view that the model in use cannot have made."""
    if np.shape(view.vector) != vector or np.shape(view.features) != features:
        raise InputError(
            f"the view of item {item.id!r} must have a vector of shape {vector} and features of "
            f"shape {features}, as model {view.model} makes them; got {np.shape(view.vector)} and "
            f"{np.shape(view.features)}"
        )
    if not np.isfinite(view.features).all() or not np.isclose(
        np.linalg.norm(view.vector), 1, atol=_LENGTH_TOLERANCE
    ):
        raise InputError(
            f"the view of item {item.id!r} must have a vector of unit length and finite features; "
            "embed it again, or leave the view out"
        )


def _key(item: Item) -> _Key:
    return item.id, item.position  # an id may be used again once its item is forgotten


def _drop_oldest(rows: _Rows, size: int) -> None:
    for _ in range(len(rows) - size):
        del rows[next(iter(rows))]
