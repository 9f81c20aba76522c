"""Gzip-compressed IDX files, the format of MNIST and its relatives, from the data folder.

The folder is `CSIM_DATA` or given; a data set is a folder of its name in it.
"""

from __future__ import annotations

import gzip
import os
import struct
import zlib
from pathlib import Path

import numpy as np

from csim.bench.datasets import DataSet
from csim.errors import InputError
from csim.records import Images

_TITLES = {
    "fashion-mnist": [
        "T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot",
    ],
    "mnist": [str(digit) for digit in range(10)],
}  # fmt: skip
_PARTS = ("train", "t10k")


def load(name: str, folder: Path | None = None) -> DataSet:
    """Return MNIST or Fashion-MNIST, train and test images together, the 10,000 test images last.

    Parameters
    ----------
    name
        `mnist` or `fashion-mnist`.
    folder
        The data folder; `CSIM_DATA` if not given.
    """
    if name not in _TITLES:
        raise InputError(f"the data set must be one of {', '.join(sorted(_TITLES))}; got {name!r}")
    root = (folder or data_folder()) / name
    images = [_read(root / f"{part}-images-idx3-ubyte.gz", 3) for part in _PARTS]
    labels = [_read(root / f"{part}-labels-idx1-ubyte.gz", 1) for part in _PARTS]
    if (highest := max(part.max(initial=0) for part in labels)) >= len(_TITLES[name]):
        raise InputError(f"{name} has {len(_TITLES[name])} classes, but a label in {root} is {highest}; fetch it again")
    return DataSet(name, np.concatenate(images), [_TITLES[name][label] for label in np.concatenate(labels)])


def data_folder() -> Path:
    """Return the folder that `CSIM_DATA` names."""
    if not (folder := os.environ.get("CSIM_DATA")):
        raise InputError("where the data sets are is not known; set CSIM_DATA to their folder, or pass --data-dir")
    return Path(folder)


def _read(path: Path, dimensions: int) -> Images:
    try:
        content = gzip.decompress(path.read_bytes())
    except FileNotFoundError as error:
        raise InputError(f"{path} is missing; put the file there, or set CSIM_DATA to where it is") from error
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{path} is damaged ({error}); fetch it again") from error
    start = 4 * (1 + dimensions)
    magic, *shape = struct.unpack_from(f">{1 + dimensions}I", content.ljust(start, b"\0"))
    if magic != 0x800 + dimensions or len(content) != start + np.prod(shape):
        raise InputError(f"{path} is not an IDX file of {dimensions} dimensions; fetch it again")
    return np.frombuffer(content, np.uint8, offset=start).reshape(shape)
