"""Convert arrays, a PyTorch data set or loader, or a folder to image arrays and class names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from csim.errors import InputError
from csim.records import Images
from csim.sources import image_folder
from csim.sources.arrays import check_images
from csim.sources.open_picture import make_plain


def load_labelled(source: object, names: Iterable[Any] | None = None) -> tuple[Images, list[str]]:
    """Return labelled images and the class name of each.

    Raises `InputError` unless there are two classes or more, each with at least two images.

    Parameters
    ----------
    source
        Images, together with `names`; or a folder with one subfolder per class; or a PyTorch
        `Dataset` or `DataLoader`, or any sequence, of (image, label) pairs.
    names
        One class name per image. Numbers become text.
    """
    if isinstance(source, str | Path):
        batch, labels = image_folder.read_labelled(source)
        images = check_images(batch)
    elif names is None:
        images, labels = _from_pairs(source)
    else:
        images = check_images(source)
        labels = [_name(label) for label in names]
    if len(images) != len(labels):
        raise InputError(
            f"there must be one name per image, got {len(images)} images and {len(labels)} names; "
            "give as many of both"
        )
    counts = Counter(labels)
    if len(counts) < 2:
        raise InputError(f"there must be at least two classes, got {len(counts)}; add another")
    if lonely := sorted(name for name, count in counts.items() if count < 2):
        raise InputError(
            f"every class needs at least two images; {lonely[0]!r} has one, so add another"
        )
    return images, labels


def load_images(source: object, shape: Sequence[int]) -> Images:
    """Return the images of an array, a folder, a `Dataset` or a `DataLoader`, without labels."""
    if isinstance(source, str | Path):
        return check_images(image_folder.read_images(source), shape)
    if _is_data_set(source):
        return check_images(_from_pairs(source)[0], shape)
    return check_images(source, shape)


def _is_data_set(source: object) -> bool:
    is_array = hasattr(source, "ndim") or isinstance(source, Sequence)
    return not is_array and (hasattr(source, "dataset") or hasattr(source, "__getitem__"))


def _from_pairs(source: Any) -> tuple[Images, list[str]]:  # noqa: ANN401
    is_loader = hasattr(source, "dataset") and hasattr(source, "batch_size")
    pairs = list(source) if is_loader else [source[index] for index in range(_length(source))]
    if not all(isinstance(pair, tuple | list) and len(pair) == 2 for pair in pairs):
        raise InputError(
            "a data set must give (image, label) pairs; for images without labels, pass names too"
        )
    titles = getattr(source.dataset if is_loader else source, "classes", None)
    if is_loader:
        labels = [label for _, batch_labels in pairs for label in batch_labels]
    else:
        labels = [label for _, label in pairs]
    images = [check_images(image if is_loader else [_to_array(image)]) for image, _ in pairs]
    if len({batch.shape[1:] for batch in images}) > 1:
        raise InputError(
            "all images of a data set must have the same shape; resize them in its transform"
        )
    return np.concatenate(images), [_name(label, titles) for label in labels]


def _length(source: Any) -> int:  # noqa: ANN401
    try:
        return len(source)
    except TypeError as error:
        raise InputError(
            "labelled images must be arrays with names, a folder or a data set with a length, "
            f"got {type(source).__name__}; convert them first"
        ) from error


def _to_array(image: Any) -> Any:  # noqa: ANN401
    """Return a Pillow image as an array, anything else unchanged."""
    if not hasattr(image, "convert"):
        return image
    return np.asarray(make_plain(image))


def _name(label: Any, titles: Sequence[str] | None = None) -> str:  # noqa: ANN401
    if hasattr(label, "tolist"):
        label = label.tolist()  # NumPy and torch scalars; an array becomes a list, refused below
    if isinstance(label, bool) or not isinstance(label, str | int):
        raise InputError(
            f"a class name must be text or a whole number, got {label!r}; convert it first"
        )
    if titles is None or isinstance(label, str):
        return str(label)
    if not 0 <= label < len(titles):
        raise InputError(
            f"a label must be an index into the data set's {len(titles)} classes, got {label}; "
            "check its `classes`"
        )
    return str(titles[label])
