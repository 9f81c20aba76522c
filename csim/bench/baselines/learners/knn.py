"""Nearest neighbours by Euclidean distance, in bounded memory, and the class they vote for."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sklearn.neighbors import NearestNeighbors

from csim.records import Floats, Ints

K_CHOICES = (1, 3, 5, 7, 15, 30)


def nearest(gallery: Floats, queries: Floats, count: int) -> Ints:
    """Return the indices of the nearest gallery vectors, nearest first, (n, count).

    Parameters
    ----------
    gallery
        Vectors to search among, (m, d).
    queries
        Vectors to find the neighbours of, (n, d).
    count
        Neighbours per query; all of the gallery if it has fewer. Higher finds more distant ones.
    """
    found = NearestNeighbors(n_neighbors=min(count, len(gallery)), algorithm="brute").fit(gallery)
    return np.asarray(found.kneighbors(queries, return_distance=False), np.int64)


def vote(neighbours: Ints, k: int) -> Ints:
    """Return the majority class of the first k neighbours, (n,).

    In a tie, the class with the nearest neighbour wins.

    Parameters
    ----------
    neighbours
        The classes of each image's neighbours, nearest first, (n, K).
    k
        Neighbours that vote. Higher is more reliable in dense classes and outvotes small ones.

    Examples
    --------
    >>> vote(np.array([[2, 0, 0], [2, 0, 1]]), 3).tolist()
    [0, 2]
    """
    k = min(k, neighbours.shape[1])
    # Each rank adds more than all later ranks together, and all ranks together add less than 1.
    weights = 1 + 0.5 ** np.arange(2.0, k + 2)
    votes = np.zeros((len(neighbours), int(neighbours.max()) + 1))
    for rank in range(k):
        votes[np.arange(len(neighbours)), neighbours[:, rank]] += weights[rank]
    return np.asarray(votes.argmax(axis=1))


def choose_k(neighbours: Ints, truth: Ints, choices: Sequence[int] = K_CHOICES) -> int:
    """Return the k that classifies most images correctly, the smallest in a tie.

    Parameters
    ----------
    neighbours
        The classes of each image's neighbours, nearest first, (n, K).
    truth
        The true class of each image, (n,).
    choices
        Values of k to try.
    """
    return max(choices, key=lambda k: (np.mean(vote(neighbours, k) == truth), -k))
