"""What comes before the one-vs-rest layer of csim's own network."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from csim.embed.encoder import NetworkEncoder
from csim.embed.gallery import ViewEncoder
from csim.embed.graph import GraphEncoder
from csim.embed.inputs import to_pixels
from csim.embed.network import ConvBody, OpenWorldNetwork
from csim.records import Floats, Images, Model


class OwnBackbone:
    """Train csim's own convolutions; `make_body` makes new ones for images of a shape."""

    def __init__(
        self, make_body: Callable[[tuple[int, ...]], ConvBody], device: torch.device
    ) -> None:
        self._make_body = make_body
        self._device = device

    def inputs(self, images: Images | Floats) -> Tensor:
        """Return what the network is trained on: the images in bytes, (n, channels, h, w)."""
        return to_pixels(images, self._device)

    def body(self, images: Images | Floats) -> ConvBody:
        """Return new convolutions for such images."""
        return self._make_body(images.shape[1:])

    def encoder(self, network: OpenWorldNetwork) -> ViewEncoder:
        """Return an encoder around the network's body."""
        return NetworkEncoder(network.body, self._device)

    def open(self, model: Model) -> ViewEncoder:
        """Rebuild the network of a model and return an encoder around its body."""
        network = OpenWorldNetwork(self._make_body(model.image_shape), model.class_ids)
        network.continue_from(model.network, model.class_ids)
        return self.encoder(network)


class GraphBackbone(OwnBackbone):
    """Train csim's own convolutions with torch, and embed with ONNX Runtime."""

    def encoder(self, network: OpenWorldNetwork) -> ViewEncoder:
        """Return what runs the network's body."""
        return GraphEncoder(network.arrays(), network.body.image_shape)

    def open(self, model: Model) -> ViewEncoder:
        """Return what runs the model's network."""
        return GraphEncoder(model.network, model.image_shape)
