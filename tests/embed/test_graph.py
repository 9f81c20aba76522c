"""The graph of ONNX Runtime against torch."""

import numpy as np
import pytest
import torch

from csim.embed.encoder import NetworkEncoder
from csim.embed.graph import GraphEncoder
from csim.embed.network import ConvBody, OpenWorldNetwork


def encoders(shape, conv_layers, *, batch_norm=True, kernel=3):
    """Return torch and ONNX Runtime around one network, after a few batches of training."""
    torch.manual_seed(0)
    body = ConvBody(
        shape,
        conv_layers=conv_layers,
        channels=6,
        kernel=kernel,
        batch_norm=batch_norm,
        hidden_units=20,
        embedding_size=12,
    )
    network = OpenWorldNetwork(body, range(3))
    network.train()
    for _ in range(3):
        network(torch.rand(16, 3 if len(shape) == 3 else 1, *shape[:2]))
    arrays = network.arrays()
    return NetworkEncoder(body, torch.device("cpu")), GraphEncoder(arrays, tuple(shape))


def pictures(shape, count=70):
    return np.random.default_rng(0).integers(0, 256, (count, *shape), np.uint8)


@pytest.mark.parametrize("shape", [(8, 8), (28, 28), (13, 21), (32, 32, 3)])
@pytest.mark.parametrize(
    "network",
    [
        {"conv_layers": 0},
        {"conv_layers": 1, "batch_norm": False, "kernel": 5},
        {"conv_layers": 2},
        {"conv_layers": 3},
    ],
    ids=str,
)
def test_vectors_and_features_are_those_of_torch(shape, network):
    by_torch, by_graph = encoders(shape, **network)
    images = pictures(shape)
    expected = by_torch.view(images)
    seen = by_graph.view(images)
    assert np.abs(seen.vectors - expected.vectors).max() < 1e-4
    assert np.abs(seen.features - expected.features).max() < 1e-4
    assert (by_graph.embed(images) == seen.vectors).all()


@pytest.mark.parametrize("shape", [(28, 28), (32, 32, 3)])
def test_an_image_has_the_same_view_to_the_last_bit_in_any_batch(shape):
    _, encoder = encoders(shape, 2)
    images = pictures(shape, 150)
    together = encoder.view(images)
    for size in (1, 2, 3, 4, 5, 7, 16, 33, 63, 64, 65, 100):
        for first in (0, 150 - size):
            part = encoder.view(images[first : first + size])
            assert (part.vectors == together.vectors[first : first + size]).all()
            assert (part.features == together.features[first : first + size]).all()


def test_no_image_gives_no_vector():
    _, encoder = encoders((8, 8), 1)
    assert encoder.embed(np.zeros((0, 8, 8), np.uint8)).shape == (0, 12)
