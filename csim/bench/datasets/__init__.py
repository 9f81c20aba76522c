"""Data sets: labelled images by name.

`catalogue.load` is the door: it finds, checks or downloads the files of a known one, or reads one of the user's own.
"""

from __future__ import annotations

from dataclasses import dataclass

from csim.errors import InputError
from csim.records import Images


@dataclass(frozen=True)
class DataSet:
    """Images, (n, h, w[, 3]), and the name of each one's class."""

    name: str
    images: Images
    names: list[str]

    def __post_init__(self) -> None:
        if len(self.images) != len(self.names):
            raise InputError(
                f"{self.name} has {len(self.images)} images but {len(self.names)} names"
            )


def thin(data: DataSet, every: int) -> DataSet:
    """Return every K-th image, the first one first, over train and test alike.

    Parameters
    ----------
    data
        What to thin.
    every
        K, from 1 up. Raising it leaves fewer images: runs get quicker and figures less exact.

    Examples
    --------
    >>> import numpy as np
    >>> thin(DataSet("birds", np.zeros((5, 8, 8), np.uint8), ["heron", "crane", "ibis", "stork", "egret"]), 2).names
    ['heron', 'ibis', 'egret']
    """
    if every < 1:
        raise InputError(f"every must be 1 (all images) or more, got {every}")
    return DataSet(data.name, data.images[::every], data.names[::every])
