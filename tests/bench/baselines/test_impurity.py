import numpy as np
import pytest

from csim.bench.baselines.impurity import cluster_by_impurity, minimise_impurity
from csim.bench.baselines.micro_clusters import build_micro_clusters, farthest_first
from csim.discover.novelty import squares


def entropy(counts):
    shares = [count / sum(counts) for count in counts if count]
    return -sum(share * np.log2(share) for share in shares)


def naive(distances, labels, groups, order):
    """Return where one image after the other moves, with every term counted from scratch."""
    groups = groups.copy()
    for moving in order:
        costs = []
        for group in range(distances.shape[1]):
            others = [
                labels[index]
                for index in range(len(labels))
                if groups[index] == group and index != moving
            ]
            counts = np.bincount([*others, labels[moving]])
            foreign = sum(label != labels[moving] for label in others)
            costs.append(distances[moving, group] * (1 + entropy(counts) * foreign))
        groups[moving] = int(np.argmin(costs))
    return groups


class OneOrder:
    """Stand in for a random generator: return the same order every time."""

    def __init__(self, order):
        self.order = order

    def permutation(self, _):
        return self.order


@pytest.mark.parametrize("seed", range(10))
def test_images_move_where_naive_counting_sends_them(seed):
    rng = np.random.default_rng(seed)
    distances = rng.uniform(1, 2, (25, 4))
    labels = rng.integers(0, 3, 25)
    groups = rng.integers(0, 4, 25)
    order = rng.permutation(25)
    expected = groups
    for _ in range(10):
        before = expected
        expected = naive(distances, labels, expected, order)
        if (before == expected).all():
            break
    found = minimise_impurity(distances, labels, groups, OneOrder(order))
    assert found.tolist() == expected.tolist()


def nearest_seed(vectors, count, rng):
    return squares(vectors, vectors[farthest_first(vectors, count, rng)]).argmin(axis=1)


def test_classes_that_touch_are_kept_apart(blobs, rng):
    vectors, labels = blobs([[0, 0], [0.8, 0]], 80, spread=0.4)
    groups = cluster_by_impurity(vectors, labels, 8, rng)
    purity = build_micro_clusters(vectors, labels, groups).purity
    assert np.mean(purity) > 0.93
    mixed = build_micro_clusters(vectors, labels, nearest_seed(vectors, 8, rng)).purity
    assert np.mean(purity) > np.mean(mixed)


def test_far_blobs_become_separate_groups(blobs, rng):
    vectors, labels = blobs([[0, 0], [9, 0], [0, 9]], 30)
    groups = cluster_by_impurity(vectors, labels, 3, rng)
    assert [len(set(groups[labels == label])) for label in range(3)] == [1, 1, 1]
    assert len(set(groups)) == 3
