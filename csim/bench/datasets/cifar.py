"""CIFAR-10 as its authors publish it, in either archive: five train batches, then the test batch.

The binary archive holds records of one label byte and 3,072 pixel bytes. The Python archive holds
pickles of the same. Members are read in memory; their folders in the archive do not matter. The
unpickler builds arrays of bytes and nothing else.
"""

from __future__ import annotations

import io
import pickle
import tarfile
import zlib
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Any, BinaryIO

import numpy as np

from csim.bench.datasets.idx import Labelled
from csim.errors import InputError
from csim.records import Images

BATCHES = (*(f"data_batch_{number}" for number in range(1, 6)), "test_batch")
SIDE = 32
_PIXELS = 3 * SIDE * SIDE
_BLOCK_IMAGES = 5000  # converted to grey at a time; as floats they are eight times as large
_DAMAGED_PICKLE_ERRORS = (
    pickle.UnpicklingError,
    EOFError,
    AttributeError,
    ImportError,
    LookupError,
    TypeError,
    ValueError,
    ArithmeticError,
    MemoryError,
)
_RECONSTRUCT = np.empty(0).__reduce__()[0]  # the function that a pickle of an array calls first


def from_binary(files: Sequence[BinaryIO]) -> Labelled:
    """Return the images, (n, 32, 32, 3), and labels of `cifar-10-binary.tar.gz`."""
    (file,) = files
    batches = []
    for name, content in _members(file, [f"{batch}.bin" for batch in BATCHES]):
        if not content or len(content) % (1 + _PIXELS):
            raise InputError(
                f"{name} in {file.name} must hold records of {1 + _PIXELS:,} bytes; fetch it again"
            )
        batches.append(np.frombuffer(content, np.uint8).reshape(-1, 1 + _PIXELS))
    records = np.concatenate(batches)
    return _channels_last(records[:, 1:]), records[:, 0].copy()


def from_python(files: Sequence[BinaryIO]) -> Labelled:
    """Return the images, (n, 32, 32, 3), and labels of `cifar-10-python.tar.gz`."""
    (file,) = files
    batches = [
        _unpickle(content, f"{name} in {file.name}") for name, content in _members(file, BATCHES)
    ]
    images = np.concatenate([images for images, _ in batches])
    return _channels_last(images), np.concatenate([labels for _, labels in batches])


def to_grey(colour: Labelled) -> Labelled:
    """Convert the images to grey: round(0.299 R + 0.587 G + 0.114 B), the luma of BT.601."""
    images, labels = colour
    grey = np.empty(images.shape[:3], np.uint8)
    for start in range(0, len(images), _BLOCK_IMAGES):
        red, green, blue = np.moveaxis(images[start : start + _BLOCK_IMAGES], 3, 0)
        grey[start : start + _BLOCK_IMAGES] = np.rint(0.299 * red + 0.587 * green + 0.114 * blue)
    return grey, labels


def grey_from_binary(files: Sequence[BinaryIO]) -> Labelled:
    """Return the images of `cifar-10-binary.tar.gz` in grey, (n, 32, 32), and their labels."""
    return to_grey(from_binary(files))


def grey_from_python(files: Sequence[BinaryIO]) -> Labelled:
    """Return the images of `cifar-10-python.tar.gz` in grey, (n, 32, 32), and their labels."""
    return to_grey(from_python(files))


def _members(file: BinaryIO, names: Sequence[str]) -> list[tuple[str, bytes]]:
    contents = {}
    try:
        with tarfile.open(fileobj=file, mode="r:gz") as archive:
            for member in archive:
                name = PurePosixPath(member.name).name
                if member.isreg() and name in names and (stream := archive.extractfile(member)):
                    contents[name] = stream.read()
    except (tarfile.TarError, zlib.error, EOFError, OSError) as error:
        raise InputError(f"{file.name} is damaged ({error}); fetch it again") from error
    if missing := [name for name in names if name not in contents]:
        raise InputError(f"{file.name} must hold {missing[0]}, which is missing; fetch it again")
    return [(name, contents[name]) for name in names]


def _channels_last(pixels: Images) -> Images:
    return np.ascontiguousarray(pixels.reshape(-1, 3, SIDE, SIDE).transpose(0, 2, 3, 1))


class _ArrayUnpickler(pickle.Unpickler):
    """Build plain values and NumPy arrays; refuse every other class and function."""

    def find_class(self, module: str, name: str) -> Any:  # noqa: ANN401
        if name == "_reconstruct" and module in ("numpy.core.multiarray", "numpy._core.multiarray"):
            return _RECONSTRUCT
        if module == "numpy" and name in ("ndarray", "dtype"):
            return getattr(np, name)
        raise pickle.UnpicklingError(f"{module}.{name} is not allowed in it")


def _unpickle(content: bytes, origin: str) -> Labelled:
    try:
        batch = _ArrayUnpickler(io.BytesIO(content), encoding="bytes").load()
        images = np.asarray(batch[b"data"])
        labels = np.asarray(batch[b"labels"])
    except _DAMAGED_PICKLE_ERRORS as error:
        raise InputError(
            f"{origin} is not a batch of CIFAR-10 ({error}); fetch it again"
        ) from error
    if images.dtype != np.uint8 or images.ndim != 2 or images.shape[1] != _PIXELS:
        raise InputError(
            f"{origin} must hold rows of {_PIXELS:,} bytes, got {images.dtype} {images.shape}; "
            "fetch it again"
        )
    if (
        labels.dtype.kind != "i"
        or labels.shape != images.shape[:1]
        or not ((labels >= 0) & (labels < 256)).all()
    ):
        raise InputError(f"{origin} must hold a label of 0 to 255 per image; fetch it again")
    return images, labels.astype(np.uint8)
