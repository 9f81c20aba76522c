"""Coverage of doubt: each question is put where its answer settles the most.

Every recent image has a weight: how much the classifier doubts it, or how likely it is of a class that nobody has
labelled yet, whichever is more. The heaviest fall into as many clusters as there are questions to ask, and the middle
of each is asked about. With few questions a cluster is a new class, or a whole region of doubt; with many it is
one image, and what is asked is what the classifier is least sure of.

An answer speaks for those alone that are nearer to the image asked about than to any labelled one, and that the
classifier takes for the same. The rest of a mixed or large cluster stays in doubt, and is asked about again.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence

import numpy as np
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from csim.discover.choice import Choice, Found, Pick
from csim.discover.doubt import doubt
from csim.discover.novelty import novelty, principal, squares
from csim.discover.representative import Representative
from csim.discover.scene import Scene
from csim.records import Floats, Ints, Item

_POOL = 5  # images that compete for a question: more look farther from the doubtful, fewer see no clusters
_WORTH = 0.05  # the least weight that is worth a question
_NOISE = 0.25  # the least novelty that counts: chance alone gives plainly known images up to 0.2


Weigh = Callable[[Floats, Floats, Floats, Ints, Ints], Floats]


def doubtful(scores: Floats, recent: Floats, labelled: Floats, guesses: Ints, columns: Ints) -> Floats:
    """Weigh images by the classifier's doubt alone."""
    return doubt(scores)


def new_or_doubtful(scores: Floats, recent: Floats, labelled: Floats, guesses: Ints, columns: Ints) -> Floats:
    """Weigh images by doubt or by novelty, whichever is more: they fail on different images."""
    new = novelty(recent, labelled, guesses, columns)
    return np.maximum(doubt(scores), np.where(new < _NOISE, 0, new))


class CoverDoubt(Choice):
    """Clusters of doubtful and new images, as many as there are questions.

    Parameters
    ----------
    representative
        Who stands for a cluster.
    spread
        Images that one answer may speak for, the one asked about included. Raising it labels more per answer, and more
        of them wrongly.
    weigh
        From the scene's scores, features of recent and of labelled images, guesses and the labelled ones' columns to
        what each recent image weighs.
    """

    def __init__(self, representative: Representative, *, spread: int, weigh: Weigh) -> None:
        self._representative = representative
        self._spread = spread
        self._weigh = weigh

    def choose(self, scene: Scene, most: int, pending: Sequence[Item]) -> Found:
        """Return at most `most` questions, and which images belong to open ones."""
        labelled, columns = scene.reference
        asked, asked_as = scene.features_of(pending), scene.guesses_of(pending)
        columns = np.concatenate([columns, np.full(len(asked), -1)])
        recent, known = principal(scene.features, np.concatenate([labelled, asked]))
        guesses = scene.guesses
        weights = self._weigh(scene.scores, recent, known, guesses, columns)
        owner, nearest = _nearest(recent, known)
        joined = _joined(owner - len(labelled), guesses, asked_as)
        weights[np.concatenate([*joined, np.zeros(0, np.int64)])] = 0
        worth = np.argsort(-weights, kind="stable")[: _POOL * most]
        worth = worth[weights[worth] >= _WORTH]
        places = np.concatenate([recent, scene.vectors], axis=1)
        picks = []
        for part in clusters(places[worth], weights[worth], most):
            own = worth[part]
            chosen = int(own[self._representative.choose(places[own])])
            away = np.sqrt(squares(recent[own], recent[[chosen]])[:, 0])
            away[own == chosen] = -1  # before its own doubles
            is_near = ((away < nearest[own]) & (guesses[own] == guesses[chosen])) | (own == chosen)
            nearby = np.argsort(away, kind="stable")
            picks.append(Pick(own[nearby[is_near[nearby]][: self._spread]], chosen))
        return Found(picks, joined)


def clusters(places: Floats, weights: Floats, most: int) -> list[Ints]:
    """Return the places of at most `most` clusters, drawn towards what weighs most.

    >>> [part.tolist() for part in clusters(np.array([[0.0], [9.0], [0.2], [9.1]]), np.ones(4), most=2)]
    [[0, 2], [1, 3]]
    """
    if len(places) <= most:
        return [np.array([place]) for place in range(len(places))]
    with warnings.catch_warnings(category=ConvergenceWarning, action="ignore"):  # fewer distinct images than clusters
        means = KMeans(most, n_init=1, max_iter=15, random_state=0).fit(places, sample_weight=weights)
    parts = (np.flatnonzero(means.labels_ == label) for label in range(most))
    return sorted((part for part in parts if len(part)), key=lambda part: int(part[0]))


def _nearest(recent: Floats, known: Floats) -> tuple[Ints, Floats]:
    """Return the place of each recent image's nearest labelled one, and how far it is."""
    if not len(known):
        return np.full(len(recent), -1), np.full(len(recent), np.inf)
    distances = squares(recent, known)
    return distances.argmin(axis=1), np.sqrt(distances.min(axis=1))


def _joined(owner: Ints, guesses: Ints, asked_as: Ints) -> list[Ints]:
    """Return for each open question the places of the images that it owns and that are taken for the same."""
    if not len(asked_as):
        return []
    places = np.flatnonzero(owner >= 0)
    places = places[guesses[places] == asked_as[owner[places]]]
    places = places[np.argsort(owner[places], kind="stable")]
    return np.split(places, np.searchsorted(owner[places], np.arange(1, len(asked_as))))
