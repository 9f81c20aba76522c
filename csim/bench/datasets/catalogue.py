"""The known data sets: what each consists of, and how it is loaded by name.

A data set may be kept in several forms, such as extracted files or the archive they came in. The first form whose files
are all there is read; if there is none, the first that can be downloaded is.
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

from csim.bench.datasets import DataSet, cifar, emnist, own, published
from csim.bench.datasets.digits import digits
from csim.bench.datasets.download import Progress, download
from csim.bench.datasets.files import Places, RemoteFile, cache_folder, data_folder
from csim.bench.datasets.idx import Labelled, read_pairs
from csim.errors import InputError


@dataclass(frozen=True)
class Form:
    """One form in which a data set is kept: the files of a folder, and how they are read."""

    folder: str
    files: tuple[RemoteFile, ...]
    read: Callable[[Sequence[BinaryIO]], Labelled]


@dataclass(frozen=True)
class Entry:
    """A known data set: what its labels stand for, how many images it has, and its forms, the preferred one first."""

    name: str
    titles: tuple[str, ...]
    count: int
    forms: tuple[Form, ...]


ENTRIES = (
    Entry("mnist", published.DIGITS, 70_000, (Form("mnist", published.MNIST_FILES, read_pairs),)),
    Entry(
        "fashion-mnist",
        published.FASHION,
        70_000,
        (Form("fashion-mnist", published.FASHION_FILES, read_pairs),),
    ),
    Entry(
        "emnist-47",
        published.CHARACTERS,
        106_429,
        (Form("emnist-47", published.EMNIST_47_FILES, read_pairs),),
    ),
    Entry(
        "emnist-balanced",
        published.CHARACTERS,
        131_600,
        (
            Form(
                "emnist-balanced",
                tuple(RemoteFile(name) for name in emnist.MEMBERS),
                emnist.from_files,
            ),
            Form("emnist-balanced", (published.EMNIST_ARCHIVE,), emnist.from_archive),
        ),
    ),
    Entry(
        "cifar-10-grey",
        published.OBJECTS,
        60_000,
        (
            Form("cifar-10-grey", published.CIFAR_10_GREY_FILES, read_pairs),
            Form("cifar-10", (published.CIFAR_10_BINARY,), cifar.grey_from_binary),
            Form("cifar-10", (published.CIFAR_10_PYTHON,), cifar.grey_from_python),
        ),
    ),
    Entry(
        "cifar-10",
        published.OBJECTS,
        60_000,
        (
            Form("cifar-10", (published.CIFAR_10_BINARY,), cifar.from_binary),
            Form("cifar-10", (published.CIFAR_10_PYTHON,), cifar.from_python),
        ),
    ),
)
NAMES = (*(entry.name for entry in ENTRIES), "digits")


def load(
    name: str,
    folder: str | Path | None = None,
    *,
    path: str | Path | None = None,
    on_progress: Progress | None = None,
) -> DataSet:
    """Return a data set, train and test images together, the test ones last.

    Parameters
    ----------
    name
        One of `NAMES`; with `path`, anything.
    folder
        The data folder; `CSIM_DATA` if not given.
    path
        A data set of the user's own: an `.npz` with `images` and `labels`, or a folder with a subfolder per class.
    on_progress
        Called during a download with the file's name, the bytes done and the bytes in all, if known.
    """
    if path is not None:
        return own.read(name, path)
    if name not in NAMES:
        known = ", ".join(NAMES)
        raise InputError(
            f"the data set must be one of {known}, or a path to your own; got {name!r}{nearest(name, NAMES)}"
        )
    if name == "digits":
        return digits()
    roots = (Path(folder) if folder is not None else data_folder(), cache_folder())
    entry = next(entry for entry in ENTRIES if entry.name == name)
    return read(entry, Places(roots, partial(download, on_progress=on_progress)))


def read(entry: Entry, places: Places) -> DataSet:
    """Return a data set from wherever its files are."""
    form = _choose(entry, places)
    is_complete = _is_complete(form, places)
    try:
        with ExitStack() as opened:
            files = [opened.enter_context(places.open(form.folder, file)) for file in form.files]
            images, labels = form.read(files)
    except InputError as error:
        others = [_described(other, places) for other in entry.forms if other is not form]
        if is_complete or not others:
            raise
        raise InputError(f"{error}. Instead of it will do: {'; '.join(others)}") from error
    where = places.find(form.folder, form.files[0])
    if len(images) != entry.count:
        raise InputError(
            f"{entry.name} has {entry.count:,} images, but {where} holds {len(images):,}; fetch it again"
        )
    if (highest := int(labels.max(initial=0))) >= len(entry.titles):
        raise InputError(
            f"{entry.name} has {len(entry.titles)} classes, but a label of {where} is {highest}"
        )
    return DataSet(entry.name, images, np.array(entry.titles, object)[labels].tolist())


def nearest(name: str, names: Sequence[str]) -> str:
    """Return what to add to the refusal of a name: the names that it may have been meant to be, or nothing.

    >>> nearest("Fashion_MNIST", NAMES)
    '; did you mean fashion-mnist?'
    >>> nearest("x", NAMES)
    ''
    """
    near = difflib.get_close_matches(name.lower(), names)
    return f"; did you mean {' or '.join(near)}?" if near else ""


def _choose(entry: Entry, places: Places) -> Form:
    for form in entry.forms:
        if _is_complete(form, places):
            return form
    for form in entry.forms:
        if all(file.addresses or places.find(form.folder, file) for file in form.files):
            return form
    return entry.forms[0]


def _is_complete(form: Form, places: Places) -> bool:
    return all(places.find(form.folder, file) for file in form.files)


def _described(form: Form, places: Places) -> str:
    return f"{' and '.join(file.name for file in form.files)} in {places.roots[0] / form.folder}"
