"""Gaussian blobs: data so simple that the right output of a baseline is known."""

import numpy as np
import pytest


@pytest.fixture
def rng():
    return np.random.default_rng(7)


@pytest.fixture
def blobs(rng):
    """Return a function that draws `each` vectors around each centre, and their labels."""

    def draw(centres, each, spread=0.3):
        centres = np.atleast_2d(np.asarray(centres, float))
        vectors = np.repeat(centres, each, axis=0) + spread * rng.standard_normal(
            (len(centres) * each, centres.shape[1])
        )
        return vectors.astype(np.float32), np.repeat(np.arange(len(centres)), each)

    return draw
