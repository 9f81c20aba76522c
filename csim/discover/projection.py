"""The projection: features of recent and labelled images as points of few dimensions.

Distances between points tell new classes from known ones. csim fits the projection at the first
search under a metric, and again after a few searches: new classes may need other components. In
between, the points of an image stay as they are, so csim projects only images that came since.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from csim.item_rows import ItemRows
from csim.main_axes import main_axes
from csim.records import Floats, Item, State

_MAX_COMPONENTS = 40  # of the features: more add noise and take time
_EXTRA_COMPONENTS = 8  # found beside them, so that the last ones converge sooner
_ITERATIONS = 2  # of the search for components: more turn the last ones a little
_SAMPLE_SIZE = 1000  # images to find the components from
_MANY_FEATURES = 600  # more come from pretrained encoders; their components must be exact
_EXACT_SAMPLE_SIZE = 2000  # images to find the components of many features from
_MIN_LENGTH = 1e-6  # below, do not rescale: a single labelled image is its own mean
_LABELLED_POINTS = 4_000  # remembered beside recent ones: those that searches compare with
_MOST_POINTS = 40_000  # remembered in all; older ones are computed again when they are needed

Features = Callable[[Sequence[Item]], Floats]


class Projection:
    """Project features to the principal components of recent and labelled images.

    Parameters
    ----------
    turns
        Searches that one fit serves, as long as the metric stays. Higher takes less time, but a new
        class is separated from known ones later; 1 fits at each search.
    recent
        Images of the recent window. Higher remembers more points but uses more memory.
    """

    def __init__(self, turns: int, *, recent: int = 2_000) -> None:
        self._turns = turns
        self._metric = 0  # that it was fitted for
        self._searches = 0  # since it was fitted
        self._centre: Floats = np.zeros(0, np.float32)  # (f,)
        self._axes: Floats = np.zeros((0, 0), np.float32)  # (f, c)
        self._scale = 1.0
        self._points = ItemRows(min(2 * recent + _LABELLED_POINTS, _MOST_POINTS))

    def place(
        self, recent: Sequence[Item], labelled: Sequence[Item], features: Features, metric: int
    ) -> tuple[Floats, Floats]:
        """Return the points of both, (n, c) and (m, c), for a search.

        They are scaled so that the labelled ones have a root mean square length of 1 at the fit.

        Parameters
        ----------
        recent, labelled
            The images; at least one is recent.
        features
            Returns the features of images, (n, f), under the model in use.
        metric
            Of that model: features of one metric are the same.
        """
        items = [*recent, *labelled]
        if metric != self._metric or self._searches >= self._turns:
            parts = [features(part) for part in (recent, labelled) if part]
            points = self._fit(np.concatenate(parts), len(recent))
            self._points.clear()
            if self._turns > 1:
                self._points.add_items(items, points)
            self._metric = metric
            self._searches = 0
        else:
            points = self._find(items, features)
        self._searches += 1
        return points[: len(recent)], points[len(recent) :]

    def state(self) -> State:
        """Return the fit; the points can be computed again."""
        return {
            "metric": self._metric,
            "searches": self._searches,
            "centre": self._centre,
            "axes": self._axes,
            "scale": self._scale,
        }

    def restore(self, state: State) -> None:
        """Load what `state` returned."""
        # Before, each model had a metric of its own.
        self._metric = state["metric"] if "metric" in state else state["version"]
        self._searches = state["searches"]
        self._centre = state["centre"]
        self._axes = state["axes"]
        self._scale = state["scale"]
        self._points.clear()

    def _fit(self, features: Floats, recent: int) -> Floats:
        """Find the components of features, (n, f), the first of which are recent; return points."""
        labelled = features[recent:]
        self._centre = (labelled if len(labelled) else features).mean(axis=0)
        self._axes = _principal_axes(features[:recent], labelled, self._centre)
        self._scale = 1.0
        points = self._project(features)
        if len(labelled):
            length = float(np.sqrt((points[recent:] ** 2).sum(axis=1).mean()))
            self._scale = length if length > _MIN_LENGTH else 1.0
        return points / np.float32(self._scale)

    def _find(self, items: Sequence[Item], features: Features) -> Floats:
        """Return points, (n, c); those that are not remembered are computed in one go."""
        return self._points.of(
            items, lambda new: self._project(features(new)) / np.float32(self._scale)
        )

    def _project(self, features: Floats) -> Floats:
        centred = features - self._centre  # subtracted first: rounding is then small
        # One product per image: rounding in a product of many depends on an image's row.
        points: Floats = np.matmul(centred[:, None, :], self._axes)[:, 0]
        return points


def _principal_axes(recent: Floats, labelled: Floats, centre: Floats) -> Floats:
    """Return the main directions of both around a centre, (f, c), from a sample of them."""
    has_many = recent.shape[1] > _MANY_FEATURES
    count = len(recent) + len(labelled)
    spacing = -(-count // _EXACT_SAMPLE_SIZE) if has_many else max(1, count // _SAMPLE_SIZE)
    sample = np.concatenate([recent[::spacing], labelled[::spacing]]) - centre
    if has_many:
        # The whitened vectors of a pretrained encoder spread about evenly: subspace iteration would
        # take long to find the few directions that tell classes apart.
        return main_axes(sample, _MAX_COMPONENTS)[1].T
    return _about_main_axes(sample.T @ sample)


def _about_main_axes(products: Floats) -> Floats:
    """Return about the eigenvectors of the largest eigenvalues, (f, 40), of a matrix (f, f).

    Subspace iteration (Golub and Van Loan, Matrix Computations, 8.2.4) takes a small part of the
    time of all eigenvectors. It starts from columns of the matrix, not at random: the same matrix
    gives the same axes.
    """
    count = min(_MAX_COMPONENTS, len(products))
    found = min(len(products), count + _EXTRA_COMPONENTS)
    strongest = np.argsort(-products.diagonal(), kind="stable")[:found]
    axes = np.linalg.qr(products[:, strongest])[0]
    for _ in range(_ITERATIONS):
        axes = np.linalg.qr(products @ axes)[0]
    within = np.linalg.eigh(axes.T @ products @ axes)[1][:, -count:]
    main: Floats = axes @ within
    return main
