"""The number of weights, against the sum by hand and against a real network."""

import pytest
import torch

from csim.bench.vectors.parameters import count_parameters
from csim.build import make_body
from csim.embed.network import OpenWorldNetwork
from csim.settings import Settings

PAPER = {"channels": 20, "kernel": 5, "norms": 0}
DEFAULT = {"channels": 16, "kernel": 3, "norms": 2}


def by_hand(n, *, layers, channels=20, kernel=5, norms=0):
    """Return the sum over layers: inputs times outputs, a bias per output, and `norms` for each.

    Images of 28×28, vectors of 200 numbers, ten classes.
    """
    total = 0
    depth = 1
    side = 28
    for _ in range(layers):
        total += depth * channels * kernel * kernel + (1 + norms) * channels
        depth = channels
        channels = 2 * channels
        side = side // 2
    total += depth * side * side * n + (1 + norms) * n
    total += n * 200 + 200
    return total + 200 * 10 + 10 + 1  # the last: the one-vs-rest layer's scale


@pytest.mark.parametrize("layers", [0, 1, 2])
@pytest.mark.parametrize("n", [25, 200, 400])
@pytest.mark.parametrize(("preset", "own"), [(Settings.paper, PAPER), (Settings, DEFAULT)])
def test_the_count_is_the_sum_over_layers(n, layers, preset, own):
    settings = preset(hidden_units=n, conv_layers=layers)
    assert count_parameters(settings, [28, 28], 10) == by_hand(n, layers=layers, **own)


def test_the_count_is_that_of_a_real_network_and_draws_nothing():
    settings = Settings(hidden_units=30, embedding_size=7, channels=3)
    before = torch.get_rng_state()
    count = count_parameters(settings, (32, 32, 3), 47)
    assert torch.equal(torch.get_rng_state(), before)
    network = OpenWorldNetwork(make_body(settings, (32, 32, 3)), range(47))
    kept = {name for name, _ in network.named_buffers()}  # what normalising has seen: no weights
    assert count == sum(array.size for name, array in network.arrays().items() if name not in kept)
