"""Clustering that keeps classes apart: a labelled image is drawn less to a cluster whose members are of other classes.

An image goes where distance · (1 + entropy · strangers) is least: the entropy, in bits, of the cluster's classes with
the image in it, times the number of its members of other classes.
"""

from __future__ import annotations

import numpy as np

from csim.bench.baselines.summaries import far_apart, shares
from csim.discover.novelty import squares
from csim.records import Floats, Ints

_ROUNDS = 5  # centres are moved so often
_PASSES = 10  # over all images, between two moves


def impure_groups(vectors: Floats, labels: Ints, most: int, rng: np.random.Generator) -> Ints:
    """Return a group for each labelled vector.

    Parameters
    ----------
    vectors, labels
        The chunk.
    most
        Groups in all. Raising it follows the classes' shapes more closely, and makes the spheres smaller.
    rng
        Draws the first seeds, and the order in which images move.
    """
    seeds = [
        members[far_apart(vectors[members], many, rng)]
        for own, many in shares(labels, most).items()
        for members in [np.flatnonzero(labels == own)]
    ]
    centres = vectors[np.concatenate(seeds)].astype(float)
    groups: Ints = squares(vectors, centres).argmin(axis=1)
    for _ in range(_ROUNDS):
        moved = settle(np.sqrt(squares(vectors, centres)), labels, groups, rng)
        is_member = moved == np.arange(len(centres))[:, None]
        counts = is_member.sum(axis=1)
        is_used = counts > 0
        centres[is_used] = (is_member[is_used] @ vectors.astype(float)) / counts[is_used, None]
        if (moved == groups).all():
            break
        groups = moved
    return groups


def settle(distances: Floats, labels: Ints, groups: Ints, rng: np.random.Generator) -> Ints:
    """Let images move one by one, in random order, until none wants to; return each one's group.

    Parameters
    ----------
    distances
        From every image to every centre, (n, k).
    labels
        Classes, (n,).
    groups
        Where they are to begin with, (n,).
    rng
        Draws the order.
    """
    groups = groups.copy()
    counts = np.zeros((distances.shape[1], int(labels.max()) + 1))  # (k, C)
    np.add.at(counts, (groups, labels), 1)
    logs = np.concatenate(
        [[0.0], np.arange(1, len(labels) + 2) * np.log2(np.arange(1, len(labels) + 2))]
    )
    sizes, entropies = (
        counts.sum(axis=1),
        logs[counts.astype(int)].sum(axis=1),
    )  # Σ c·log2 c of each group
    for _ in range(_PASSES):
        changed = False
        for place in rng.permutation(len(labels)):
            own, label = groups[place], labels[place]
            _move(counts, sizes, entropies, logs, own, label, -1)
            mine = counts[:, label].astype(int)
            total = sizes.astype(int) + 1
            entropy = (logs[total] - (entropies - logs[mine] + logs[mine + 1])) / total
            best = int((distances[place] * (1 + entropy * (sizes - mine))).argmin())
            _move(counts, sizes, entropies, logs, best, label, 1)
            changed |= best != own
            groups[place] = best
        if not changed:
            break
    return groups


def _move(
    counts: Floats, sizes: Floats, entropies: Floats, logs: Floats, group: int, label: int, by: int
) -> None:
    before = int(counts[group, label])
    counts[group, label] += by
    sizes[group] += by
    entropies[group] += logs[before + by] - logs[before]
