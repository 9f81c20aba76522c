"""The number of weights, against the sum by hand and against a real network."""

import pytest
import torch

from csim.bench.tables.parameters import count_parameters
from csim.build import make_body
from csim.embed.network import OpenWorldNetwork
from csim.settings import Settings


def by_hand(n, *, layers, channels=20, side=28, size=200, classes=10):
    """Return the sum over layers: inputs times outputs, and a bias per output."""
    total, depth = 0, 1
    for _ in range(layers):
        total += depth * channels * 5 * 5 + channels
        depth, side = channels, side // 2
    total += depth * side * side * n + n
    total += n * size + size
    return total + size * classes + classes + 1  # the last: the one-vs-rest layer's scale


@pytest.mark.parametrize("layers", [0, 1, 2])
@pytest.mark.parametrize("n", [25, 200, 400])
def test_the_count_is_the_sum_over_layers(n, layers):
    settings = Settings.paper(hidden_units=n, conv_layers=layers)
    assert count_parameters(settings, [28, 28], 10) == by_hand(n, layers=layers)


def test_the_count_is_that_of_a_real_network_and_draws_nothing():
    settings, before = Settings(hidden_units=30, embedding_size=7, channels=3), torch.get_rng_state()
    count = count_parameters(settings, (32, 32, 3), 47)
    assert torch.equal(torch.get_rng_state(), before)
    network = OpenWorldNetwork(make_body(settings, (32, 32, 3)), range(47))
    assert count == sum(array.size for array in network.arrays().values())
