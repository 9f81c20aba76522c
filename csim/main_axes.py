"""The main axes of vectors: the directions in which they vary most.

Vectors of pretrained encoders have more than a thousand numbers, and there may be more of them or
fewer. The axes are eigenvectors of their products, along the side that is shorter.
"""

from __future__ import annotations

import numpy as np

from csim.records import Floats

_FEW = 640  # rows of a matrix: up to here a dense solver takes less time than an iterative one
_MIN_SHARE = 1e-6  # of all variance, that an axis must have: less is rounding
_MIN_VARIANCE = 1e-12
_SEED = 0  # of the vectors that the iterative solver starts from


def main_axes(vectors: Floats, most: int) -> tuple[Floats, Floats]:
    """Return the largest sums of squares along axes, (r,), rising, and these axes, (r, d).

    There are fewer than `most` if the vectors, (n, d), vary along fewer axes. The same vectors give
    the same axes.

    Examples
    --------
    >>> squares, axes = main_axes(np.array([[3.0, 0.0], [-3.0, 0.0], [0.0, 1.0]]), most=1)
    >>> squares.round(3).tolist(), abs(axes).round(3).tolist()
    ([18.0], [[1.0, 0.0]])
    """
    is_wide = len(vectors) < vectors.shape[1]
    factor = vectors if is_wide else vectors.T
    products = factor @ factor.T
    squares, sides = _largest(products, most)
    is_main = squares > _MIN_SHARE * max(float(products.trace()), _MIN_VARIANCE)
    squares, sides = squares[is_main], sides[:, is_main]
    return squares, (sides.T @ vectors) / np.sqrt(squares)[:, None] if is_wide else sides.T


def _largest(products: Floats, most: int) -> tuple[Floats, Floats]:
    """Return the largest eigenvalues of a matrix, (r,), rising, and their vectors, (n, r)."""
    # Memory that only streams with many features need.
    from scipy.linalg import eigh  # noqa: PLC0415
    from scipy.sparse.linalg import eigsh  # noqa: PLC0415

    count = len(products)
    found: tuple[Floats, Floats]
    if count <= max(_FEW, most) or not products.any():
        found = eigh(products, subset_by_index=[max(0, count - most), count - 1])
    else:
        # Drawn, because no fixed direction is sure to differ from an axis of no variance.
        start = np.random.default_rng(_SEED).normal(size=count).astype(products.dtype)
        found = eigsh(products, k=most, v0=start, rng=_SEED)
    return found
