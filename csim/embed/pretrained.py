"""Pretrained encoders by name, each opened from files on this machine.

    lite0, lite1, lite2       EfficientNet-Lite (`lite.py`, extra `photos`)
    hf:NAME, hf:DIRECTORY     a model of transformers (`hf.py`, extra `hf`)
    onnx:FILE                 a network of your own (`onnx.py`, extra `onnx`)

csim never trains them. It reads weights from safetensors, from ONNX, or from a state dict that
torch loads without running code.
"""

from __future__ import annotations

import torch

from csim.embed.gallery import FrozenEncoder
from csim.embed.hf import HfEncoder
from csim.embed.lite import LiteEncoder
from csim.embed.onnx import OnnxEncoder
from csim.errors import EncoderError
from csim.records import EncoderId


def open_pretrained(
    name: str, device: torch.device, expected: EncoderId | None = None
) -> FrozenEncoder:
    """Return the pretrained encoder of a name.

    Parameters
    ----------
    name
        As in `Settings.encoder`, but not "own".
    device
        The device to run it on.
    expected
        The encoder that a folder or a model was made with. Another one is refused.
    """
    kind, _, rest = name.partition(":")
    encoder: FrozenEncoder
    if kind == "hf":
        encoder = HfEncoder(rest, device, revision=expected.revision if expected else "")
    elif kind == "onnx":
        encoder = OnnxEncoder(rest)
    else:
        encoder = LiteEncoder(name, device)
    if expected is not None:
        check_identity(encoder.identity, expected)
    return encoder


def check_identity(found: EncoderId | None, expected: EncoderId) -> None:
    """Raise an `EncoderError` if an encoder is not the one that was used before."""
    if found is None or _key(found) != _key(expected):
        came = "one without a name" if found is None else _describe(found)
        raise EncoderError(
            f"the encoder must be {_describe(expected)}, as before; got {came}; install the "
            "version of it, or of csim, that was used before, or make a new stream"
        )


def _key(identity: EncoderId) -> tuple[str, str, str]:
    """Return what must be equal. Two revisions of a hub's model are one if no file differs."""
    is_of_hub = identity.name.startswith("hf:")
    return identity.name, identity.sha256, "" if is_of_hub else identity.revision


def _describe(identity: EncoderId) -> str:
    revision = f", revision {identity.revision}" if identity.revision else ""
    return f"{identity.name} with weights {identity.sha256[:12]}…{revision}"
