"""Coverage of doubt: each question is put where its answer settles the most.

Every recent image has a weight: how much the classifier doubts it, or how likely it is of a class that nobody has
labelled yet, whichever is more. An answer settles the image asked about, and speaks for those alone that are nearer to
it than to any labelled one, and that the classifier takes for the same. So questions are chosen one by one: the image
that settles the most weight, its own in full and a part of that of those it would speak for, which weigh nothing from
then on. With few questions that is the middle of a new class, or of a whole region of doubt; the more is labelled, the
fewer images are spoken for, and what is asked is what the classifier is least sure of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from csim.discover.choice import Choice, Found, Pick
from csim.discover.doubt import doubt
from csim.discover.novelty import novelty, principal, squares
from csim.discover.representative import Representative
from csim.discover.scene import Scene
from csim.records import Bools, Floats, Ints, Item

_POOL = 2000  # the heaviest images, among which questions are chosen: all of a usual window, and a bound for memory
_WORTH = 0.05  # the least weight that is worth a question
_NOISE = 0.25  # the least novelty that counts: chance alone gives plainly known images up to 0.2
_FELLOWS = 0.3  # of the weight of an image that is spoken for: an answer is not as sure of it as of the one asked about


Weigh = Callable[[Floats, Floats, Floats, Ints, Ints], Floats]


def doubtful(
    scores: Floats, recent: Floats, labelled: Floats, guesses: Ints, columns: Ints
) -> Floats:
    """Weigh images by the classifier's doubt alone."""
    return doubt(scores)


def new_or_doubtful(
    scores: Floats, recent: Floats, labelled: Floats, guesses: Ints, columns: Ints
) -> Floats:
    """Weigh images by doubt or by novelty, whichever is more: they fail on different images."""
    new = novelty(recent, labelled, guesses, columns)
    return np.maximum(doubt(scores), np.where(new < _NOISE, 0, new))


class CoverDoubt(Choice):
    """Groups of doubtful and new images, those first that settle the most.

    Parameters
    ----------
    representative
        Who stands for a group; if not given, the one whose answer settles the most.
    spread
        Images that one answer may speak for, the one asked about included. Raising it labels more per answer, and more
        of them wrongly.
    weigh
        From the scene's scores, features of recent and of labelled images, guesses and the labelled ones' columns to
        what each recent image weighs.
    """

    def __init__(
        self, representative: Representative | None = None, *, spread: int, weigh: Weigh
    ) -> None:
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
        worth = np.argsort(-weights, kind="stable")[:_POOL]
        worth = worth[weights[worth] >= _WORTH]
        reach = _reach(recent[worth], nearest[worth], guesses[worth], self._spread)
        picks = []
        for best, group in cover(weights[worth], reach, most):
            shown = (
                group[self._representative.choose(recent[worth[group]])]
                if self._representative
                else best
            )
            picks.append(Pick(worth[group[reach[shown, group]]], int(worth[shown])))
        return Found(picks, joined)


def cover(weights: Floats, reach: Bools, most: int) -> Iterator[tuple[int, Ints]]:
    """Yield the places of whom to ask about and of those it speaks for, what settles the most first, none twice.

    Parameters
    ----------
    weights
        Of the images, (n,).
    reach
        For whom each would speak, itself included, (n, n).
    most
        Questions that may be asked. Raising it goes on to those that settle less.

    Examples
    --------
    One image speaks for three that weigh more together than the one that weighs most.

    >>> reach = np.eye(5, dtype=bool)
    >>> reach[1, :4] = True
    >>> [(best, group.tolist()) for best, group in cover(np.array([0.5, 0.5, 0.5, 0.5, 0.7]), reach, most=2)]
    [(1, [0, 1, 2, 3]), (4, [4])]
    """
    left = weights.copy()
    gains = (1 - _FELLOWS) * weights + _FELLOWS * (reach @ weights)
    for _ in range(min(most, len(weights))):
        best = int(gains.argmax())
        if not left[best]:
            return
        group = np.flatnonzero(reach[best] & (left > 0))
        yield best, group
        gains -= _FELLOWS * (reach[:, group] @ left[group])
        gains[group] = -1
        left[group] = 0


def _reach(places: Floats, nearest: Floats, guesses: Ints, spread: int) -> Bools:
    """Tell for whom each image, (n, f), would speak, (n, n): at most `spread`, itself and the nearest to it."""
    away = squares(places, places)
    reach: Bools = (away < nearest**2) & (guesses[:, None] == guesses)
    np.fill_diagonal(reach, True)
    away[~reach] = np.inf
    np.fill_diagonal(away, -1)  # before its own doubles
    if spread < len(places):
        few = np.zeros_like(reach)
        np.put_along_axis(few, np.argpartition(away, spread - 1, axis=1)[:, :spread], True, axis=1)
        reach &= few
    return reach


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
