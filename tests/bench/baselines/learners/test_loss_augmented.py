"""HDML: its inference against an exhaustive search, and its training steps."""

from itertools import product

import numpy as np
import pytest
import torch

from csim.bench.baselines.learners.hdml import HDML
from csim.bench.baselines.learners.loss_augmented import loss_augmented_codes


def value(codes, activations):
    anchor, positive, negative = codes
    to_positive = sum(a != b for a, b in zip(anchor, positive, strict=True))
    to_negative = sum(a != b for a, b in zip(anchor, negative, strict=True))
    return max(0, to_positive - to_negative + 1) + sum(
        bit * float(activation)
        for code, row in zip(codes, activations, strict=True)
        for bit, activation in zip(code, row, strict=True)
    )


@pytest.mark.parametrize("bits", [1, 2, 4])
def test_no_codes_are_better(bits):
    draws = torch.Generator().manual_seed(bits)
    triplets = torch.tanh(0.7 * torch.randn((3, 8, bits), generator=draws))
    found = loss_augmented_codes(*triplets)
    every = list(product(list(product((-1, 1), repeat=bits)), repeat=3))
    for index in range(triplets.shape[1]):
        activations = triplets[:, index].tolist()
        best = max(value(codes, activations) for codes in every)
        reached = value([codes[index].tolist() for codes in found], activations)
        assert reached == pytest.approx(best, abs=1e-5)


def test_codes_are_of_plus_and_minus_one():
    triplets = torch.randn((3, 50, 16), generator=torch.Generator().manual_seed(0))
    for codes in loss_augmented_codes(*triplets):
        assert set(codes.unique().tolist()) == {-1.0, 1.0}


def two_blobs():
    rng = np.random.default_rng(0)
    columns = np.arange(200) % 2
    return (rng.normal(size=(200, 10)) + 4 * columns[:, None]).astype(np.float32), columns


def test_queries_are_saturated_by_a_quarter_and_codes_are_halves():
    images, columns = two_blobs()
    learner = HDML(bits=8, hidden=16, epochs=5).fit(images, columns)
    assert set(np.unique(learner.gallery(images)).tolist()) <= {-0.5, 0.5}
    assert np.abs(2 * learner.transform(images)).mean(axis=0) == pytest.approx(0.25, abs=1e-3)


def test_classes_get_codes_of_their_own():
    images, columns = two_blobs()
    codes = HDML(bits=8, hidden=16, epochs=15).fit(images, columns).gallery(images)
    within = np.square(codes[columns == 0] - codes[columns == 0].mean(axis=0)).sum(axis=1).mean()
    between = np.square(codes[columns == 0].mean(axis=0) - codes[columns == 1].mean(axis=0)).sum()
    assert between > 4 * within


def test_a_dead_bit_gets_new_weights():
    images, columns = two_blobs()
    learner = HDML(bits=8, hidden=16, epochs=1).fit(images, columns)
    inputs = torch.from_numpy(images)
    with torch.no_grad():
        learner._network[2].bias[3] = 100.0
        before = learner._network[2].weight.clone()
        learner._redraw_dead_bits(inputs)
        positive = (learner._network[:3](inputs) > 0).float().mean(dim=0)
    changed = torch.nonzero((learner._network[2].weight != before).any(dim=1))[:, 0].tolist()
    assert 3 in changed
    assert 0.4 < positive[3] < 0.6
