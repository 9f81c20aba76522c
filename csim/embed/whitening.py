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

from csim.embed.graph import Graph
from csim.main_axes import main_axes
from csim.records import Floats, Images, Ints

_MAX_AXES = 128  # directions to shorten: more gain little and make models larger
# Variance that is added to every direction, as a multiple of the mean variance. Higher shortens
# less.
_SHRINKAGE = 0.3
_MIN_LENGTH = 1e-12


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
    version
        Of the model that it was fitted for. Later models may keep it.
    images
        Labelled images that it was fitted on.
    """

    mean: Floats
    axes: Floats
    damping: Floats
    version: int = 0
    images: int = 0

    @classmethod
    def fit(cls, vectors: Floats, columns: Ints, version: int = 0) -> Whitening:
        """Return the whitening of labelled vectors, (n, d), with their columns, (n,).

        `version` is that of the model that it is for.
        """
        mean = vectors.mean(axis=0)
        counts = np.bincount(columns).astype(vectors.dtype)  # float64 takes twice as long
        residuals = vectors - (class_sums(vectors, columns) / counts[:, None])[columns]
        squares, axes = main_axes(residuals, _MAX_AXES)
        variances = squares / len(residuals)
        added = _SHRINKAGE * (residuals**2).mean()
        damping = 1 - np.sqrt(added / (variances + added))
        axes = np.ascontiguousarray(axes, np.float32)
        return cls(mean, axes, damping.astype(np.float32), version, len(vectors))

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Floats]) -> Whitening:
        """Return the whitening of a model's arrays; a copy. Without axes it only centres."""
        mean = np.array(arrays["body.mean"], np.float32)
        axes = arrays.get("body.axes", np.zeros((0, len(mean))))
        damping = arrays.get("body.damping", np.zeros(0))
        fitted = (int(arrays.get(f"body.{name}", 0)) for name in ("version", "images"))
        return cls(mean, np.array(axes, np.float32), np.array(damping, np.float32), *fitted)

    def arrays(self) -> dict[str, Floats]:
        """Return its arrays by the names that they have in a model."""
        return {
            "body.mean": self.mean,
            "body.axes": self.axes,
            "body.damping": self.damping,
            "body.version": np.array(self.version),
            "body.images": np.array(self.images),
        }

    def add_to(self, graph: Graph, frozen: str, name: str) -> None:
        """Add what `apply` does to a graph: from the value `frozen`, (n, d), to the given name."""
        centred = graph.add("Sub", frozen, graph.constant(self.mean))
        if len(self.axes):
            along = graph.add("MatMul", centred, graph.constant(self.axes.T))
            taken = graph.add("MatMul", along, graph.constant(self.damping[:, None] * self.axes))
            centred = graph.add("Sub", centred, taken)
        graph.add("LpNormalization", centred, name=name, axis=1, p=2)

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


def class_sums(vectors: Floats, columns: Ints) -> Floats:
    """Return the sum of the vectors of each column, (K, d); every column has a vector.

    >>> class_sums(np.array([[1.0, 0.0], [0.0, 5.0], [2.0, 0.0]]), np.array([0, 1, 0])).tolist()
    [[3.0, 0.0], [0.0, 5.0]]
    """
    order = np.argsort(columns, kind="stable")
    firsts = np.searchsorted(columns[order], np.arange(columns.max() + 1))
    sums: Floats = np.add.reduceat(vectors[order], firsts, axis=0)
    return sums
