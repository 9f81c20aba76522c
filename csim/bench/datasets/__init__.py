"""Data sets: labelled images by name.

Use `catalogue.load`. It finds, checks or downloads the files of a known data set, or reads a data
set of yours.
"""

from __future__ import annotations

from dataclasses import dataclass

from csim.errors import InputError
from csim.records import Images


@dataclass(frozen=True)
class DataSet:
    """Hold images, (n, h, w[, 3]), and the class name of each."""

    name: str
    images: Images
    names: list[str]

    def __post_init__(self) -> None:
        if len(self.images) != len(self.names):
            raise InputError(
                f"every image must have a class name; {self.name} has {len(self.images)} images "
                f"but {len(self.names)} names"
            )


def thin(data: DataSet, every: int) -> DataSet:
    """Return every K-th image of a data set, starting with the first.

    Parameters
    ----------
    data
        The data set; train and test images are thinned alike.
    every
        K, at least 1. Higher keeps fewer images, so that runs are faster and figures less exact.

    Examples
    --------
    >>> import numpy as np
    >>> names = ["heron", "crane", "ibis", "stork", "egret"]
    >>> thin(DataSet("birds", np.zeros((5, 8, 8), np.uint8), names), 2).names
    ['heron', 'ibis', 'egret']
    """
    if every < 1:
        raise InputError(f"every must be 1 (all images) or more, got {every}")
    return DataSet(data.name, data.images[::every], data.names[::every])
