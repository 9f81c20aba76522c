"""Gzip-compressed IDX files, the format of MNIST and its relatives."""

from __future__ import annotations

import gzip
import struct
import zlib
from collections.abc import Sequence
from typing import BinaryIO

import numpy as np

from csim.errors import InputError
from csim.records import Images

Labelled = tuple[Images, Images]  # images (n, h, w[, 3]) and labels (n,), both of bytes


def read_pairs(files: Sequence[BinaryIO]) -> Labelled:
    """Return the joined images and labels of files in the order images, labels, images, ..."""
    return join_pairs([(file.read(), file.name) for file in files])


def join_pairs(packed: Sequence[tuple[bytes, str]]) -> Labelled:
    """Return the joined images and labels of contents, each with a file name for errors."""
    images = [unpack(content, 3, origin) for content, origin in packed[::2]]
    labels = [unpack(content, 1, origin) for content, origin in packed[1::2]]
    for index, (part, part_labels) in enumerate(zip(images, labels, strict=True)):
        if len(part) != len(part_labels):
            raise InputError(
                f"{packed[2 * index][1]} has {len(part)} images but {len(part_labels)} labels; "
                "fetch both files again"
            )
    return np.concatenate(images), np.concatenate(labels)


def unpack(packed: bytes, dimensions: int, origin: str) -> Images:
    """Return the array of bytes in a compressed IDX file, read-only.

    Parameters
    ----------
    packed
        The content of the file.
    dimensions
        3 for images, 1 for labels.
    origin
        The name of the file in errors.
    """
    try:
        content = gzip.decompress(packed)
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{origin} is damaged ({error}); fetch it again") from error
    start = 4 * (1 + dimensions)
    magic, *shape = struct.unpack_from(f">{1 + dimensions}I", content.ljust(start, b"\0"))
    if magic != 0x800 + dimensions or len(content) != start + np.prod(shape):
        raise InputError(f"{origin} is not an IDX file of {dimensions} dimensions; fetch it again")
    return np.frombuffer(content, np.uint8, offset=start).reshape(shape)
