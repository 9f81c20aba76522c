"""Neighbours and their votes, against naive counts."""

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from csim.bench.baselines.learners.knn import choose_k, nearest, vote


def test_neighbours_are_those_of_all_distances():
    rng = np.random.default_rng(0)
    gallery = rng.normal(size=(40, 3))
    queries = rng.normal(size=(9, 3))
    expected = np.argsort(np.square(queries[:, None] - gallery).sum(axis=2), axis=1)[:, :7]
    assert np.array_equal(nearest(gallery, queries, 7), expected)
    assert nearest(gallery, queries, 99).shape == (9, 40)


@given(st.lists(st.integers(0, 4), min_size=1, max_size=9), st.integers(1, 12))
def test_the_majority_wins_and_in_a_tie_one_of_the_majority(classes, k):
    found = vote(np.array([classes]), k)[0]
    counts = Counter(classes[:k])
    assert counts[found] == max(counts.values())


def test_in_a_tie_the_nearer_wins():
    assert vote(np.array([[3, 1, 1, 3]]), 4).tolist() == [3]
    assert vote(np.array([[1, 3, 3, 1]]), 2).tolist() == [1]


def test_k_is_the_most_accurate_and_in_a_tie_the_smallest():
    neighbours = np.array([[0, 1, 1, 1, 1], [1, 0, 0, 0, 0]])
    assert choose_k(neighbours, np.array([0, 1]), (1, 3, 5)) == 1
    assert choose_k(neighbours, np.array([1, 0]), (1, 3, 5)) == 3
