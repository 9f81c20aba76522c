"""EMNIST Balanced as NIST publishes it: IDX files of transposed images in an archive."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import BinaryIO

import numpy as np

from csim.bench.datasets.idx import Labelled, join_pairs, read_pairs
from csim.errors import InputError

MEMBERS = tuple(
    f"emnist-balanced-{part}-{kind}-ubyte.gz"
    for part in ("train", "test")
    for kind in ("images-idx3", "labels-idx1")
)


def from_files(files: Sequence[BinaryIO]) -> Labelled:
    """Return the upright images and the labels of the four extracted files.

    `files` must be in the order of `MEMBERS`.
    """
    return _upright(read_pairs(files))


def from_archive(files: Sequence[BinaryIO]) -> Labelled:
    """Return the upright images and the labels of the archive.

    The members are read in memory. Their folders in the archive do not matter.
    """
    (file,) = files
    try:
        with zipfile.ZipFile(file) as archive:
            found = {PurePosixPath(member).name: member for member in archive.namelist()}
            if missing := [name for name in MEMBERS if name not in found]:
                raise InputError(
                    f"{file.name} must hold {missing[0]}, which is missing; fetch it again"
                )
            packed = [(archive.read(found[name]), f"{name} in {file.name}") for name in MEMBERS]
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise InputError(f"{file.name} is damaged ({error}); fetch it again") from error
    return _upright(join_pairs(packed))


def _upright(stored: Labelled) -> Labelled:
    images, labels = stored
    return np.ascontiguousarray(images.transpose(0, 2, 1)), labels
