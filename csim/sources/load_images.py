"""Convert arrays, a PyTorch data set or loader, or a folder to image arrays and class names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from csim.errors import InputError
from csim.records import Images
from csim.sources import image_folder
from csim.sources.arrays import check_batches, check_images, check_size
from csim.sources.open_picture import make_plain
from csim.sources.resize import to_array


def load_labelled(
    source: object,
    names: Iterable[Any] | None = None,
    *,
    resize_to: tuple[int, ...] | None = None,
    size_if_mixed: tuple[int, int] | None = None,
    on_image: image_folder.OnImage | None = None,
) -> tuple[Images, list[str]]:
    """Return labelled images and the class name of each, as it was given.

    Parameters
    ----------
    source
        Images, together with `names`; or a folder with one subfolder per class; or a PyTorch
        `Dataset` or `DataLoader`, or any sequence, of (image, label) pairs.
    names
        One class name per image. Numbers become text.
    resize_to
        The size to give all images, (h, w), or (h, w, 3) to make them RGB too. None takes images of
        one shape as they are.
    size_if_mixed
        Height and width for the images of a folder if they differ and `resize_to` is None.
    on_image
        Called after each image of a folder with how many are read, and how many there are.
    """
    if isinstance(source, str | Path):
        size = None if resize_to is None else (resize_to[0], resize_to[1])
        images, labels = image_folder.read_labelled(
            source, size, size_if_mixed=size_if_mixed, on_image=on_image
        )
        images = _reshaped(images, resize_to)
    elif names is None:
        images, labels = _from_pairs(source, resize_to)
    else:
        images = _reshaped(source, resize_to)
        labels = [_name(label) for label in names]
    if len(images) != len(labels):
        raise InputError(
            f"there must be one name per image, got {len(images)} images and {len(labels)} names; "
            "give as many of both"
        )
    if len(images):
        check_size(*images.shape[1:3])
    return images, labels


def load_images(
    source: object, shape: Sequence[int], *, resize_to: tuple[int, ...] | None = None
) -> Images:
    """Return the images of an array, a folder, a `Dataset` or a `DataLoader`, without labels.

    They must have the shape, or get it if `resize_to` is given too.
    """
    if isinstance(source, str | Path):
        size = None if resize_to is None else (resize_to[0], resize_to[1])
        images = _reshaped(image_folder.read_images(source, size), resize_to)
    elif _is_data_set(source):
        images = _from_pairs(source, resize_to)[0]
    else:
        return check_images(source if resize_to is None else _reshaped(source, resize_to), shape)
    return check_images(images, shape)


def _reshaped(images: Any, shape: tuple[int, ...] | None) -> Images:  # noqa: ANN401
    """Return images as a batch, each resized to a shape if one is given."""
    if shape is None:
        return check_images(images)
    if hasattr(images, "ndim"):  # one array, or a tensor, whose images are all of one shape
        batch = check_images(images)
        return batch if batch.shape[1:] == shape else _resized(list(batch), shape)
    singles = check_batches([[_to_array(image)] for image in images])
    return _resized([single[0] for single in singles], shape)


def _batches(batches: Sequence[object], shape: tuple[int, ...] | None) -> list[Images]:
    """Return batches of images, each resized to a shape if one is given."""
    checked = check_batches(batches)
    return checked if shape is None else [_resized(list(batch), shape) for batch in checked]


def _resized(images: list[Images], shape: tuple[int, ...]) -> Images:
    if len(shape) == 2 and any(image.ndim == 3 for image in images):
        shape = (*shape, 3)
    resized = [
        image if image.shape == shape else to_array(Image.fromarray(image), shape)
        for image in images
    ]
    return np.stack(resized) if resized else np.zeros((0, *shape), np.uint8)


def _is_data_set(source: object) -> bool:
    is_array = hasattr(source, "ndim") or isinstance(source, Sequence)
    return not is_array and (hasattr(source, "dataset") or hasattr(source, "__getitem__"))


def _from_pairs(
    source: Any,  # noqa: ANN401
    resize_to: tuple[int, ...] | None = None,
) -> tuple[Images, list[str]]:
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
    images = _batches([image if is_loader else [_to_array(image)] for image, _ in pairs], resize_to)
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
