"""Impurity-based clustering, which keeps the classes apart (ECHO, Haque et al., ICDE 2016).

A labelled image joins the cluster with the least distance · (1 + entropy · other), where `entropy`
is the entropy in bits of the cluster's classes with the image in it, and `other` is the number of
its members of other classes.
"""

from __future__ import annotations

import numpy as np

from csim.bench.baselines.micro_clusters import clusters_per_class, farthest_first
from csim.discover.novelty import squares
from csim.records import Floats, Ints

_MAX_ROUNDS = 5  # updates of the centres
_MAX_PASSES = 10  # passes over all images between two updates of the centres


def cluster_by_impurity(
    vectors: Floats, labels: Ints, total: int, rng: np.random.Generator
) -> Ints:
    """Return a group for each labelled vector.

    Parameters
    ----------
    vectors, labels
        The chunk, (n, d) and (n,).
    total
        Groups over all classes. Higher follows the shapes of the classes more closely and makes
        the spheres smaller.
    rng
        Draws the first seed of each class, and the order in which images move.
    """
    seeds = [
        members[farthest_first(vectors[members], count, rng)]
        for class_id, count in clusters_per_class(labels, total).items()
        for members in [np.flatnonzero(labels == class_id)]
    ]
    centres = vectors[np.concatenate(seeds)].astype(float)
    groups: Ints = squares(vectors, centres).argmin(axis=1)
    for _ in range(_MAX_ROUNDS):
        moved = minimise_impurity(np.sqrt(squares(vectors, centres)), labels, groups, rng)
        is_member = moved == np.arange(len(centres))[:, None]
        counts = is_member.sum(axis=1)
        is_used = counts > 0
        centres[is_used] = (is_member[is_used] @ vectors.astype(float)) / counts[is_used, None]
        if (moved == groups).all():
            break
        groups = moved
    return groups


def minimise_impurity(
    distances: Floats, labels: Ints, groups: Ints, rng: np.random.Generator
) -> Ints:
    """Move images one by one, in random order, until none moves; return the group of each.

    Parameters
    ----------
    distances
        Distance from every image to every centre, (n, k).
    labels
        Class of every image, (n,).
    groups
        Group of every image before the first move, (n,).
    rng
        Draws the order.
    """
    groups = groups.copy()
    counts = np.zeros((distances.shape[1], int(labels.max()) + 1))  # (k, C)
    np.add.at(counts, (groups, labels), 1)
    logs = np.concatenate(
        [[0.0], np.arange(1, len(labels) + 2) * np.log2(np.arange(1, len(labels) + 2))]
    )
    sizes = counts.sum(axis=1)
    log_sums = logs[counts.astype(int)].sum(axis=1)  # Σ c·log2 c of each group
    for _ in range(_MAX_PASSES):
        changed = False
        for index in rng.permutation(len(labels)):
            before = groups[index]
            label = labels[index]
            _change_count(counts, sizes, log_sums, logs, before, label, -1)
            same = counts[:, label].astype(int)
            total = sizes.astype(int) + 1
            entropy = (logs[total] - (log_sums - logs[same] + logs[same + 1])) / total
            best = int((distances[index] * (1 + entropy * (sizes - same))).argmin())
            _change_count(counts, sizes, log_sums, logs, best, label, 1)
            changed |= best != before
            groups[index] = best
        if not changed:
            break
    return groups


def _change_count(
    counts: Floats, sizes: Floats, log_sums: Floats, logs: Floats, group: int, label: int, by: int
) -> None:
    before = int(counts[group, label])
    counts[group, label] += by
    sizes[group] += by
    log_sums[group] += logs[before + by] - logs[before]
