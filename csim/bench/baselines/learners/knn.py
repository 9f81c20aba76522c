"""Nearest neighbours: who they are, and which class they vote for. Distances are Euclidean, memory is bounded."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sklearn.neighbors import NearestNeighbors

from csim.records import Floats, Ints

CHOICES = (1, 3, 5, 7, 15, 30)  # of k, where it is chosen on validation images


def nearest(gallery: Floats, queries: Floats, many: int) -> Ints:
    """Return the places of the nearest vectors of the gallery, nearest first, (n, many) or as many as there are."""
    found = NearestNeighbors(n_neighbors=min(many, len(gallery)), algorithm="brute").fit(gallery)
    return np.asarray(found.kneighbors(queries, return_distance=False), np.int64)


def vote(neighbours: Ints, k: int) -> Ints:
    """Return the class of most of the first k neighbours; of several, the one with the nearest neighbour.

    Parameters
    ----------
    neighbours
        The classes of each image's neighbours, nearest first, (n, K).
    k
        How many count. Raising it is surer where classes are dense, and drowns small ones.

    Examples
    --------
    >>> vote(np.array([[2, 0, 0], [2, 0, 1]]), 3).tolist()
    [0, 2]
    """
    k = min(k, neighbours.shape[1])
    ranks = 1 + 0.5 ** np.arange(
        2.0, k + 2
    )  # each rank adds more than all after it, and all of them less than a vote
    votes = np.zeros((len(neighbours), int(neighbours.max()) + 1))
    for rank in range(k):
        votes[np.arange(len(neighbours)), neighbours[:, rank]] += ranks[rank]
    return np.asarray(votes.argmax(axis=1))


def choose_k(neighbours: Ints, truth: Ints, choices: Sequence[int] = CHOICES) -> int:
    """Return the k that names most images rightly, the smallest of several.

    Parameters
    ----------
    neighbours
        The classes of each image's neighbours, nearest first, (n, K).
    truth
        Its own class, (n,).
    choices
        What is tried.
    """
    return max(choices, key=lambda k: (np.mean(vote(neighbours, k) == truth), -k))
