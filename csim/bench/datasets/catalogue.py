"""The known data sets by name: their files, and how to load them.

A data set may have several variants, such as extracted files or the archive they came in. csim
reads the first variant whose files are complete. If there is none, it downloads the first variant
that has addresses.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import BinaryIO

import numpy as np

from csim.bench.datasets import DataSet, cifar, custom, emnist, photos, published
from csim.bench.datasets.digits import digits
from csim.bench.datasets.download import Progress, download
from csim.bench.datasets.files import DataFolders, RemoteFile, cache_folder, data_folder
from csim.bench.datasets.idx import Labelled, read_pairs
from csim.errors import InputError


@dataclass(frozen=True)
class Variant:
    """Describe one variant of a data set: the files of a folder, and how to read them."""

    folder: str
    files: tuple[RemoteFile, ...]
    read: Callable[[Sequence[BinaryIO]], Labelled]


@dataclass(frozen=True)
class Entry:
    """Describe a known data set: its class names by label, its size, and its variants in order."""

    name: str
    class_names: tuple[str, ...]
    count: int
    variants: tuple[Variant, ...]


ENTRIES = (
    Entry(
        "mnist", published.DIGITS, 70_000, (Variant("mnist", published.MNIST_FILES, read_pairs),)
    ),
    Entry(
        "fashion-mnist",
        published.FASHION,
        70_000,
        (Variant("fashion-mnist", published.FASHION_FILES, read_pairs),),
    ),
    Entry(
        "emnist-47",
        published.CHARACTERS,
        106_429,
        (Variant("emnist-47", published.EMNIST_47_FILES, read_pairs),),
    ),
    Entry(
        "emnist-balanced",
        published.CHARACTERS,
        131_600,
        (
            Variant(
                "emnist-balanced",
                tuple(RemoteFile(name) for name in emnist.MEMBERS),
                emnist.from_files,
            ),
            Variant("emnist-balanced", (published.EMNIST_ARCHIVE,), emnist.from_archive),
        ),
    ),
    Entry(
        "cifar-10-grey",
        published.OBJECTS,
        60_000,
        (
            Variant("cifar-10-grey", published.CIFAR_10_GREY_FILES, read_pairs),
            Variant("cifar-10", (published.CIFAR_10_BINARY,), cifar.grey_from_binary),
            Variant("cifar-10", (published.CIFAR_10_PYTHON,), cifar.grey_from_python),
        ),
    ),
    Entry(
        "cifar-10",
        published.OBJECTS,
        60_000,
        (
            Variant("cifar-10", (published.CIFAR_10_BINARY,), cifar.from_binary),
            Variant("cifar-10", (published.CIFAR_10_PYTHON,), cifar.from_python),
        ),
    ),
)
NAMES = (*(entry.name for entry in ENTRIES), "digits", *photos.NAMES)


def load(
    name: str,
    folder: str | Path | None = None,
    *,
    path: str | Path | None = None,
    size: tuple[int, ...] | None = None,
    on_progress: Progress | None = None,
) -> DataSet:
    """Load a data set: the train images, then the test images.

    Parameters
    ----------
    name
        One of `NAMES`; with `path`, any name.
    folder
        The data folder; `CSIM_DATA` if not given.
    path
        A data set of yours: an `.npz` with `images` and `labels`, or a folder with a subfolder per
        class.
    size
        Of photographs and of the images of `path`; as for `custom.read`. Others have one size.
    on_progress
        Called during a download with the file name, the bytes done, and the total if known; and
        after each image of a folder.
    """
    if path is not None:
        return custom.read(name, path, size, on_progress=on_progress)
    if name not in NAMES:
        known = ", ".join(NAMES)
        raise InputError(
            f"the data set must be one of {known}, or a path to your own; got {name!r}"
            f"{did_you_mean(name, NAMES)}"
        )
    if name == "digits":
        return digits()
    roots = (Path(folder) if folder is not None else data_folder(), cache_folder())
    folders = DataFolders(roots, partial(download, on_progress=on_progress))
    if name in photos.NAMES:
        return photos.load(
            photos.SETS[photos.NAMES.index(name)], folders, size, on_progress=on_progress
        )
    return read(next(entry for entry in ENTRIES if entry.name == name), folders)


def read(entry: Entry, folders: DataFolders) -> DataSet:
    """Read a data set from the data folders. Download its files if they are missing."""
    variant = _choose(entry, folders)
    is_complete = _is_complete(variant, folders)
    try:
        with ExitStack() as stack:
            files = [
                stack.enter_context(folders.open(variant.folder, file)) for file in variant.files
            ]
            images, labels = variant.read(files)
    except InputError as error:
        others = [_describe(other, folders) for other in entry.variants if other is not variant]
        if is_complete or not others:
            raise
        raise InputError(f"{error}. You can use instead: {'; '.join(others)}") from error
    path = folders.find(variant.folder, variant.files[0])
    if len(images) != entry.count:
        raise InputError(
            f"{entry.name} has {entry.count:,} images, but {path} holds {len(images):,}; "
            "fetch it again"
        )
    if (highest := int(labels.max(initial=0))) >= len(entry.class_names):
        raise InputError(
            f"{entry.name} has {len(entry.class_names)} classes, but {path} holds label {highest}; "
            "fetch it again"
        )
    return DataSet(entry.name, images, np.array(entry.class_names, object)[labels].tolist())


def did_you_mean(name: str, names: Sequence[str]) -> str:
    """Return the end of an error about an unknown name: the closest names, or nothing.

    >>> did_you_mean("Fashion_MNIST", NAMES)
    '; did you mean fashion-mnist?'
    >>> did_you_mean("x", NAMES)
    ''
    """
    near = difflib.get_close_matches(name.lower(), names)
    return f"; did you mean {' or '.join(near)}?" if near else ""


def _choose(entry: Entry, folders: DataFolders) -> Variant:
    for variant in entry.variants:
        if _is_complete(variant, folders):
            return variant
    for variant in entry.variants:
        if all(file.addresses or folders.find(variant.folder, file) for file in variant.files):
            return variant
    return entry.variants[0]


def _is_complete(variant: Variant, folders: DataFolders) -> bool:
    return all(folders.find(variant.folder, file) for file in variant.files)


def _describe(variant: Variant, folders: DataFolders) -> str:
    names = " and ".join(file.name for file in variant.files)
    return f"{names} in {folders.roots[0] / variant.folder}"
