"""What comes before the one-vs-rest layer: a network that is trained, or a frozen encoder."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from csim.embed.encoder import CentredEncoder, NetworkEncoder, to_inputs
from csim.embed.gallery import ViewEncoder
from csim.embed.network import Body, CentredBody, ConvBody, OpenWorldNetwork
from csim.records import Encoder, Images, Model


class Backbone(Protocol):
    """Turn images into the vectors that the one-vs-rest layer is trained on."""

    def inputs(self, images: Images) -> Tensor:
        """Return what a network on this backbone is trained on, (n, …)."""
        ...

    def body(self, images: Images, inputs: Tensor) -> Body:
        """Return a new body for such images and inputs."""
        ...

    def encoder(self, network: OpenWorldNetwork) -> ViewEncoder:
        """Return what embeds images for a network on this backbone."""
        ...

    def open(self, model: Model) -> ViewEncoder:
        """Return what embeds images for a finished model."""
        ...


class OwnBackbone:
    """Train csim's own convolutions; `make_body` makes new ones for images of a shape."""

    def __init__(
        self, make_body: Callable[[tuple[int, ...]], ConvBody], device: torch.device
    ) -> None:
        self._make_body = make_body
        self._device = device

    def inputs(self, images: Images) -> Tensor:
        """Return the images themselves, (n, channels, h, w)."""
        return to_inputs(images, self._device)

    def body(self, images: Images, inputs: Tensor) -> ConvBody:
        """Return new convolutions."""
        return self._make_body(images.shape[1:])

    def encoder(self, network: OpenWorldNetwork) -> ViewEncoder:
        """Return an encoder around the network's body."""
        assert isinstance(network.body, ConvBody)
        return NetworkEncoder(network.body, self._device)

    def open(self, model: Model) -> ViewEncoder:
        """Rebuild the network and return an encoder around its body."""
        network = OpenWorldNetwork(self._make_body(model.image_shape), model.class_ids)
        network.continue_from(model.network, model.class_ids)
        return self.encoder(network)


class ForeignBackbone:
    """Train only the one-vs-rest layer, on the vectors of a frozen encoder."""

    def __init__(self, encoder: Encoder, device: torch.device) -> None:
        self._encoder = encoder
        self._device = device

    def inputs(self, images: Images) -> Tensor:
        """Return the encoder's vectors, (n, d)."""
        return torch.from_numpy(self._encoder.embed(images)).to(self._device)

    def body(self, images: Images, inputs: Tensor) -> CentredBody:
        """Return a body that subtracts the mean of the inputs."""
        return CentredBody(inputs.mean(0))

    def encoder(self, network: OpenWorldNetwork) -> ViewEncoder:
        """Return the encoder with the network's mean subtracted."""
        assert isinstance(network.body, CentredBody)
        return CentredEncoder(self._encoder, network.body)

    def open(self, model: Model) -> ViewEncoder:
        """Return the encoder with the model's mean subtracted."""
        return CentredEncoder(
            self._encoder, CentredBody(torch.from_numpy(np.array(model.network["body.mean"])))
        )
