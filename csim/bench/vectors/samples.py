"""Samples: the images that a network learns from, and those that it is tested on."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from csim.bench.datasets import DataSet
from csim.errors import InputError
from csim.records import Images, Ints


def cut(data: DataSet, last: int) -> tuple[DataSet, DataSet]:
    """Return a data set without its last images, and those: the official test images.

    Higher `last` leaves fewer images to learn from.
    """
    indices = np.arange(len(data.names))
    return _subset(data, indices[:-last]), _subset(data, indices[-last:])


def hold_out(data: DataSet, per_class: int, seed: int) -> tuple[DataSet, DataSet]:
    """Draw images of every class for validation; return the other images, and these.

    Higher `per_class` measures more exactly and leaves fewer to learn from.
    """
    rng = np.random.default_rng(seed)
    names = np.array(data.names)
    held = np.concatenate(
        [rng.permutation(np.flatnonzero(names == name))[:per_class] for name in np.unique(names)]
    )
    return _subset(data, np.setdiff1d(np.arange(len(names)), held)), _subset(data, held)


def examples(
    data: DataSet, classes: Sequence[str], per_class: int, seed: int
) -> tuple[Images, Ints]:
    """Draw images of some classes; return them and the index of each one's class in `classes`.

    Higher `per_class` draws more images of each class.
    """
    rng = np.random.default_rng(seed)
    names = np.array(data.names)
    drawn = [rng.permutation(np.flatnonzero(names == name))[:per_class] for name in classes]
    if scarce := [
        name for name, indices in zip(classes, drawn, strict=True) if len(indices) < per_class
    ]:
        raise InputError(
            f"{data.name} must have {per_class} images of every class; {scarce[0]!r} has fewer, so "
            "ask for fewer"
        )
    return data.images[np.concatenate(drawn)], np.repeat(np.arange(len(drawn)), per_class)


def columns_of(names: Sequence[str], classes: Sequence[str]) -> Ints:
    """Return the index of each name in `classes`, -1 for a name that is not there.

    >>> columns_of(["b", "c", "a"], ["a", "b"])
    array([ 1, -1,  0])
    """
    index_of = {name: index for index, name in enumerate(classes)}
    return np.array([index_of.get(name, -1) for name in names], np.int64)


def _subset(data: DataSet, indices: Ints) -> DataSet:
    return DataSet(data.name, data.images[indices], [data.names[index] for index in indices])
