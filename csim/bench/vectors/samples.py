"""Which images a network learns from, and which it is judged by."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from csim.bench.datasets import DataSet
from csim.errors import InputError
from csim.records import Images, Ints


def cut(data: DataSet, last: int) -> tuple[DataSet, DataSet]:
    """Cut the last images off, the official test ones; return the others and them."""
    places = np.arange(len(data.names))
    return _subset(data, places[:-last]), _subset(data, places[-last:])


def hold_out(data: DataSet, per_class: int, seed: int) -> tuple[DataSet, DataSet]:
    """Draw images of every class to validate with; return the others and them.

    Raising `per_class` measures more exactly and leaves fewer to learn from.
    """
    rng, names = np.random.default_rng(seed), np.array(data.names)
    held = np.concatenate(
        [rng.permutation(np.flatnonzero(names == name))[:per_class] for name in np.unique(names)]
    )
    return _subset(data, np.setdiff1d(np.arange(len(names)), held)), _subset(data, held)


def examples(
    data: DataSet, classes: Sequence[str], per_class: int, seed: int
) -> tuple[Images, Ints]:
    """Draw images of some classes; return them and the place of each one's class in `classes`."""
    rng, names = np.random.default_rng(seed), np.array(data.names)
    own = [rng.permutation(np.flatnonzero(names == name))[:per_class] for name in classes]
    if scarce := [
        name for name, places in zip(classes, own, strict=True) if len(places) < per_class
    ]:
        raise InputError(
            f"{data.name} must have {per_class} images of every class; {scarce[0]!r} has fewer"
        )
    return data.images[np.concatenate(own)], np.repeat(np.arange(len(own)), per_class)


def columns_of(names: Sequence[str], classes: Sequence[str]) -> Ints:
    """Return the place of each name in `classes`, -1 for one that is not there.

    >>> columns_of(["b", "c", "a"], ["a", "b"])
    array([ 1, -1,  0])
    """
    place = {name: index for index, name in enumerate(classes)}
    return np.array([place.get(name, -1) for name in names], np.int64)


def _subset(data: DataSet, places: Ints) -> DataSet:
    return DataSet(data.name, data.images[places], [data.names[place] for place in places])
