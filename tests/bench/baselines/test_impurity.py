import numpy as np
import pytest

from csim.bench.baselines.impurity import impure_groups, settle
from csim.bench.baselines.summaries import far_apart, summarise
from csim.discover.novelty import squares


def entropy(counts):
    shares = [count / sum(counts) for count in counts if count]
    return -sum(share * np.log2(share) for share in shares)


def naive(distances, labels, groups, order):
    """Return where one image after the other goes, every term counted anew."""
    groups = groups.copy()
    for place in order:
        costs = []
        for own in range(distances.shape[1]):
            others = [
                labels[index]
                for index in range(len(labels))
                if groups[index] == own and index != place
            ]
            counts = np.bincount([*others, labels[place]])
            strangers = sum(label != labels[place] for label in others)
            costs.append(distances[place, own] * (1 + entropy(counts) * strangers))
        groups[place] = int(np.argmin(costs))
    return groups


class OneOrder:
    """Gives an order once, and then again and again, as a generator would give another."""

    def __init__(self, order):
        self.order = order

    def permutation(self, _):
        return self.order


@pytest.mark.parametrize("seed", range(10))
def test_images_move_where_naive_counting_sends_them(seed):
    rng = np.random.default_rng(seed)
    distances, labels = rng.uniform(1, 2, (25, 4)), rng.integers(0, 3, 25)
    groups, order = rng.integers(0, 4, 25), rng.permutation(25)
    expected = groups
    for _ in range(10):
        before, expected = expected, naive(distances, labels, expected, order)
        if (before == expected).all():
            break
    assert settle(distances, labels, groups, OneOrder(order)).tolist() == expected.tolist()


def far_groups(vectors, many, rng):
    return squares(vectors, vectors[far_apart(vectors, many, rng)]).argmin(axis=1)


def test_classes_that_touch_are_kept_apart(blobs, rng):
    vectors, labels = blobs([[0, 0], [0.8, 0]], 80, spread=0.4)
    purity = summarise(vectors, labels, impure_groups(vectors, labels, 8, rng)).purity
    assert np.mean(purity) > 0.93
    mixed = summarise(vectors, labels, far_groups(vectors, 8, rng)).purity
    assert np.mean(purity) > np.mean(mixed)


def test_far_blobs_become_groups_of_their_own(blobs, rng):
    vectors, labels = blobs([[0, 0], [9, 0], [0, 9]], 30)
    groups = impure_groups(vectors, labels, 3, rng)
    assert [len(set(groups[labels == own])) for own in range(3)] == [1, 1, 1]
    assert len(set(groups)) == 3
