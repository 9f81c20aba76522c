"""Projections: t-SNE of a data set's images in every space, and how separate its classes are there.

A finished projection is an entry in `runs/embedding.jsonl`: csim does not repeat it, and draws a
picture from it without training.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import silhouette_samples
from sklearn.neighbors import NearestNeighbors

from csim.bench.baselines.learners.catalogue import LEARNERS, learner_of
from csim.bench.case import Case
from csim.bench.datasets.catalogue import load
from csim.bench.json_lines import Content, put
from csim.bench.layout.rows import Done
from csim.bench.methods import network_settings
from csim.bench.origin import fingerprint, origin
from csim.bench.processes import Tell, each
from csim.bench.study import prepare
from csim.bench.vectors.figures import NEIGHBOURS
from csim.bench.vectors.kept import read_kept
from csim.bench.vectors.spaces import EVERY_SPACE, PIXELS, embed, of_stream
from csim.records import Bools, Floats, Ints
from csim.report.charts import project

FORMAT = 1
FILE = Path("runs") / "embedding.jsonl"  # in the folder of results
MOST_IMAGES = 2000  # in all: with many classes, fewer of each
_PARTS = len(EVERY_SPACE) + 1  # of the work; writing the entry is the last


@dataclass(frozen=True)
class Projection:
    """Describe a t-SNE projection.

    Parameters
    ----------
    data
        The data set, by name.
    seed
        Draws the known classes, the images, the networks and where t-SNE begins.
    per_class
        Images of every class, unless that makes more than 2,000. Higher fills the picture and takes
        longer.
    """

    data: str
    seed: int
    per_class: int

    @property
    def name(self) -> str:
        """Return the name of its entry.

        >>> Projection("mnist", 0, 40).name
        'embedding-mnist-r0.3-seed0-40'
        """
        return f"embedding-{self.data}-r0.3-seed{self.seed}-{self.per_class}"

    def describe(self) -> Content:
        """Return what its entry must hold to have been made with today's settings."""
        return {
            "format": FORMAT,
            "kind": "embedding",
            "data": self.data,
            "seed": self.seed,
            "per_class": self.per_class,
            "settings": {space: self._settings(space) for space in EVERY_SPACE if space != PIXELS},
        }

    def _settings(self, space: str) -> Content:
        if space in LEARNERS:
            settings: Content = learner_of(space, seed=self.seed).get_params()
            return settings
        return network_settings(space, self.seed)


def project_all(
    projections: Sequence[Projection],
    out: Path,
    *,
    data_dir: Path | None = None,
    jobs: int = 1,
    on_done: Done | None = None,
) -> list[Content]:
    """Return the content of each projection, in order, making those that are missing.

    Parameters
    ----------
    projections
        What to project.
    out
        The folder of results.
    data_dir
        The folder of data sets; `CSIM_DATA` if not given.
    jobs
        Projections at a time. Higher is faster, up to the number of cores.
    on_done
        Called whenever a part of one is done, with the parts done and in all, for progress.
    """
    prepare(out)
    todo = [projection for projection in projections if read(out, projection) is None]
    parts: dict[int, int] = {}

    def count(index: int, done: int, total: int) -> None:
        parts[index] = done
        if on_done:
            on_done(sum(parts.values()), len(todo) * total)

    each(partial(_make, out=out, data_dir=data_dir), todo, jobs=jobs, on_step=count)
    found = [read(out, projection) for projection in projections]
    assert None not in found
    return [content for content in found if content is not None]


def read(out: Path, projection: Projection) -> Content | None:
    """Return the content of a projection; None if missing or made with other settings."""
    return read_kept(out / FILE, projection.name, projection.describe(), _check)


def _check(content: Content) -> None:
    names = content["sample"]["names"]
    panels = content["panels"]
    if any(len(panels[space]["points"]) != len(names) for space in EVERY_SPACE):
        raise ValueError("it must have a point for every image")


def _make(projection: Projection, tell: Tell, *, out: Path, data_dir: Path | None) -> None:
    data = load(projection.data, data_dir)
    per_class = min(projection.per_class, max(2, MOST_IMAGES // len(set(data.names))))
    sample = of_stream(Case("default", projection.data, projection.seed), data, per_class)
    panels: dict[str, Any] = {}
    for done, space in enumerate(EVERY_SPACE, start=1):
        vectors = embed(sample, space, projection.seed)
        points = project(vectors, projection.seed)
        figures = measure(vectors, points, sample.columns, sample.is_known)
        panels[space] = {"figures": figures, "points": np.round(points.astype(float), 2).tolist()}
        tell(done, _PARTS)
    content = {
        **projection.describe(),
        "sample": {"known": sample.known, "names": sample.names, "fingerprint": fingerprint(data)},
        "panels": panels,
        "origin": origin(),
    }
    put(out / FILE, projection.name, content)
    tell(_PARTS, _PARTS)


def measure(vectors: Floats, points: Floats, columns: Ints, is_known: Bools) -> dict[str, float]:
    """Return how separate classes are in a space, and in its projection to the plane.

    Parameters
    ----------
    vectors
        The images in their space, (n, d).
    points
        Their projection, (n, 2).
    columns
        The class of each, (n,).
    is_known
        Which are of known classes, (n,).
    """
    is_right = voted(vectors, columns) == columns
    is_right_flat = voted(points, columns) == columns
    silhouettes = silhouette_samples(vectors, columns)
    return {
        "5-NN known %": 100 * float(is_right[is_known].mean()),
        "5-NN new %": 100 * float(is_right[~is_known].mean()),
        "silhouette known": float(silhouettes[is_known].mean()),
        "silhouette new": float(silhouettes[~is_known].mean()),
        "flat 5-NN known %": 100 * float(is_right_flat[is_known].mean()),
        "flat 5-NN new %": 100 * float(is_right_flat[~is_known].mean()),
    }


def voted(vectors: Floats, columns: Ints) -> Ints:
    """Return the class that each vector's five nearest others vote for, (n,); ties take the lowest.

    >>> voted(np.array([[0.0], [1], [2], [3], [4], [5]]), np.array([0, 0, 0, 1, 1, 1]))
    array([1, 1, 1, 0, 0, 0])
    """
    # Without an argument, kneighbors leaves each vector out of its own neighbours.
    nearest = (
        NearestNeighbors(n_neighbors=NEIGHBOURS).fit(vectors).kneighbors(return_distance=False)
    )
    votes = np.stack(
        [(columns[nearest] == column).sum(1) for column in range(int(columns.max()) + 1)], axis=1
    )
    most: Ints = votes.argmax(1)
    return most
