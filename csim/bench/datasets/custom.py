"""Your data sets: an `.npz` with `images` and `labels`, or a folder with a subfolder per class."""

from __future__ import annotations

import zipfile
import zlib
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from csim.ask.catalogue import clean_labels
from csim.bench.datasets import DataSet
from csim.bench.datasets.download import Progress
from csim.errors import InputError
from csim.sources.load_images import load_labelled

_EXPECTED = (
    "give an .npz with `images` and `labels`, or a folder with a subfolder of images per class"
)
_SIZE_IF_MIXED = (64, 64)  # as `csim init`
_DAMAGED_FILE_ERRORS = (
    ValueError,
    zipfile.BadZipFile,
    zlib.error,
    OSError,
    EOFError,
    NotImplementedError,
    RuntimeError,
    MemoryError,
)


def read(
    name: str,
    path: str | Path,
    size: tuple[int, ...] | None = None,
    *,
    on_progress: Progress | None = None,
) -> DataSet:
    """Return the labelled images of a file or folder, in the order they are stored in.

    Parameters
    ----------
    name
        Name of the data set.
    path
        An `.npz` or a folder. The `.npz` holds `images` of whole numbers 0..255, (n, h, w) or
        (n, h, w, 3), and `labels`, (n,), of whole numbers or text. The folder holds a subfolder
        per class.
    size
        Height and width to resize all images to, (h, w), or (h, w, 3) to make them RGB too. Higher
        keeps finer detail but takes longer. None leaves images of one size as they are, and makes
        those of a folder 64×64 if they differ, as `csim init` does.
    on_progress
        Called after each image of a folder.
    """
    path = Path(path)
    if not path.exists():
        raise InputError(f"{path} does not exist; {_EXPECTED}")
    if path.is_file() and path.suffix.lower() != ".npz":
        raise InputError(f"{path} must be an .npz or a folder; {_EXPECTED}")
    try:
        arrays = (path,) if path.is_dir() else _arrays(path)
        images, names = load_labelled(
            *arrays,
            resize_to=size,
            size_if_mixed=_SIZE_IF_MIXED,
            on_image=partial(_tell, on_progress, str(path)) if on_progress else None,
        )
        labels = clean_labels(names)
    except InputError as error:
        raise InputError(f"{path} cannot be used as a data set: {error}") from error
    return DataSet(name, images, labels)


def _tell(on_progress: Progress, name: str, done: int, total: int) -> None:
    on_progress(name, done, total, "images")


def _arrays(path: Path) -> tuple[npt.NDArray[Any], list[Any]]:
    """Return the two arrays of an `.npz`, without ever opening a pickle in it."""
    if not zipfile.is_zipfile(path):
        raise InputError("it is not a complete .npz; save it with np.savez")
    try:
        with np.load(path, allow_pickle=False) as stored:
            held = list(stored)
            arrays = [np.asarray(stored[key]) for key in ("images", "labels") if key in held]
    except _DAMAGED_FILE_ERRORS as error:
        raise InputError(
            f"it is not an .npz of plain arrays ({error}); save it again with np.savez"
        ) from error
    if len(arrays) < 2:
        raise InputError(
            f"it must hold the arrays images and labels; it holds {', '.join(held) or 'none'}"
        )
    images, labels = arrays
    if images.dtype.kind not in "ui":
        raise InputError(
            f"images must be whole numbers 0..255, got {images.dtype}; "
            "scale and round them to uint8"
        )
    if labels.ndim != 1 or labels.dtype.kind not in "uiU":
        raise InputError(
            f"labels must be (n,) whole numbers or text, got {labels.dtype} of shape {labels.shape}"
        )
    return images, labels.tolist()
