"""The mean of the weights over the steps of a training."""

from copy import deepcopy

import numpy as np
import pytest
import torch

from csim.embed.network import ConvBody, OpenWorldNetwork
from csim.embed.network_trainer import seeded
from csim.embed.weight_mean import WeightMean


@pytest.fixture
def network():
    with seeded(0):
        body = ConvBody(
            (8, 8),
            conv_layers=1,
            channels=4,
            kernel=3,
            batch_norm=True,
            hidden_units=8,
            embedding_size=4,
        )
        return OpenWorldNetwork(body, [3, 5])


def fill(network, value):
    """Set every weight and running figure of a network."""
    with torch.no_grad():
        for tensor in network.state_dict().values():
            tensor.fill_(value)


def hidden(network):
    return network.arrays()["body.hidden.weight"]


def test_each_step_adds_two_shares_of_the_weights(network):
    mean = deepcopy(network)
    fill(mean, 1.0)
    average = WeightMean(network, mean, steps=10)
    expected = 1.0
    for value in (2.0, -3.0, 7.0):
        fill(network, value)
        average.follow()
        expected += (value - expected) * 2 / 10
    assert hidden(mean) == pytest.approx(np.full_like(hidden(mean), expected))
    assert (hidden(network) == 7.0).all()


def test_running_figures_of_batch_norm_are_averaged_too(network):
    mean = deepcopy(network)
    fill(mean, 0.0)
    fill(network, 1.0)
    WeightMean(network, mean, steps=4).follow()
    averaged = [name for name in mean.arrays() if "running" in name]
    assert len(averaged) == 4
    assert all((mean.arrays()[name] == 0.5).all() for name in averaged)


@pytest.mark.parametrize("steps", [1, 2])
def test_a_training_of_one_or_two_steps_gives_the_last_weights(network, steps):
    mean = deepcopy(network)
    fill(network, 4.0)
    WeightMean(network, mean, steps).follow()
    assert (hidden(mean) == 4.0).all()
