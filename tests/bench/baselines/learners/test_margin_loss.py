"""LMNN's objective against a naive sum, finite differences and exact impostors."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from csim.bench.baselines.learners.lmnn import LMNN
from csim.bench.baselines.learners.margin_loss import (
    NO_IMPOSTOR,
    find_impostors,
    find_targets,
    margin_loss,
)


def some_points(seed, count=14, size=3, classes=3):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(count, size)), np.arange(count) % classes


def naive(points, targets, impostors, push):
    value = 0.0
    for i in range(len(points)):
        for j in targets[i]:
            near = np.sum((points[i] - points[j]) ** 2)
            value += (1 - push) * near
            for other in impostors[i]:
                if other != NO_IMPOSTOR:
                    value += push * max(0.0, 1 + near - np.sum((points[i] - points[other]) ** 2))
    return value


@given(seed=st.integers(0, 1000), push=st.floats(0, 1), count=st.integers(1, 20))
def test_it_is_the_naive_sum(seed, push, count):
    points, columns = some_points(seed)
    targets = find_targets(points, columns, 2)
    impostors = find_impostors(points, columns, count)
    assert margin_loss(points, targets, impostors, push)[0] == pytest.approx(
        naive(points, targets, impostors, push)
    )


@pytest.mark.parametrize("seed", range(5))
def test_its_gradient_is_that_of_finite_differences(seed):
    points, columns = some_points(seed)
    targets = find_targets(points, columns, 2)
    impostors = find_impostors(points, columns, 5)
    gradient = margin_loss(points, targets, impostors, 0.6)[1]
    for index in np.ndindex(points.shape):
        step = np.zeros_like(points)
        step[index] = 1e-6
        up, down = (
            margin_loss(points + sign * step, targets, impostors, 0.6)[0] for sign in (1, -1)
        )
        assert gradient[index] == pytest.approx((up - down) / 2e-6, rel=1e-4, abs=1e-4)


def test_the_block_size_does_not_matter(monkeypatch):
    points, columns = some_points(3, count=40)
    targets = find_targets(points, columns, 3)
    impostors = find_impostors(points, columns, 6)
    whole = margin_loss(points, targets, impostors, 0.5)
    monkeypatch.setattr("csim.bench.baselines.learners.margin_loss._BLOCK_ROWS", 7)
    parts = margin_loss(points, targets, impostors, 0.5)
    assert parts[0] == pytest.approx(whole[0])
    assert np.allclose(parts[1], whole[1])


def test_targets_are_the_nearest_of_the_class_and_never_the_image_itself():
    points, columns = some_points(1, count=30)
    for index, targets in enumerate(find_targets(points, columns, 3)):
        distances = np.sum((points - points[index]) ** 2, axis=1)
        same = [
            other
            for other in np.argsort(distances)
            if columns[other] == columns[index] and other != index
        ]
        assert targets.tolist() == same[:3]


def test_among_equal_images_none_is_its_own_target():
    found = find_targets(np.zeros((4, 2)), np.zeros(4, np.int64), 3).tolist()
    assert [sorted(row) for row in found] == [[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]]


def test_an_image_alone_in_its_class_is_its_own_target():
    points, _ = some_points(2, count=5)
    columns = np.array([0, 0, 0, 0, 1])
    assert find_targets(points, columns, 2)[4].tolist() == [4, 4]


def test_impostors_are_the_nearest_of_other_classes():
    points, columns = some_points(4, count=30)
    for index, impostors in enumerate(find_impostors(points, columns, 4)):
        distances = np.sum((points - points[index]) ** 2, axis=1)
        foreign = [other for other in np.argsort(distances) if columns[other] != columns[index]]
        assert impostors.tolist() == foreign[:4]


def test_missing_impostors_are_marked():
    points, _ = some_points(5, count=6)
    columns = np.array([0, 0, 0, 0, 0, 1])
    found = find_impostors(points, columns, 3)
    assert found[:5].tolist() == [[5, NO_IMPOSTOR, NO_IMPOSTOR]] * 5
    assert set(found[5]) <= set(range(5))


def test_as_many_impostors_as_can_matter_are_as_good_as_all():
    points, columns = some_points(6, count=40)
    targets = find_targets(points, columns, 3)
    every = find_impostors(points, columns, len(points))
    value, gradient = margin_loss(points, targets, every, 0.5)
    assert value == pytest.approx(naive(points, targets, every, 0.5))
    near = np.square(points[:, None] - points[targets]).sum(axis=2).max(axis=1)
    far = np.square(points[:, None] - points[every]).sum(axis=2)
    needed = int(((far < 1 + near[:, None]) & (every != NO_IMPOSTOR)).sum(axis=1).max())
    fewer = margin_loss(points, targets, find_impostors(points, columns, needed), 0.5)
    assert fewer[0] == pytest.approx(value)
    assert np.allclose(fewer[1], gradient)


def test_the_objective_never_rises_inside_a_round(monkeypatch):
    rng = np.random.default_rng(0)
    columns = np.arange(90) % 3
    images = rng.normal(size=(90, 6)) + columns[:, None] * [1, 0, 0, 0, 0, 0]
    learner = LMNN(rounds=3, steps=8)
    values = []
    descend = LMNN._descend

    def watched(self, linear, inputs, targets, impostors):
        after = descend(self, linear, inputs, targets, impostors)
        values.append(
            [
                margin_loss(inputs @ matrix.T, targets, impostors, self.push)[0]
                for matrix in (linear, after)
            ]
        )
        return after

    monkeypatch.setattr(LMNN, "_descend", watched)
    learner.fit(images, columns)
    assert len(values) >= 3
    assert all(after < before for before, after in values)
