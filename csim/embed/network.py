"""The Conv-OWC network: images → unit-length vectors → one score per class.

The body learns the metric: convolutions (stride 1, padded), each with ReLU and 2×2 max-pooling, a
hidden layer of n units, and an embedding scaled to unit length. The one-vs-rest layer on top has
one logit per class.

There are two departures from the paper. Convolutions are padded, so that small images survive
several layers. The one-vs-rest layer multiplies the cosine by a scale that hardly moves in
training, so that the setting fixes the range of the scores, however long you train. The formula
P(c|x) = σ(W_c·φ(x) + b_c) is unchanged: the scale is a part of W. The highest probability is about
σ(scale / 2): 0.92 with the 5 of the paper preset. So no score passes T_D = 0.99 there; from 9.2 on
some do (docs/tuning.md).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from csim.embed.inputs import scale
from csim.errors import SettingsError
from csim.records import ClassId, Floats

_FEATURE_GRID = 4  # cells a side over which the features are averaged


class ConvBody(nn.Module):
    """Embed images, (n, channels, h, w) of 0..1, as vectors of unit length, (n, d).

    Parameters
    ----------
    image_shape
        (h, w) for grey or (h, w, 3) for RGB images, at least 8×8.
    conv_layers
        Number of convolutions. Higher gives larger receptive fields; each layer halves the image.
    channels
        Feature maps of the first convolution; each further one has twice as many. Higher detects
        more kinds of edges, but time grows in proportion.
    kernel
        Width of a convolution in pixels, an odd number. Higher detects larger shapes at once, but
        time grows with its square.
    batch_norm
        Normalise the maps and the hidden layer over a batch: a warm-started network then learns a
        new class in far fewer steps.
    hidden_units
        n of the paper. Higher fits more but costs time and memory.
    embedding_size
        Length of a vector. Higher leaves more room for new classes.
    """

    def __init__(
        self,
        image_shape: Sequence[int],
        *,
        conv_layers: int,
        channels: int,
        kernel: int,
        batch_norm: bool,
        hidden_units: int,
        embedding_size: int,
    ) -> None:
        super().__init__()
        self.image_shape = tuple(image_shape)
        height, width = image_shape[:2]
        check_layers(height, width, conv_layers)
        depth = 3 if len(image_shape) == 3 else 1
        layers: list[nn.Module] = []
        for layer in range(conv_layers):
            maps = channels << layer
            layers += [
                nn.Conv2d(depth, maps, kernel_size=kernel, padding=kernel // 2),
                nn.MaxPool2d(2),
            ]
            layers += [nn.BatchNorm2d(maps)] * batch_norm + [nn.ReLU()]
            depth = maps
        pixels = (height >> conv_layers) * (width >> conv_layers)
        stack = nn.Sequential(*layers)
        self.features = stack.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        self.hidden = nn.Linear(depth * pixels, hidden_units)
        self.norm = nn.BatchNorm1d(hidden_units) if batch_norm else nn.Identity()
        self.embedding = nn.Linear(hidden_units, embedding_size)
        self.size = embedding_size

    def forward(self, inputs: Tensor) -> Tensor:
        """Return one vector of unit length per image."""
        return self._vectors(self._maps(inputs))

    def view(self, inputs: Tensor) -> tuple[Tensor, Tensor]:
        """Return the vectors, and the convolutions' output averaged over a 4×4 grid, (n, f).

        Training pulls the vectors of all images, new ones too, onto the known classes. It pulls
        these features far less.
        """
        maps = self._maps(inputs)
        rows = min(_FEATURE_GRID, maps.shape[2])
        columns = min(_FEATURE_GRID, maps.shape[3])
        grid = functional.adaptive_avg_pool2d(maps, (rows, columns))
        return self._vectors(maps), grid.flatten(1)

    def _maps(self, inputs: Tensor) -> Tensor:
        # Channels last is twice as fast on a CPU, on the way back too.
        maps: Tensor = self.features(inputs.to(memory_format=torch.channels_last))
        if maps.requires_grad:
            maps.register_hook(_channels_last)  # type: ignore[no-untyped-call]
        return maps

    def _vectors(self, maps: Tensor) -> Tensor:
        hidden = functional.relu(self.norm(self.hidden(maps.flatten(1))))
        return functional.normalize(self.embedding(hidden), dim=1)


def _channels_last(gradient: Tensor) -> Tensor:
    return gradient.contiguous(memory_format=torch.channels_last)


class OneVsRest(nn.Module):
    """Compute one logit per class, (n, K), from vectors of unit length, (n, d).

    At first a vector along the direction of a class scores σ(scale / 2), one orthogonal to it
    σ(-scale / 2). Training hardly changes the scale, so a higher one allows scores nearer 0 and 1.
    """

    def __init__(self, size: int, classes: int, scale: float) -> None:
        super().__init__()
        self.directions = nn.Parameter(torch.randn(classes, size) / math.sqrt(size))
        self.scale = nn.Parameter(torch.tensor(float(scale)))
        self.bias = nn.Parameter(torch.full((classes,), -scale / 2))

    def weights(self) -> Tensor:
        """Return W, (K, d): the directions at unit length times the scale."""
        return functional.normalize(self.directions, dim=1) * self.scale

    def forward(self, vectors: Tensor) -> Tensor:
        """Return W·φ(x) + b."""
        return functional.linear(vectors, self.weights(), self.bias)


class OpenWorldNetwork(nn.Module):
    """Join a body and the one-vs-rest layer, with one column per class in order of `class_ids`."""

    def __init__(self, body: ConvBody, class_ids: Sequence[ClassId], scale: float = 10.0) -> None:
        super().__init__()
        self.body = body
        self.class_ids = tuple(class_ids)
        self.one_vs_rest = OneVsRest(body.size, len(self.class_ids), scale)

    def forward(self, inputs: Tensor) -> tuple[Tensor, Tensor]:
        """Return vectors, (n, d), and logits, (n, K)."""
        vectors = self.body(inputs)
        return vectors, self.one_vs_rest(vectors)

    def continue_from(self, arrays: Mapping[str, Floats], class_ids: Sequence[ClassId]) -> None:
        """Load an earlier network's weights; columns are matched by class id."""
        earlier = {name: torch.from_numpy(np.array(array)) for name, array in arrays.items()}
        state = self.state_dict()
        for name, tensor in earlier.items():
            if name not in _PER_CLASS:
                state[name] = tensor
        for old, class_id in enumerate(class_ids):
            if class_id in self.class_ids:
                new = self.class_ids.index(class_id)
                for name in _PER_CLASS:
                    state[name][new] = earlier[name][old]
        self.load_state_dict(state)

    def imprint(self, column: int, inputs: Tensor) -> None:
        """Initialise the direction of a new class with the mean vector of its images."""
        self.eval()
        with torch.no_grad():
            mean = self.body(scale(inputs)).mean(0)
            self.one_vs_rest.directions[column] = functional.normalize(mean, dim=0)

    def arrays(self) -> dict[str, Floats]:
        """Return a copy of every weight by name."""
        return {
            name: tensor.detach().cpu().numpy().copy() for name, tensor in self.state_dict().items()
        }


_PER_CLASS = ("one_vs_rest.directions", "one_vs_rest.bias")


def check_layers(height: int, width: int, conv_layers: int) -> None:
    """Raise a `SettingsError` if so many convolution layers leave no pixel of an image.

    >>> check_layers(8, 8, 3)
    >>> check_layers(8, 8, 4)
    Traceback (most recent call last):
        ...
    csim.errors.SettingsError: 4 conv layers leave no pixel of an 8×8 image: ... at most 3
    """
    most = int(math.log2(min(height, width)))
    if conv_layers > most:
        raise SettingsError(
            f"{conv_layers} conv layers leave no pixel of an {height}×{width} image: "
            f"each halves it, so use at most {most}"
        )


def pick_device(name: str) -> torch.device:
    """Return the device of that name; "auto" is a GPU if there is one, "onnx" the CPU.

    >>> pick_device("cpu")
    device(type='cpu')
    """
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device("cpu" if name == "onnx" else name)
        torch.empty(0, device=device)
    # torch raises all three for a device that does not exist.
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise SettingsError(
            f'device must be "auto", "onnx" or one that torch finds on this machine, got {name!r}; '
            'use "auto" or "cpu"'
        ) from error
    return device
