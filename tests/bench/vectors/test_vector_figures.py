"""Figures about vectors against scikit-learn and loops written out."""

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

from csim.bench.vectors import figures


@pytest.fixture
def cloud():
    """Return vectors around three centres, and the centre of each."""
    rng = np.random.default_rng(0)
    columns = np.repeat(np.arange(3), 20)
    return rng.normal(size=(3, 4))[columns] + rng.normal(size=(60, 4)), columns


def test_neighbours_vote_as_scikit_learns_classifier_does(cloud):
    vectors, columns = cloud
    odd = slice(1, None, 2)
    even = slice(0, None, 2)
    expected = (
        KNeighborsClassifier(5).fit(vectors[odd], columns[odd]).score(vectors[even], columns[even])
    )
    ours = figures.neighbour_accuracy(vectors[odd], columns[odd], vectors[even], columns[even])
    assert ours == pytest.approx(100 * expected)


def test_a_vector_has_no_vote_on_itself(cloud):
    vectors, columns = cloud
    others = np.arange(len(columns))
    hits = [
        KNeighborsClassifier(5)
        .fit(vectors[others != i], columns[others != i])
        .predict(vectors[[i]])[0]
        == columns[i]
        for i in others
    ]
    assert figures.leave_one_out_accuracy(vectors, columns) == pytest.approx(100 * np.mean(hits))


def test_remoteness_is_the_fifth_distance(cloud):
    vectors, _ = cloud
    stored = vectors[:40]
    fresh = vectors[40:]
    expected = [sorted(np.linalg.norm(stored - one, axis=1))[4] for one in fresh]
    np.testing.assert_allclose(figures.remoteness(stored, fresh), expected)


def test_spread_is_the_mean_over_pairs(cloud):
    vectors, columns = cloud
    pairs = {True: [], False: []}
    for i in range(60):
        for j in range(i):
            pairs[bool(columns[i] == columns[j])].append(np.linalg.norm(vectors[i] - vectors[j]))
    assert figures.spread(vectors, columns) == pytest.approx(
        (np.mean(pairs[True]), np.mean(pairs[False]))
    )


def test_spread_of_a_collapsed_embedding_is_zero():
    assert figures.spread(np.ones((6, 3), np.float32), np.array([0, 0, 0, 1, 1, 1])) == (0, 0)
