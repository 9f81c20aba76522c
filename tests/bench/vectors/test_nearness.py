"""Nearness, judged by loops over single images."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from csim.bench.vectors import nearness
from csim.bench.vectors.nearness import distances_to_classes, nearer_to, strays
from csim.errors import InputError


def apart(one, other):
    return math.sqrt(sum((a - b) ** 2 for a, b in zip(one, other, strict=True)))


def plain(vectors, columns, join):
    """Return the distance of each image from each class; `join` is the mean or the nearest."""
    table = []
    for place, vector in enumerate(vectors.tolist()):
        row = []
        for column in range(max(columns) + 1):
            others = [
                apart(vector, other)
                for where, other in enumerate(vectors.tolist())
                if columns[where] == column and where != place
            ]
            row.append(join(others))
        table.append(row)
    return np.array(table)


def mean(values):
    return sum(values) / len(values)


def drawn(count, size, classes, seed=0):
    rng = np.random.default_rng(seed)
    columns = np.concatenate(
        [np.repeat(np.arange(classes), 2), rng.integers(0, classes, count - 2 * classes)]
    )
    return rng.normal(size=(count, size)) + columns[:, None] * 0.3, columns


@pytest.mark.parametrize(("count", "size", "classes"), [(4, 1, 2), (37, 5, 4), (60, 20, 7)])
def test_distances_are_those_of_a_plain_loop(count, size, classes):
    vectors, columns = drawn(count, size, classes)
    found = distances_to_classes(vectors, columns)
    assert found.mean == pytest.approx(plain(vectors, columns, mean))
    assert found.nearest == pytest.approx(plain(vectors, columns, min))


def test_chunks_change_nothing(monkeypatch):
    vectors, columns = drawn(41, 6, 3)
    whole = distances_to_classes(vectors, columns)
    monkeypatch.setattr(nearness, "_CHUNK", 7)
    parts = distances_to_classes(vectors, columns)
    assert parts.mean == pytest.approx(whole.mean)
    assert parts.nearest == pytest.approx(whole.nearest)


@given(
    arrays(np.float32, (12, 3), elements=st.floats(-5, 5, width=16)),
    st.permutations([0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 2, 2]),
)
def test_equal_images_and_single_precision_do_no_harm(vectors, order):
    columns = np.array(order)
    found = distances_to_classes(vectors, columns)
    assert found.mean == pytest.approx(plain(vectors, columns, mean), abs=1e-5)
    assert found.nearest == pytest.approx(plain(vectors, columns, min), abs=1e-5)
    assert np.isfinite(found.mean).all()
    assert np.isfinite(found.nearest).all()


def test_an_image_is_no_neighbour_of_itself():
    vectors = np.array([[0.0], [10.0], [1.0], [11.0]])
    found = distances_to_classes(vectors, np.array([0, 0, 1, 1]))
    assert found.nearest[:, 0].tolist() == [10, 10, 1, 1]
    assert found.mean[0].tolist() == [10, 6]


def test_the_order_of_images_does_not_matter():
    vectors, columns = drawn(30, 4, 3)
    order = np.random.default_rng(1).permutation(30)
    found = distances_to_classes(vectors, columns)
    mixed = distances_to_classes(vectors[order], columns[order])
    assert mixed.mean == pytest.approx(found.mean[order])
    assert mixed.nearest == pytest.approx(found.nearest[order])


@pytest.mark.parametrize("columns", [[0, 0, 1], [0, 0, 0], [0, 0, 2, 2]])
def test_a_class_without_a_second_image_is_refused(columns):
    with pytest.raises(InputError, match="at least 2 images"):
        distances_to_classes(np.zeros((len(columns), 2)), np.array(columns))


def test_the_arrays_given_are_not_edited():
    vectors, columns = drawn(20, 3, 2)
    before = vectors.copy(), columns.copy()
    found = distances_to_classes(vectors, columns)
    rows = found.mean.copy()
    strays(found.mean, columns)
    assert np.array_equal(vectors, before[0])
    assert np.array_equal(columns, before[1])
    assert np.array_equal(found.mean, rows)


@pytest.mark.parametrize("seed", range(5))
def test_strays_are_those_of_a_plain_loop(seed):
    vectors, columns = drawn(50, 3, 5, seed)
    for distances in vars(distances_to_classes(vectors, columns)).values():
        expected = [
            any(row[other] < row[actual] for other in range(5) if other != actual)
            for row, actual in zip(distances.tolist(), columns.tolist(), strict=True)
        ]
        assert strays(distances, columns).tolist() == expected
        assert 0 < sum(expected) < 50


def test_as_near_to_another_class_as_to_the_own_is_no_stray():
    assert strays(np.array([[3.0, 3.0]]), np.array([0])).tolist() == [False]
    assert nearer_to(np.array([[3.0, 3.0]]), actual=0, other=1).tolist() == [False]


def test_classes_far_apart_have_no_strays_and_mixed_ones_have():
    rng = np.random.default_rng(0)
    columns = np.repeat([0, 1], 50)
    near, far = (
        rng.normal(size=(100, 8)) + distance * columns[:, None] for distance in (0.0, 20.0)
    )
    assert not strays(distances_to_classes(far, columns).mean, columns).any()
    assert 0.2 < strays(distances_to_classes(near, columns).nearest, columns).mean() < 0.8


def test_one_other_class_may_be_asked_about():
    distances = np.array([[1.0, 2.0, 0.5], [3.0, 2.0, 4.0]])
    assert nearer_to(distances, actual=0, other=1).tolist() == [False, True]
    assert nearer_to(distances, actual=0, other=2).tolist() == [True, False]
