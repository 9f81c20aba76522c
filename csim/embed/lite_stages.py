"""What a vector of EfficientNet-Lite is made of, and two ways to compute it in one forward pass.

An EfficientNet has seven stages. Later ones see kinds of objects, earlier ones shapes and colours.
A vector holds the weighted mean over the image of each channel of the last four stages, and the
maximum of each channel of the last three, 1,328 numbers for Lite0. The middle of the image weighs
most: people point a camera at its subject, and the rest is background. A maximum sees all of the
image, also a subject at its edge. Whitening then finds out what tells your classes apart.
docs/encoders.md compares it with the usual vector, the plain mean of the last layer alone.

`GraphStages` runs the network with ONNX Runtime, `TorchStages` with torch. Vectors differ by
rounding alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from csim.embed.graph import Graph, open_session
from csim.records import Floats, Images

_MEAN_PIXEL = 127.0  # of the TensorFlow original, whose weights these are
_PIXEL_SPREAD = 128.0
_STAGES = 4  # the last ones, of which a vector holds means
# Standard deviation of the weights over the image, as a share of its side. Higher counts more of
# the background.
_MIDDLE_WIDTH = 0.3
_MAX_STAGES = 3  # the last ones, of which it holds maxima
_MAX_WEIGHT = 0.3  # of the maxima: they vary more than means and would outweigh them
_LARGEST = 6.0  # output of ReLU6
_FLOAT = 1  # ONNX's number for the type float32


class TorchStages:
    """Embed photographs with torch.

    Parameters
    ----------
    network
        An EfficientNet-Lite, with batch normalisation merged into its convolutions.
    device
        The device to run it on.
    """

    def __init__(self, network: Any, device: torch.device) -> None:  # noqa: ANN401
        self._network = network.to(device, memory_format=torch.channels_last)
        self._ends = _stage_ends(network)
        self._device = device
        self.size = _size(network)

    def embed(self, images: Images) -> Floats:
        """Return one vector per image, (n, d)."""
        inputs = torch.from_numpy(images).to(self._device).permute(0, 3, 1, 2).float()
        with torch.inference_mode():
            stages = self._maps((inputs - _MEAN_PIXEL) / _PIXEL_SPREAD)
            means = [(maps * self._weights(maps)).mean(dim=(2, 3)) for maps in stages]
            maxima = [maps.amax(dim=(2, 3)) * _MAX_WEIGHT for maps in stages[-_MAX_STAGES:]]
            vectors: Floats = torch.cat(means + maxima, dim=1).cpu().numpy()
        return vectors

    def _weights(self, maps: Tensor) -> Tensor:
        return torch.from_numpy(middle_weights(maps.shape[-1])).to(self._device)

    def _maps(self, inputs: Tensor) -> list[Tensor]:
        """Return the output of the last stages, each (n, channels, h, w)."""
        maps = self._network._swish(self._network._conv_stem(inputs))
        outputs = []
        for index, block in enumerate(self._network._blocks):
            maps = block(maps)
            outputs += [maps] * (index in self._ends)
        return outputs


class GraphStages:
    """Embed photographs with ONNX Runtime, on the CPU.

    Every operation is the one that torch does, with the same weights and padding. The method
    `set_swish`, with which the package prepares a network for export, must not be called: it
    replaces ReLU6 by another function, and the network by one that nobody has trained.

    Parameters
    ----------
    network
        As for `TorchStages`.
    side
        Of the images, in pixels. Higher takes longer.
    """

    def __init__(self, network: Any, side: int) -> None:  # noqa: ANN401
        graph = Graph()
        add_stages(graph, network, side, name="vectors")
        self.size = _size(network)
        self._session = open_session(graph.file((side, side, 3), {"vectors": ("FLOAT", 2)}))

    def embed(self, images: Images) -> Floats:
        """Return one vector per image, (n, d)."""
        vectors: Floats = self._session.run(["vectors"], {"images": images})[0]
        return vectors


def add_stages(graph: Graph, network: Any, side: int, name: str) -> None:  # noqa: ANN401
    """Add an EfficientNet-Lite to a graph: from `images` to vectors, (n, d), of the given name.

    Parameters
    ----------
    graph
        Where to add it.
    network
        As for `TorchStages`.
    side
        Of the images, in pixels. Higher takes longer.
    name
        What to call the vectors.
    """
    pixels = graph.add("Transpose", "images", perm=[0, 3, 1, 2])
    pixels = graph.add("Cast", pixels, to=_FLOAT)
    centred = graph.add("Sub", pixels, graph.constant(np.float32(_MEAN_PIXEL)))
    maps = graph.add("Div", centred, graph.constant(np.float32(_PIXEL_SPREAD)))
    maps = _add_conv(graph, network._conv_stem, maps, is_clipped=True)
    map_side = -(-side // network._conv_stem.stride[0])  # padded: rounded up
    stages: list[str] = []
    means: list[str] = []
    ends = _stage_ends(network)
    for index, block in enumerate(network._blocks[: ends[-1] + 1]):
        maps = _add_block(graph, block, maps)
        map_side = -(-map_side // block._depthwise_conv.stride[0])
        if index in ends:
            stages.append(maps)
            weighted = graph.add("Mul", maps, graph.constant(middle_weights(map_side)))
            means.append(graph.add("GlobalAveragePool", weighted))
    weight = graph.constant(np.float32(_MAX_WEIGHT))
    maxima = [
        graph.add("Mul", graph.add("GlobalMaxPool", maps), weight) for maps in stages[-_MAX_STAGES:]
    ]
    graph.add("Flatten", graph.add("Concat", *means, *maxima, axis=1), name=name)


def middle_weights(side: int) -> Floats:
    """Return how much each place of a square map counts in its mean, (side, side), 1 on average.

    The weights fall from the middle to the edges as a normal distribution does.

    >>> middle_weights(3).round(1)
    array([[0.6, 1.1, 0.6],
           [1.1, 2.1, 1.1],
           [0.6, 1.1, 0.6]], dtype=float32)
    """
    distances = (np.arange(side) + 0.5) / side - 0.5
    profile = np.exp(-((distances / _MIDDLE_WIDTH) ** 2) / 2)
    products = np.outer(profile, profile)
    weights: Floats = (products / products.mean()).astype(np.float32)
    return weights


def _stage_ends(network: Any) -> list[int]:  # noqa: ANN401
    """Return the index of the last block of each of the last stages: the width changes there."""
    widths = _widths(network)
    ends = [
        index
        for index, pair in enumerate(zip(widths, [*widths[1:], 0], strict=True))
        if pair[0] != pair[1]
    ]
    return ends[-_STAGES:]


def _size(network: Any) -> int:  # noqa: ANN401
    """Return how many numbers a vector has."""
    widths = [_widths(network)[end] for end in _stage_ends(network)]
    return sum(widths) + sum(widths[-_MAX_STAGES:])


def _widths(network: Any) -> list[int]:  # noqa: ANN401
    """Return how many channels each block puts out."""
    return [block._block_args.output_filters for block in network._blocks]


def _add_block(graph: Graph, block: Any, inputs: str) -> str:  # noqa: ANN401
    """Add an inverted bottleneck: expand, convolve each channel, project, and add the input."""
    maps = inputs
    if hasattr(block, "_expand_conv"):
        maps = _add_conv(graph, block._expand_conv, maps, is_clipped=True)
    maps = _add_conv(graph, block._depthwise_conv, maps, is_clipped=True)
    maps = _add_conv(graph, block._project_conv, maps, is_clipped=False)
    args = block._block_args
    has_skip = block.id_skip and args.stride == 1 and args.input_filters == args.output_filters
    return graph.add("Add", maps, inputs) if has_skip else maps


def _add_conv(graph: Graph, layer: Any, maps: str, *, is_clipped: bool) -> str:  # noqa: ANN401
    """Add a convolution, and ReLU6 after it if it `is_clipped`."""
    # A stride of 2 over an even number of pixels pads the right and the bottom alone.
    left, right, top, bottom = getattr(layer.static_padding, "padding", (0, 0, 0, 0))
    down, across = layer.padding
    maps = graph.add(
        "Conv",
        maps,
        graph.constant(layer.weight.detach().numpy()),
        graph.constant(layer.bias.detach().numpy()),
        pads=[top + down, left + across, bottom + down, right + across],
        strides=list(layer.stride),
        group=layer.groups,
    )
    if not is_clipped:
        return maps
    limits = (graph.constant(np.float32(0)), graph.constant(np.float32(_LARGEST)))
    return graph.add("Clip", maps, *limits)
