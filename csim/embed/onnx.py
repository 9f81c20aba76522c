"""A network of your own in the ONNX format, run by ONNX Runtime on the CPU.

The network has one input, either of these, with a fixed height and width of at least 8 pixels:

    uint8, (n, h, w, 3)     pixels of 0 to 255
    float, (n, 3, h, w)     values of 0 to 1; if the file's metadata hold `mean` and `std`, three
                            numbers each, then (value - mean) / std

Its first output is (n, d). The first axis may have any length or be 1.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from csim.embed.graph import open_session
from csim.embed.weights import digest, import_extra, refuse_damaged
from csim.errors import EncoderError
from csim.records import EncoderId, Floats, Images

_CHUNK = 8  # images per forward pass
_MIN_SIDE = 8  # pixels


class OnnxEncoder:
    """Embed colour images with an ONNX file.

    Parameters
    ----------
    path
        The file.
    """

    def __init__(self, path: str) -> None:
        name = f"onnx:{path}"
        import_extra("onnxruntime", name, "onnx")
        sha256 = digest([Path(path)])
        try:
            self._session = open_session(Path(path).read_bytes())
        # ONNX Runtime raises a dozen error types that share no base but Exception.
        except Exception as error:
            raise refuse_damaged(path, error) from error
        inputs = self._session.get_inputs()
        self._is_bytes = inputs[0].type == "tensor(uint8)"
        height, width = _size(path, inputs, is_bytes=self._is_bytes)
        self._input = inputs[0].name
        self._chunk = 1 if inputs[0].shape[0] == 1 else _CHUNK
        metadata = self._session.get_modelmeta().custom_metadata_map
        self._mean = _three(path, metadata.get("mean"), 0.0)
        self._spread = _three(path, metadata.get("std"), 1.0)
        self.image_shape: tuple[int, ...] | None = (height, width, 3)
        self.identity: EncoderId | None = EncoderId(name, sha256)

    def embed(self, images: Images) -> Floats:
        """Return one vector per image, (n, d), of images of `image_shape`."""
        parts = []
        for start in range(0, len(images), self._chunk):
            inputs = self._scale(images[start : start + self._chunk])
            parts.append(np.asarray(self._session.run(None, {self._input: inputs})[0]))
        return np.concatenate(parts) if parts else np.zeros((0, 0), np.float32)

    def _scale(self, images: Images) -> npt.NDArray[Any]:
        if self._is_bytes:
            return np.ascontiguousarray(images)
        values = (np.asarray(images, np.float32) / 255 - self._mean) / self._spread
        return np.ascontiguousarray(values.transpose(0, 3, 1, 2), np.float32)


def _size(path: str, inputs: list[Any], *, is_bytes: bool) -> tuple[int, int]:
    """Return the height and width of a network's input, which must be one of two kinds."""
    shape = inputs[0].shape
    is_known = is_bytes or inputs[0].type == "tensor(float)"
    channels, sides = (shape[3:4], shape[1:3]) if is_bytes else (shape[1:2], shape[2:4])
    is_fixed = len(shape) == 4 and all(isinstance(side, int) for side in sides)
    if len(inputs) != 1 or not is_known or channels != [3] or not is_fixed:
        raise EncoderError(
            f"{path} must have one input: uint8 (n, h, w, 3) or float (n, 3, h, w) with fixed h "
            f"and w; it has {', '.join(f'{entry.type} {entry.shape}' for entry in inputs)}; "
            "export it again"
        )
    if min(sides) < _MIN_SIDE:
        raise EncoderError(
            f"{path} must take images of at least {_MIN_SIDE}×{_MIN_SIDE} pixels; it takes "
            f"{sides[0]}×{sides[1]}; export it again"
        )
    return sides[0], sides[1]


def _three(path: str, text: str | None, default: float) -> Floats:
    """Return the numbers of a text such as "0.5, 0.5, 0.5"."""
    if text is None:
        return np.full(3, default, np.float32)
    try:
        numbers = np.array([float(word) for word in text.split(",")], np.float32)
    except ValueError:
        numbers = np.zeros(0, np.float32)
    if len(numbers) != 3 or not np.isfinite(numbers).all():
        raise EncoderError(
            f"mean and std in the metadata of {path} must be three numbers each, "
            f"as 0.5,0.5,0.5; got {text!r}"
        )
    return numbers
