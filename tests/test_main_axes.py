"""The main axes of vectors, against the singular values of the same vectors."""

import numpy as np
import pytest

from csim.main_axes import _FEW, main_axes

MOST = 12


def draw(count, size):
    """Return vectors that vary less along each next axis, as those of encoders do."""
    rng = np.random.default_rng(0)
    return (rng.normal(size=(count, size)) * 0.9 ** np.arange(size)).astype(np.float32)


@pytest.mark.parametrize(
    ("count", "size"), [(50, 20), (20, 50), (_FEW + 60, _FEW + 50), (_FEW + 50, _FEW + 60)]
)
def test_the_axes_are_those_of_the_largest_singular_values(count, size):
    vectors = draw(count, size)
    squares, axes = main_axes(vectors, MOST)
    _, singular, sides = np.linalg.svd(vectors.astype(float), full_matrices=False)
    assert squares == pytest.approx(singular[:MOST][::-1] ** 2, rel=1e-4)
    assert abs((axes * sides[:MOST][::-1]).sum(axis=1)) == pytest.approx(np.ones(MOST), abs=1e-4)
    assert axes @ axes.T == pytest.approx(np.eye(MOST), abs=1e-4)


@pytest.mark.parametrize(("count", "size"), [(40, 30), (_FEW + 9, _FEW + 5)])
def test_vectors_that_vary_along_few_axes_have_no_more(count, size):
    vectors = draw(count, 3) @ draw(3, size)
    squares, axes = main_axes(vectors, MOST)
    assert (squares.shape, axes.shape) == ((3,), (3, size))
    assert vectors @ axes.T @ axes == pytest.approx(vectors, abs=1e-4)


@pytest.mark.parametrize("shape", [(4, 30), (30, 4), (_FEW + 5, _FEW + 9)])
def test_vectors_that_are_zero_have_no_axis(shape):
    squares, axes = main_axes(np.zeros(shape, np.float32), MOST)
    assert (squares.shape, axes.shape) == ((0,), (0, shape[1]))


@pytest.mark.parametrize(("count", "varied"), [(30, 30), (_FEW + 9, _FEW + 9), (_FEW + 9, 5)])
def test_the_same_vectors_give_the_same_axes_to_the_last_bit(count, varied):
    vectors = draw(varied, count + 3)[np.arange(count) % varied]
    first, second = main_axes(vectors, MOST), main_axes(vectors.copy(), MOST)
    assert all((one == other).all() for one, other in zip(first, second, strict=True))
    assert all(part.dtype == np.float32 for part in first)
