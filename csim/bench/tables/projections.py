"""Projections: a data set's images in every space, laid flat, and how well classes are told apart there.

A projection is a file in `runs/`, whole or not at all, with everything needed to make it again: what has one is not
made twice, and a picture is drawn from it without training.
"""

from __future__ import annotations

import json
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
from csim.bench.methods import settings_of
from csim.bench.processes import Tell, each
from csim.bench.results import fingerprint, origin, write_text
from csim.bench.study import prepare
from csim.bench.tables.cases import Done
from csim.bench.tables.figures import NEIGHBOURS
from csim.bench.tables.kept import Content, read_kept
from csim.bench.tables.spaces import EVERY_SPACE, PIXELS, embed, of_stream
from csim.records import Bools, Floats, Ints
from csim.report.charts import project

FORMAT = 1
MOST = 2000  # images in all: with many classes, fewer of each
_PARTS = len(EVERY_SPACE) + 1  # the file is the last part


@dataclass(frozen=True)
class Projection:
    """What is laid flat.

    Parameters
    ----------
    data
        The data set, by name.
    seed
        Draws the known classes, the images, the networks and where t-SNE begins.
    per_class
        Images of every class, unless that makes more than 2,000. Raising it fills the picture and takes longer.
    """

    data: str
    seed: int
    per_class: int

    @property
    def name(self) -> str:
        """What its file is called.

        >>> Projection("mnist", 0, 40).name
        'embedding-mnist-r0.3-seed0-40'
        """
        return f"embedding-{self.data}-r0.3-seed{self.seed}-{self.per_class}"

    def describe(self) -> Content:
        """Return what a file must say of itself to be this one's, as it would be made today."""
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
        return settings_of(space, seed=self.seed, changes={}).to_dict()


def project_all(
    projections: Sequence[Projection],
    out: Path,
    *,
    data_dir: Path | None = None,
    jobs: int = 1,
    on_done: Done | None = None,
) -> list[Content]:
    """Return the content of each projection's file, in order, making those that are not there.

    Parameters
    ----------
    projections
        What to lay flat.
    out
        The folder of results; files are in `runs/` in it.
    data_dir
        The folder of data sets; `CSIM_DATA` if not given.
    jobs
        Projections at a time. Raising it to the number of cores is faster in proportion.
    on_done
        Called whenever a part of one is done, with the parts done and in all, for progress.
    """
    prepare(out)
    todo = [projection for projection in projections if read(out, projection) is None]
    parts: dict[int, int] = {}

    def count(place: int, done: int, total: int) -> None:
        parts[place] = done
        if on_done:
            on_done(sum(parts.values()), len(todo) * total)

    each(partial(_make, out=out, data_dir=data_dir), todo, jobs=jobs, on_step=count)
    found = [read(out, projection) for projection in projections]
    assert None not in found
    return [content for content in found if content is not None]


def read(out: Path, projection: Projection) -> Content | None:
    """Return the content of a projection's file, None if there is none or it was made with other settings."""
    return read_kept(path_of(out, projection), projection.describe(), _check, "points")


def _check(content: Content) -> None:
    names, panels = content["sample"]["names"], content["panels"]
    if any(len(panels[space]["points"]) != len(names) for space in EVERY_SPACE):
        raise ValueError("it must have a point for every image")


def path_of(out: Path, projection: Projection) -> Path:
    """Return where the file of a projection stands."""
    return out / "runs" / f"{projection.name}.json"


def _make(projection: Projection, tell: Tell, *, out: Path, data_dir: Path | None) -> None:
    data = load(projection.data, data_dir)
    per_class = min(projection.per_class, max(2, MOST // len(set(data.names))))
    view = of_stream(Case("default", projection.data, projection.seed), data, per_class)
    panels: dict[str, Any] = {}
    for done, space in enumerate(EVERY_SPACE, start=1):
        vectors = embed(view, space, projection.seed)
        points = project(vectors, projection.seed)
        figures = measure(vectors, points, view.columns, view.is_known)
        panels[space] = {"figures": figures, "points": np.round(points.astype(float), 2).tolist()}
        tell(done, _PARTS)
    sample = {"known": view.known, "names": view.names, "fingerprint": fingerprint(data)}
    content = {**projection.describe(), "sample": sample, "panels": panels, "origin": origin()}
    write_text(path_of(out, projection), json.dumps(content, ensure_ascii=False))
    tell(_PARTS, _PARTS)


def measure(vectors: Floats, points: Floats, columns: Ints, is_known: Bools) -> dict[str, float]:
    """Return how well classes are told apart in a space, and how much of that is left in the plane.

    Parameters
    ----------
    vectors
        The images in their space, (n, d).
    points
        The same laid flat, (n, 2).
    columns
        The class of each, (n,).
    is_known
        Which are of known classes, (n,).
    """
    is_right, is_right_flat = (voted(space, columns) == columns for space in (vectors, points))
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
    """Return the class that the five nearest others of each vector vote for, the lowest of several, (n,).

    >>> voted(np.array([[0.0], [1], [2], [3], [4], [5]]), np.array([0, 0, 0, 1, 1, 1]))
    array([1, 1, 1, 0, 0, 0])
    """
    # Without an argument, no vector is its own neighbour.
    nearest = (
        NearestNeighbors(n_neighbors=NEIGHBOURS).fit(vectors).kneighbors(return_distance=False)
    )
    votes = np.stack(
        [(columns[nearest] == column).sum(1) for column in range(int(columns.max()) + 1)], axis=1
    )
    most: Ints = votes.argmax(1)
    return most
