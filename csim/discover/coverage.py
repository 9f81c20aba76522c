"""Coverage of doubt: ask where one answer resolves the most doubt.

Every recent image has a weight: how much the classifier doubts it, or how likely it is of a class
that nobody has labelled yet, whichever is more. An answer labels the image asked about. It also
labels each image that is nearer to it than to any labelled image, if the classifier gives both the
same class. These images are the members of the question.

Questions are chosen greedily, one by one: the image whose answer covers the most weight. Its own
weight counts in full, that of the other members in part. Covered images weigh nothing afterwards.
With few labels this asks about the middle of a new class or of a region of doubt. With more labels
the groups get smaller, and csim asks about the images that the classifier is least sure of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from csim.discover.choice import Choice, Found, Pick, take_new
from csim.discover.novelty import squares
from csim.discover.projection import Projection
from csim.discover.representative import Representative
from csim.discover.scene import Scene
from csim.discover.watch import NoveltyWatch
from csim.records import Bools, Floats, Ints, Item, State

# Choose among the heaviest images only: all of a usual recent window, and a bound for memory.
_MAX_WEIGHED = 2000
_MIN_WEIGHT = 0.05  # do not ask about images that weigh less
_MEMBER_WEIGHT = 0.3  # share of a member's weight that counts: its label is less certain


class CoverDoubt(Choice):
    """Ask about groups of doubtful and new images, those first that cover the most weight.

    Parameters
    ----------
    representative
        Chooses the image to show; if not given, the one whose answer covers the most weight.
    spread
        The most images that one answer labels, the one asked about included. Higher labels more
        images per answer, and more of them wrongly.
    watch
        Finds images of new classes: an image weighs its doubt or its novelty, whichever is more,
        because they fail on different images. Without it, doubt alone counts.
    projection
        Makes the points whose distances count.
    """

    def __init__(
        self,
        representative: Representative | None = None,
        *,
        spread: int,
        watch: NoveltyWatch | None = None,
        projection: Projection,
    ) -> None:
        self._representative = representative
        self._spread = spread
        self._watch = watch
        self._projection = projection
        self._version = 0  # of the model at the last search

    def choose(self, scene: Scene, most: int, pending: Sequence[Item]) -> Found:
        """Return at most `most` questions, and which images join open ones."""
        is_free = np.full(len(scene), True)
        if scene.version == self._version:  # a new model may see other groups
            is_free = ~scene.is_covered
        self._version = scene.version
        labelled, columns = scene.reference
        columns = np.concatenate([columns, np.full(len(pending), -1)])
        recent, known = self._projection.place(
            scene.items, [*labelled, *pending], scene.features, scene.metric
        )
        weights = np.where(is_free, scene.doubt, 0)
        may_join = np.full(len(scene), False)
        if self._watch:
            is_due = self._watch.due(scene.items) & is_free
            due = np.flatnonzero(is_due)
            new = self._watch.compare(scene.items, recent, due, known, scene.guesses, columns)
            weights[due] = np.maximum(weights[due], new)
            may_join = is_due & bool(pending)
        rows = np.flatnonzero((weights >= _MIN_WEIGHT) | may_join)  # others need no neighbours
        points, weights, guesses = recent[rows], weights[rows], scene.guesses[rows]
        to_known = squares(points, known)  # (r, m)
        owner, distance = _nearest(to_known)
        joined = _joined(owner - len(labelled), guesses, pending, scene.guesses_of)
        weights[[index for members in joined.values() for index in members.tolist()]] = 0
        heavy = np.argsort(-weights, kind="stable")[:_MAX_WEIGHED]
        heavy = heavy[weights[heavy] >= _MIN_WEIGHT]
        reach = _reach(points[heavy], distance[heavy], guesses[heavy], self._spread)
        candidates = self._candidates(weights[heavy], reach, points[heavy], rows[heavy])
        found = take_new(scene, candidates, most)
        return found._replace(joined={place: rows[members] for place, members in joined.items()})

    def state(self) -> State:
        """Return which images may be new, the projection, and the model that searched last."""
        watch = {"watch": self._watch.state()} if self._watch else {}
        return {**watch, "projection": self._projection.state(), "version": self._version}

    def restore(self, state: State) -> None:
        """Load what `state` returned; an earlier version remembered nothing."""
        if self._watch and "watch" in state:
            self._watch.restore(state["watch"])
        if "projection" in state:
            self._projection.restore(state["projection"])
            self._version = state.get("version", state["projection"].get("version"))

    def _candidates(
        self, weights: Floats, reach: Bools, points: Floats, indices: Ints
    ) -> Iterator[Pick]:
        """Yield questions, heaviest first; `indices` are those of the images in the scene."""
        for best, group in cover(weights, reach, len(weights)):
            shown = best
            if self._representative:
                shown = group[self._representative.choose(points[group])]
            yield Pick(indices[group[reach[shown, group]]], int(indices[shown]))


def cover(weights: Floats, reach: Bools, most: int) -> Iterator[tuple[int, Ints]]:
    """Yield the index of an image to ask about and the indices of its group, heaviest first.

    No image is in two groups.

    Parameters
    ----------
    weights
        The weight of each image, (n,).
    reach
        Which images an answer about each image labels, itself included, (n, n).
    most
        The most questions to ask. Higher goes on to groups of less weight.

    Examples
    --------
    A group of four weighs more than the single image of greatest weight.

    >>> weights = np.array([0.5, 0.5, 0.5, 0.5, 0.7])
    >>> reach = np.eye(5, dtype=bool)
    >>> reach[1, :4] = True
    >>> [(best, group.tolist()) for best, group in cover(weights, reach, most=2)]
    [(1, [0, 1, 2, 3]), (4, [4])]
    """
    left = weights.copy()
    gains = (1 - _MEMBER_WEIGHT) * weights + _MEMBER_WEIGHT * (reach @ weights)
    for _ in range(min(most, len(weights))):
        best = int(gains.argmax())
        if not left[best]:
            return
        group = np.flatnonzero(reach[best] & (left > 0))
        yield best, group
        gains -= _MEMBER_WEIGHT * (reach[:, group] @ left[group])
        gains[group] = -1
        left[group] = 0


def _reach(points: Floats, nearest: Floats, guesses: Ints, spread: int) -> Bools:
    """Tell which images an answer about each of them would label, (n, n).

    An answer labels at most `spread` images: the one asked about, and the nearest to it. `points`
    are (n, f), `nearest` is the distance of each to the nearest labelled image, (n,).
    """
    distances = squares(points, points)
    reach: Bools = (distances < nearest**2) & (guesses[:, None] == guesses)
    np.fill_diagonal(reach, True)
    distances[~reach] = np.inf
    np.fill_diagonal(distances, -1)  # an image comes before its duplicates
    crowded = np.flatnonzero(reach.sum(axis=1) > spread)
    if len(crowded):
        is_near = np.zeros((len(crowded), len(points)), bool)
        nearest_few = np.argpartition(distances[crowded], spread - 1, axis=1)[:, :spread]
        np.put_along_axis(is_near, nearest_few, True, axis=1)
        reach[crowded] &= is_near
    return reach


def _nearest(to_known: Floats) -> tuple[Ints, Floats]:
    """Return for each row of squared distances the index of the nearest, and its distance."""
    if not to_known.shape[1]:
        return np.full(len(to_known), -1), np.full(len(to_known), np.inf)
    owner = to_known.argmin(axis=1)
    return owner, np.sqrt(to_known[np.arange(len(owner)), owner])


def _joined(
    owner: Ints,
    guesses: Ints,
    pending: Sequence[Item],
    guesses_of: Callable[[Sequence[Item]], Ints],
) -> dict[int, Ints]:
    """Return the indices of the images that join open questions, by the question's index.

    An image joins the question whose image is its nearest (`owner`, negative if a labelled image is
    nearer) if both have the same best class.
    """
    indices = np.flatnonzero(owner >= 0)
    near, places = np.unique(owner[indices], return_inverse=True)
    asked_guesses = guesses_of([pending[index] for index in near.tolist()])
    is_same = guesses[indices] == asked_guesses[places]
    joining, owners = indices[is_same], owner[indices[is_same]]
    return {index: joining[owners == index] for index in np.unique(owners).tolist()}
