"""Whatever a user has (arrays, a PyTorch data set or loader, a folder) as arrays and names."""

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


def take_labelled(source: object, names: Iterable[Any] | None = None) -> tuple[Images, list[str]]:
    """Return labelled images and their class names, checked against each other.

    Parameters
    ----------
    source
        Images, with `names` beside them; or a folder with a subfolder per class; or a PyTorch `Dataset` or
        `DataLoader`, or any sequence, of (image, label) pairs.
    names
        One class name per image; numbers become text.
    """
    if isinstance(source, str | Path):
        batch, labels = image_folder.read_labelled(source)
        images = check_images(batch)
    elif names is None:
        images, labels = _from_pairs(source)
    else:
        images, labels = check_images(source), [_name(label) for label in names]
    if len(images) != len(labels):
        raise InputError(
            f"there must be one name per image; got {len(images)} images and {len(labels)} names"
        )
    counts = Counter(labels)
    if len(counts) < 2:
        raise InputError(f"at least two classes are needed to tell apart, got {len(counts)}")
    if lonely := sorted(name for name, count in counts.items() if count < 2):
        raise InputError(f"every class needs at least two images; {lonely[0]!r} has one")
    return images, labels


def take_images(source: object, shape: Sequence[int]) -> Images:
    """Return images of a stream, whatever their labels: an array, a folder, a `Dataset` or a `DataLoader`."""
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
            "a data set must give (image, label) pairs; pass names beside images that have none"
        )
    titles = getattr(source.dataset if is_loader else source, "classes", None)
    labels = (
        [label for _, own in pairs for label in own] if is_loader else [label for _, label in pairs]
    )
    images = [check_images(image if is_loader else [_picture(image)]) for image, _ in pairs]
    if len({batch.shape[1:] for batch in images}) > 1:
        raise InputError(
            "all images of a data set must have one shape; resize them in its transform"
        )
    return np.concatenate(images), [_name(label, titles) for label in labels]


def _length(source: Any) -> int:  # noqa: ANN401
    try:
        return len(source)
    except TypeError as error:
        raise InputError(
            f"labelled images must come as arrays with names, a folder or a data set; got {type(source).__name__}"
        ) from error


def _picture(image: Any) -> Any:  # noqa: ANN401
    """Return a Pillow image as an array, anything else as it is."""
    if not hasattr(image, "convert"):
        return image
    return np.asarray(make_plain(image))


def _name(label: Any, titles: Sequence[str] | None = None) -> str:  # noqa: ANN401
    if hasattr(label, "tolist"):
        label = (
            label.tolist()
        )  # of NumPy and torch alike; a list, which is then refused, if it was not one number
    if isinstance(label, bool) or not isinstance(label, str | int):
        raise InputError(f"a class name must be text or a whole number, got {label!r}")
    if titles is None or isinstance(label, str):
        return str(label)
    if not 0 <= label < len(titles):
        raise InputError(
            f"labels must be places in the data set's {len(titles)} classes, got {label}"
        )
    return str(titles[label])
