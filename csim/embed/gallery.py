"""The gallery: the views of items under the model in use, each computed once.

A view may also come from outside the process (`given`). It is used if it is of the model in use,
and everything else is embedded here. Views from outside are part of the state: another machine may
have rounded them differently, so a restored gallery must not compute them again.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import Any, Protocol

import numpy as np

from csim.errors import InputError
from csim.item_rows import ItemRows
from csim.records import (
    ClassId,
    EncoderId,
    Floats,
    GivenViews,
    Images,
    Ints,
    Item,
    State,
    View,
    Views,
    stack,
)

_LABELLED_ITEMS = 4_000  # remembered beside recent ones: those that searches compare with
_MOST_ITEMS = 50_000  # remembered in all
_GIVEN_ITEMS = 5_000  # remembered of those from outside, which every snapshot holds
_VECTORS, _FEATURES = 0, 1  # columns
_LENGTH_TOLERANCE = 0.01  # of a given vector, which must have unit length


class Encoder(Protocol):
    """Turn images into vectors."""

    def embed(self, images: Any) -> Floats:  # noqa: ANN401
        """Return one vector per image, (n, d)."""
        ...


class FrozenEncoder(Encoder, Protocol):
    """Turn images into vectors with weights that csim never trains."""

    image_shape: tuple[int, ...] | None  # that images are resized to; None takes them as they are
    identity: EncoderId | None  # None if csim cannot open it by name


class Scorer(Protocol):
    """Score vectors; `columns` say which class each column of the model counts for now."""

    @property
    def columns(self) -> tuple[ClassId | None, ...]:
        """Return the class of each column, None for one that counts for none."""
        ...

    def scores(self, vectors: Floats) -> Floats:
        """Return the probability of each class, (n, K), for vectors (n, d)."""
        ...


class ViewEncoder(Encoder, Protocol):
    """Embed images and return the features the vectors were made from."""

    def view(self, images: Any) -> Views:  # noqa: ANN401
        """Return vectors and features of images or frozen vectors, at least one."""
        ...


class Gallery:
    """Remember the views of items under one model; a new model gets a new gallery.

    Parameters
    ----------
    encoder
        Embeds the items that no view was given for.
    version
        The model's version; a given view of another version is ignored.
    metric
        The version of the first model that gives the same vectors; `version` if not given.
    recent
        Items of the recent window. Higher remembers more views but uses more memory; older items
        are embedded again when they are needed.
    before
        The gallery of the model before, which is used no more: this one takes over its memory.
    """

    def __init__(
        self,
        encoder: ViewEncoder,
        version: int,
        *,
        metric: int | None = None,
        recent: int = 2_000,
        before: Gallery | None = None,
    ) -> None:
        self._encoder = encoder
        self.version = version
        self.metric = version if metric is None else metric
        self._scored = min(2 * recent, _MOST_ITEMS)  # items whose scores are remembered
        self._columns: tuple[ClassId | None, ...] | None = None
        if before is None:
            self._embedded = ItemRows(min(2 * recent + _LABELLED_ITEMS, _MOST_ITEMS))
        else:
            self._embedded = before._embedded
            self._embedded.clear()
        self._given = ItemRows(_GIVEN_ITEMS)
        self._shapes: tuple[tuple[int, ...], tuple[int, ...]] | None = None  # (d,) and (f,)

    def embed(self, images: Images | Floats) -> Floats:
        """Return one vector of unit length per image or frozen vector, (n, d).

        Nothing is remembered.
        """
        return self._encoder.embed(images)

    def vectors(self, items: Sequence[Item], given: GivenViews = ()) -> Floats:
        """Return one vector of unit length per item, (n, d).

        Parameters
        ----------
        items
            What to view; those that are not remembered are embedded in one go.
        given
            A view from outside for each item, or None; empty if there are none.
        """
        if not items:
            return self._encoder.embed(stack(items))
        self._add_given(items, given)
        return self._column(items, _VECTORS)

    def scores(self, items: Sequence[Item], head: Scorer) -> Floats:
        """Return the probability of each class for at least one item, (n, K).

        They are remembered until the head's columns change. So a search scores only what is new,
        and with a frozen encoder its vectors need not be whitened again.
        """
        if self._columns != head.columns:
            self._columns = head.columns
            self._scores = ItemRows(self._scored)
        return self._scores.of(items, lambda new: head.scores(self.vectors(new)))

    def features(self, items: Sequence[Item]) -> Floats:
        """Return what the vectors of at least one item were made from, (n, f)."""
        return self._column(items, _FEATURES)

    def state(self) -> State:
        """Return the views that came from outside; all others can be computed again."""
        keys, rows = self._given.oldest_first()
        return {
            "positions": keys,  # views come from outside for the stream alone
            "vectors": self._given.read(_VECTORS, rows),
            "features": self._given.read(_FEATURES, rows),
        }

    def restore(self, state: State) -> None:
        """Load what `state` returned."""
        self._given = ItemRows(_GIVEN_ITEMS)
        self._given.add(state["positions"], state["vectors"], state["features"])

    def _column(self, items: Sequence[Item], column: int) -> Floats:
        """Return the vectors or the features of items, given or embedded."""
        if not self._embedded.has_any(items) and not self._given.has_any(items):
            return self._embed(items)[column]  # all are new, as in most batches
        in_given = self._given.find(items)
        in_embedded = np.where(in_given < 0, self._embedded.find(items), -1)
        parts = [
            (np.flatnonzero(rows >= 0), memory.read(column, rows[rows >= 0]))
            for rows, memory in ((in_given, self._given), (in_embedded, self._embedded))
            if (rows >= 0).any()
        ]
        missing = np.flatnonzero((in_given < 0) & (in_embedded < 0))
        if len(missing):
            new = self._embed([items[index] for index in missing.tolist()])
            parts.append((missing, new[column]))
        return _in_order(parts)

    def _embed(self, items: Sequence[Item]) -> tuple[Floats, Floats]:
        """Return vectors and features of items that were not given, and remember them."""
        seen = self._encoder.view(stack(items))
        columns = (seen.vectors, seen.features)
        # Views of frozen vectors cost less to compute than to keep.
        if items[0].frozen is None:
            self._embedded.add_items(items, *columns)
        return columns

    def _add_given(self, items: Sequence[Item], given: GivenViews) -> None:
        """Check the given views of this model, and remember them."""
        if given and len(given) != len(items):
            raise InputError(
                f"views must be one per item or none; got {len(given)} for {len(items)} items"
            )
        pairs = [
            (item, view)
            for item, view in zip_longest(items, given)
            # A frozen vector gives the view; the features of one from outside are that vector.
            if view is not None and view.model == self.version and item.frozen is None
        ]
        if not pairs:
            return
        if self._shapes is None:
            blank = self._encoder.view(np.zeros_like(stack(items[:1])))
            self._shapes = (blank.vectors.shape[1:], blank.features.shape[1:])
        for item, view in pairs:
            _check_shapes(item, view, *self._shapes)
        vectors = np.array([view.vector for _, view in pairs], np.float32)
        features = np.array([view.features for _, view in pairs], np.float32)
        _check_values([item for item, _ in pairs], vectors, features)
        self._given.add_items([item for item, _ in pairs], vectors, features)


def _in_order(parts: Sequence[tuple[Ints, Floats]]) -> Floats:
    """Return the rows of several parts together, each at its index."""
    if len(parts) == 1:
        return parts[0][1]
    order = np.argsort(np.concatenate([indices for indices, _ in parts]))
    together: Floats = np.concatenate([rows for _, rows in parts])
    return together[order]


def _check_shapes(
    item: Item, view: View, vector: tuple[int, ...], features: tuple[int, ...]
) -> None:
    """Refuse a view that the model in use cannot have made."""
    if np.shape(view.vector) != vector or np.shape(view.features) != features:
        raise InputError(
            f"the view of item {item.id!r} must have a vector of shape {vector} and features of "
            f"shape {features}, as model {view.model} makes them; got {np.shape(view.vector)} and "
            f"{np.shape(view.features)}"
        )


def _check_values(items: Sequence[Item], vectors: Floats, features: Floats) -> None:
    """Refuse vectors, (n, d), of another length than 1, and features, (n, f), without a value."""
    lengths = np.linalg.norm(vectors, axis=1)
    is_good = (abs(lengths - 1) <= _LENGTH_TOLERANCE) & np.isfinite(features.sum(axis=1))
    if not is_good.all():
        raise InputError(
            f"the view of item {items[int(is_good.argmin())].id!r} must have a vector of unit "
            "length and finite features; embed it again, or leave the view out"
        )
