"""The Conv-OWC network: images → unit-length vectors → one score per class.

The body learns the metric: convolutions (stride 1, padded), each with ReLU and 2×2 max-pooling, a
hidden layer of n units, an embedding scaled to unit length. On top of it stands the one-vs-rest layer,
one logit per class. A body without weights (`CentredBody`) lets the same layer learn on the vectors of a
foreign encoder.

Two departures from the paper. Convolutions are padded, so that small images survive several layers. And
the one-vs-rest layer multiplies the cosine by a learned scale: between vectors of unit length a plain
product stays so small that no probability reaches the 0.99 which the store asks for. The formula,
P(c|x) = σ(W_c·φ(x) + b_c), stays as it is; the scale is a part of W.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from csim.errors import SettingsError
from csim.records import ClassId, Floats

_GRID = 4


class ConvBody(nn.Module):
    """Images, (n, channels, h, w) of 0..1, to vectors of unit length, (n, d).

    Parameters
    ----------
    image_shape
        (h, w) for grey or (h, w, 3) for RGB images, from 8×8 up.
    conv_layers
        How many convolutions. Raising it widens what one feature sees and halves the image each time.
    channels
        Feature maps of the first convolution; each further one has twice as many. Raising it sees more kinds of
        edges, for time in proportion.
    kernel
        Pixels that a convolution spans in each direction, an odd number. Raising it sees larger shapes at once, for
        time that grows with its square.
    batch_norm
        Whether the maps and the hidden layer are normalised over a batch: a warm-started network then takes in a new
        class in far fewer steps.
    hidden_units
        n of the paper. Raising it fits more and costs time and memory.
    embedding_size
        Length of a vector. Raising it leaves new classes more room.
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
        height, width = image_shape[0], image_shape[1]
        check_layers(height, width, conv_layers)
        depth = 3 if len(image_shape) == 3 else 1
        layers: list[nn.Module] = []
        for layer in range(conv_layers):
            width_now = channels << layer
            layers += [
                nn.Conv2d(depth, width_now, kernel_size=kernel, padding=kernel // 2),
                nn.MaxPool2d(2),
            ]
            layers += [nn.BatchNorm2d(width_now)] * batch_norm + [nn.ReLU()]
            depth = width_now
        pixels = (height >> conv_layers) * (width >> conv_layers)
        self.features = nn.Sequential(*layers)
        self.features = self.features.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        self.hidden = nn.Linear(depth * pixels, hidden_units)
        self.norm = nn.BatchNorm1d(hidden_units) if batch_norm else nn.Identity()
        self.embedding = nn.Linear(hidden_units, embedding_size)
        self.size = embedding_size

    def forward(self, inputs: Tensor) -> Tensor:
        """Return one vector of unit length per image."""
        return self._vectors(self._maps(inputs))

    def view(self, inputs: Tensor) -> tuple[Tensor, Tensor]:
        """Return the vectors, and the convolutions' own features averaged over a grid of 4×4, (n, f).

        The features are what the network saw before it decided what matters: training pulls the vectors of all
        images, new ones too, onto the known classes, and these far less.
        """
        maps = self._maps(inputs)
        grid = functional.adaptive_avg_pool2d(
            maps, (min(_GRID, maps.shape[2]), min(_GRID, maps.shape[3]))
        )
        return self._vectors(maps), grid.flatten(1)

    def _maps(self, inputs: Tensor) -> Tensor:
        maps: Tensor = self.features(
            inputs.to(memory_format=torch.channels_last)
        )  # twice as fast on a CPU
        return maps

    def _vectors(self, maps: Tensor) -> Tensor:
        hidden = functional.relu(self.norm(self.hidden(maps.flatten(1))))
        return functional.normalize(self.embedding(hidden), dim=1)


class CentredBody(nn.Module):
    """A foreign encoder's vectors, (n, d), seen from their mean, (d,), at unit length.

    Features that are never negative all lie in one corner of the sphere, where no angle tells them apart.
    """

    mean: Tensor

    def __init__(self, mean: Tensor) -> None:
        super().__init__()
        self.register_buffer("mean", mean.clone())
        self.size = len(mean)

    def forward(self, inputs: Tensor) -> Tensor:
        """Return one vector of unit length per input."""
        return functional.normalize(inputs - self.mean, dim=1)

    def view(self, inputs: Tensor) -> tuple[Tensor, Tensor]:
        """Return the vectors, and the inputs themselves as features: nothing has pulled them anywhere."""
        return self(inputs), inputs


Body = ConvBody | CentredBody


class OneVsRest(nn.Module):
    """Vectors of unit length, (n, d), to one logit per class, (n, K).

    At the start a vector along its class's direction scores σ(scale / 2), one across it σ(-scale / 2). Training hardly
    moves the scale, so raising it lets scores come nearer to 0 and 1.
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
    """A body and the one-vs-rest layer for `class_ids`, one column per class in that order."""

    def __init__(self, body: Body, class_ids: Sequence[ClassId], scale: float = 10.0) -> None:
        super().__init__()
        self.body = body
        self.class_ids = tuple(class_ids)
        self.one_vs_rest = OneVsRest(body.size, len(self.class_ids), scale)

    def forward(self, inputs: Tensor) -> tuple[Tensor, Tensor]:
        """Return vectors, (n, d), and logits, (n, K)."""
        vectors = self.body(inputs)
        return vectors, self.one_vs_rest(vectors)

    def continue_from(self, arrays: Mapping[str, Floats], class_ids: Sequence[ClassId]) -> None:
        """Take over an earlier network's weights; a class both know keeps its column, whatever its place."""
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
        """Let a class without weights of its own begin where its images' vectors lie on the average."""
        self.eval()
        with torch.no_grad():
            self.one_vs_rest.directions[column] = functional.normalize(
                self.body(inputs).mean(0), dim=0
            )

    def arrays(self) -> dict[str, Floats]:
        """Return a copy of every weight by name."""
        return {
            name: tensor.detach().cpu().numpy().copy() for name, tensor in self.state_dict().items()
        }


_PER_CLASS = ("one_vs_rest.directions", "one_vs_rest.bias")


def check_layers(height: int, width: int, conv_layers: int) -> None:
    """Refuse convolution layers that would leave no pixel of an image.

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
    """Return the device of that name; "auto" is a GPU if there is one.

    >>> pick_device("cpu")
    device(type='cpu')
    """
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.empty(0, device=device)
    except (
        RuntimeError,
        AssertionError,
        NotImplementedError,
    ) as error:  # torch raises all three for what is not there
        raise SettingsError(
            f'device must be "auto" or one that torch finds on this machine, got {name!r}'
        ) from error
    return device
