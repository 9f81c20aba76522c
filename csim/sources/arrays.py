"""Convert images to one array form.

csim works on uint8 batches of values 0 to 255: (n, h, w) for grey and (n, h, w, 3) for RGB, at
least 8×8 pixels. `check_images` accepts NumPy arrays, or lists of them, of any number type if their
values lie in 0..255. PyTorch tensors follow PyTorch's convention: channels first, and values of
0..1 if they are floating-point. Anything else raises an `InputError`.

NumPy has no such convention, so floating-point arrays whose largest value is at most 1 are refused,
and so are arrays of true and false. Taken as 0..255 they would be black, and no error would follow.
The largest value of the whole input counts, so one dark image among others is fine.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from csim.errors import InputError
from csim.records import Images

MIN_SIDE = 8  # pixels
MAX_STREAM_PIXELS = 512 * 512  # per image of a stream: its network then has 100 million weights
_NO_BOOLEANS = (
    "pixel values must be numbers of 0 to 255, got true and false; convert them: "
    "images.astype(np.uint8) * 255"
)


def check_images(images: object, shape: Sequence[int] | None = None) -> Images:
    """Return images as a uint8 batch, or raise an `InputError` that says what is wrong.

    Parameters
    ----------
    images
        An array or tensor of one image per first index, or a sequence of single images.
    shape
        The shape that each image must have, (h, w) or (h, w, 3). None accepts any.

    Examples
    --------
    >>> check_images(np.zeros((2, 8, 8, 1))).shape
    (2, 8, 8)
    >>> check_images(np.full((1, 8, 8), 300.0))
    Traceback (most recent call last):
        ...
    csim.errors.InputError: pixel values must lie between 0 and 255, got 300 to 300; scale them
    """
    return check_batches([images], shape)[0]


def check_batches(batches: Sequence[object], shape: Sequence[int] | None = None) -> list[Images]:
    """Return each of several batches of one input as `check_images` does."""
    arrays = [_to_array(images) for images in batches]
    _check_scale([a for a, images in zip(arrays, batches, strict=True) if not _is_tensor(images)])
    return [_to_batch(array, shape) for array in arrays]


def _to_batch(batch: npt.NDArray[Any], shape: Sequence[int] | None) -> Images:
    if batch.ndim and not len(batch):
        return np.zeros((0, *(shape or (MIN_SIDE, MIN_SIDE))), np.uint8)
    if batch.ndim == 4 and batch.shape[3] == 1:
        batch = batch[..., 0]
    _check_shape(batch.shape, shape)
    return batch if batch.dtype == np.uint8 else _to_bytes(batch)


def _is_tensor(images: object) -> bool:
    """Tell whether images are a PyTorch tensor or a sequence of tensors."""
    if isinstance(images, Sequence):
        return any(hasattr(image, "detach") for image in images)
    return hasattr(images, "detach")


def _check_scale(arrays: Sequence[npt.NDArray[Any]]) -> None:
    """Refuse arrays of one input that hold 0..1 where 0..255 is expected."""
    filled = [array for array in arrays if array.size]
    if not any(array.dtype.kind == "f" for array in filled):
        return
    highest = max(float(array.max()) for array in filled)
    if 0 < highest <= 1:
        raise InputError(
            f"floating-point pixel values must be of 0 to 255, these end at {highest:g}; if they "
            "are of 0 to 1, multiply by 255 and convert to uint8: "
            "(images * 255).round().astype(np.uint8)"
        )


def _to_array(images: object) -> npt.NDArray[Any]:
    if hasattr(images, "detach"):
        return _from_tensor(images, is_batch=True)
    try:
        if isinstance(images, Sequence) and any(hasattr(image, "detach") for image in images):
            return np.stack([_from_tensor(image, is_batch=False) for image in images])
        batch = np.asarray(images)
    except ValueError as error:
        raise InputError(
            f"all images of a batch must have the same shape; resize them first ({error})"
        ) from error
    if batch.dtype.kind == "b":
        raise InputError(_NO_BOOLEANS)
    if batch.dtype.kind not in "uif":
        raise InputError(
            f"images must be arrays of numbers, got {batch.dtype}; decode image files first"
        )
    return batch


def _from_tensor(tensor: Any, *, is_batch: bool) -> npt.NDArray[Any]:  # noqa: ANN401
    """Return a tensor of images, or of one image, with channels last.

    Grey images may have no channel axis.
    """
    array: npt.NDArray[Any] = np.asarray(tensor.detach().cpu().numpy())
    if array.dtype.kind == "b":
        raise InputError(_NO_BOOLEANS)
    if array.dtype.kind == "f":
        array = array * 255
    channel_axis = 1 if is_batch else 0
    if array.ndim == channel_axis + 3 and array.shape[channel_axis] in (1, 3):
        array = np.moveaxis(array, channel_axis, -1)
    return array


def check_size(height: int, width: int) -> None:
    """Raise an `InputError` if a stream cannot have images of a size."""
    if min(height, width) < MIN_SIDE:
        raise InputError(
            f"images must have at least {MIN_SIDE}×{MIN_SIDE} pixels, got {height}×{width}; "
            "choose a larger size"
        )
    if height * width > MAX_STREAM_PIXELS:
        raise InputError(
            f"images of a stream must have at most {MAX_STREAM_PIXELS:,} pixels (512×512), "
            f"got {height}×{width}; resize them, 64×64 is enough for most"
        )


def _check_shape(shape: tuple[int, ...], wanted: Sequence[int] | None) -> None:
    if len(shape) not in (3, 4) or (len(shape) == 4 and shape[3] != 3):
        raise InputError(
            f"a batch must be (n, h, w) for grey or (n, h, w, 3) for RGB images, got {shape}; "
            "give a single image a first axis of 1"
        )
    if wanted is not None and shape[1:] != tuple(wanted):
        raise InputError(
            f"this stream's images are {tuple(wanted)}, got {shape[1:]}; resize or convert them"
        )
    if min(shape[1:3]) < MIN_SIDE:
        raise InputError(
            f"images must have at least {MIN_SIDE}×{MIN_SIDE} pixels, got {shape[1]}×{shape[2]}; "
            "enlarge them"
        )


def _to_bytes(batch: npt.NDArray[Any]) -> Images:
    low = batch.min()
    high = batch.max()
    if np.isnan(low) or np.isnan(high):
        raise InputError(
            "pixel values must be numbers, but some are NaN; check how the images were read"
        )
    if low < 0 or high > 255:
        raise InputError(
            f"pixel values must lie between 0 and 255, got {low:g} to {high:g}; scale them"
        )
    return np.rint(batch.astype(np.float64)).astype(np.uint8)
