"""scikit-learn's bundled data set of 1,797 handwritten digits, 8×8, which needs no download."""

from __future__ import annotations

import numpy as np

from csim.bench.datasets import DataSet


def digits() -> DataSet:
    """Return the digits, with their 17 shades scaled to 0..255."""
    from sklearn.datasets import load_digits  # noqa: PLC0415

    bunch = load_digits()
    images = np.rint(bunch.images * (255 / 16)).astype(np.uint8)
    return DataSet("digits", images, [str(label) for label in bunch.target])
