"""Whiten frozen vectors: shorten the directions in which images of one class differ.

A pretrained encoder knows nothing of your classes. Its vectors also vary with light, angle and
background, most of all along few directions. The labelled images show which: those along which
images of one class differ. Shortened along them, vectors of one class come closer together, also
those of classes that nobody has labelled yet. This is linear discriminant analysis with a shrunk
covariance, and the metric that csim learns over frozen vectors; docs/encoders.md compares it.

T. Hayes and C. Kanan, "Lifelong machine learning with deep streaming linear discriminant analysis",
CVPR workshops 2020, use the same covariance over a frozen network.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.sparse.linalg import eigsh

from csim.records import Floats, Images, Ints

_MAX_AXES = 128  # directions to shorten: more gain little and make models larger
# Variance that is added to every direction, as a multiple of the mean variance. Higher shortens
# less.
_SHRINKAGE = 0.3
_MIN_LENGTH = 1e-12
_MIN_SHARE = 1e-6  # of all variance, that an axis must have: less is rounding


@dataclass(frozen=True)
class Whitening:
    """Turn frozen vectors into vectors of unit length.

    Parameters
    ----------
    mean
        Is subtracted first, (d,). Vectors that are never negative otherwise all lie in one corner
        of the sphere, where angles hardly differ.
    axes
        Orthogonal directions of unit length, (r, d).
    damping
        How much of the length along each axis is taken away, 0 to 1, (r,).
    """

    mean: Floats
    axes: Floats
    damping: Floats

    @classmethod
    def fit(cls, vectors: Floats, columns: Ints) -> Whitening:
        """Return the whitening of labelled vectors, (n, d), with their columns, (n,)."""
        mean = vectors.mean(axis=0)
        residuals = vectors - _class_means(vectors, columns)[columns]
        variances, axes = _main_axes(residuals)
        added = _SHRINKAGE * (residuals**2).mean()
        damping = 1 - np.sqrt(added / (variances + added))
        return cls(mean, np.ascontiguousarray(axes, np.float32), damping.astype(np.float32))

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Floats]) -> Whitening:
        """Return the whitening of a model's arrays; a copy. Without axes it only centres."""
        mean = np.array(arrays["body.mean"], np.float32)
        axes = arrays.get("body.axes", np.zeros((0, len(mean))))
        damping = arrays.get("body.damping", np.zeros(0))
        return cls(mean, np.array(axes, np.float32), np.array(damping, np.float32))

    def arrays(self) -> dict[str, Floats]:
        """Return its arrays by the names that they have in a model."""
        return {"body.mean": self.mean, "body.axes": self.axes, "body.damping": self.damping}

    def apply(self, vectors: Images | Floats) -> Floats:
        """Return frozen vectors, (n, d), whitened and at unit length."""
        # One product per image: rounding in a product of many depends on an image's row.
        centred = (vectors - self.mean)[:, None, :]
        centred -= np.matmul(np.matmul(centred, self.axes.T) * self.damping, self.axes)
        return unit(centred[:, 0])


def unit(vectors: Floats) -> Floats:
    """Return vectors, (n, d), at unit length; zero stays zero."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    scaled: Floats = vectors / np.maximum(lengths, _MIN_LENGTH)
    return scaled


def _class_means(vectors: Floats, columns: Ints) -> Floats:
    sums = np.zeros((columns.max() + 1, vectors.shape[1]), vectors.dtype)
    np.add.at(sums, columns, vectors)
    means: Floats = sums / np.bincount(columns)[:, None]
    return means


def _main_axes(residuals: Floats) -> tuple[Floats, Floats]:
    """Return the largest variances of residuals, (n, d), and their axes, (r, d)."""
    is_wide = len(residuals) < residuals.shape[1]
    factor = residuals if is_wide else residuals.T
    products = (factor @ factor.T).astype(np.float64)
    if len(products) <= 2 * _MAX_AXES:
        squares, sides = np.linalg.eigh(products)
    else:
        start = np.ones(len(products))  # not drawn: the same axes every time
        squares, sides = eigsh(products, k=_MAX_AXES, v0=start)
    is_main = squares > _MIN_SHARE * max(squares.sum(), _MIN_LENGTH)
    squares, sides = squares[is_main][-_MAX_AXES:], sides[:, is_main][:, -_MAX_AXES:]
    axes = (sides.T @ residuals) / np.sqrt(squares)[:, None] if is_wide else sides.T
    return squares / len(residuals), axes
