"""Novelty against a loop over single images with every number written out."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from csim.discover.novelty import novelty as novelty_of_rows
from csim.discover.novelty import squares


def novelty(recent, labelled, guesses, columns, least=0.0):
    every = np.arange(len(recent))
    return novelty_of_rows(recent, every, labelled, guesses, columns, least=least)


def one_by_one(recent, labelled, guesses, columns):
    recent = recent.tolist()
    labelled = labelled.tolist()
    chances = []
    for index, (point, guess) in enumerate(zip(recent, guesses, strict=True)):
        if len(recent) <= 3 or not labelled:
            chances.append(0.0)
            continue
        in_recent = sum(other == guess for other in guesses)
        in_labelled = sum(column == guess for column in columns)
        near_recent = max(3, round(0.05 * in_recent))
        near_labelled = max(1, round(near_recent * in_labelled / in_recent))
        others = recent[:index] + recent[index + 1 :]
        by_recent = sorted(math.dist(point, other) for other in others)[:149]
        by_labelled = sorted(math.dist(point, other) for other in labelled)[:150]
        to_recent = by_recent[min(near_recent, len(by_recent)) - 1]
        to_labelled = by_labelled[min(near_labelled, len(by_labelled)) - 1]
        ratio = (to_labelled + 1e-6) / (to_recent + 1e-6)
        chances.append(max(0, 1 - ratio**-2))
    return chances


def draw(seed, recent, labelled, classes, size=4):
    rng = np.random.default_rng(seed)
    count = recent + labelled
    points = rng.normal(size=(count, size)) * rng.choice([0.2, 1, 5], (count, 1))
    guesses = rng.integers(0, classes, recent)
    columns = rng.integers(-1, classes, labelled)
    return points[:recent], points[recent:], guesses, columns


@settings(max_examples=40)
@given(
    seed=st.integers(0, 10_000),
    recent=st.integers(0, 40),
    labelled=st.integers(0, 40),
    classes=st.integers(1, 4),
)
def test_novelty_is_what_a_loop_over_single_images_finds(seed, recent, labelled, classes):
    drawn = draw(seed, recent, labelled, classes)
    assert novelty(*drawn) == pytest.approx(np.array(one_by_one(*drawn)), abs=1e-5)


def test_the_novelty_of_an_image_does_not_depend_on_which_others_are_judged():
    recent, labelled, guesses, columns = draw(0, 60, 80, 3)
    rows = np.array([3, 17, 18, 59])
    few = novelty_of_rows(recent, rows, labelled, guesses, columns)
    assert few == pytest.approx(novelty(recent, labelled, guesses, columns)[rows], abs=1e-9)
    assert few.max() > 0
    assert not len(novelty_of_rows(recent, rows[:0], labelled, guesses, columns))


@pytest.mark.parametrize("classes", [1, 3])
def test_neighbours_are_counted_up_to_a_limit_in_large_sets_too(classes):
    drawn = draw(0, 170, 400, classes)
    assert novelty(*drawn) == pytest.approx(np.array(one_by_one(*drawn)), abs=1e-5)


@settings(max_examples=40)
@given(
    seed=st.integers(0, 10_000),
    recent=st.integers(4, 200),
    labelled=st.integers(1, 300),
    classes=st.integers(1, 4),
    least=st.sampled_from([0.1, 0.25, 0.6]),
)
def test_a_novelty_below_the_least_is_zero_and_the_others_are_the_same(
    seed, recent, labelled, classes, least
):
    drawn = [array.astype(np.float32) for array in draw(seed, recent, labelled, classes)]
    drawn[2:] = [array.astype(int) for array in drawn[2:]]
    every = novelty(*drawn)
    assert novelty(*drawn, least=least).tolist() == np.where(every < least, 0, every).tolist()


def clumps(rng, *counts, apart=12.0, size=8):
    """Return points of as many classes as there are counts, far apart, and their classes."""
    classes = np.repeat(np.arange(len(counts)), counts)
    middles = np.eye(size)[: len(counts)] * apart
    return middles[classes] + rng.normal(size=(len(classes), size)), classes


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("often", [1, 2, 8])
def test_a_known_class_that_merely_comes_more_often_is_not_new(seed, often):
    rng = np.random.default_rng(seed)
    labelled, columns = clumps(rng, 100, 100)
    recent, guesses = clumps(rng, 100 * often, 100)
    assert novelty(recent, labelled, guesses, columns).max() < 0.5


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("count", [6, 20, 100])
def test_a_dense_region_without_labels_is_new_and_the_rest_is_not(seed, count):
    rng = np.random.default_rng(seed)
    labelled, columns = clumps(rng, 100, 100)
    recent, classes = clumps(rng, 100, 100, count)
    guesses = np.where(classes == 2, 0, classes)  # the model gives new images a known class
    chances = novelty(recent, labelled, guesses, columns)
    assert chances[classes == 2].min() > 0.8
    assert chances[classes != 2].max() < 0.5


def test_a_dense_region_is_no_longer_new_once_it_is_labelled_and_learned():
    rng = np.random.default_rng(0)
    labelled, columns = clumps(rng, 100, 100, 30)
    recent, guesses = clumps(rng, 100, 100, 30)
    assert novelty(recent, labelled, guesses, columns)[guesses == 2].mean() < 0.3


def test_each_label_in_a_new_region_makes_it_less_new():
    rng = np.random.default_rng(0)
    recent, classes = clumps(rng, 100, 100, 30)
    labelled, columns = clumps(rng, 100, 100, 20)
    columns = np.where(columns == 2, -1, columns)  # told, and not learned yet
    guesses = np.where(classes == 2, 0, classes)
    means = [
        novelty(recent, labelled[:m], guesses, columns[:m])[classes == 2].mean()
        for m in (200, 205, 210, 220)
    ]
    assert means == sorted(means, reverse=True)
    assert means[-1] < 0.5 < 0.9 < means[0]


def test_a_single_outlier_is_not_new():
    rng = np.random.default_rng(0)
    labelled, columns = clumps(rng, 100, 100)
    recent, guesses = clumps(rng, 100, 100)
    recent[0] = 40 * np.eye(8)[7]
    assert novelty(recent, labelled, guesses, columns)[0] < 0.5


@pytest.mark.parametrize(("recent", "labelled"), [(0, 5), (1, 5), (3, 5), (10, 0), (0, 0)])
def test_with_too_little_to_compare_nothing_is_new(recent, labelled):
    assert novelty(*draw(0, recent, labelled, 2)).tolist() == [0.0] * recent


def test_images_that_are_all_the_same_give_a_chance_all_the_same():
    chances = novelty(np.ones((6, 3)), np.ones((4, 3)), np.zeros(6, int), np.zeros(4, int))
    assert ((chances >= 0) & (chances < 0.5)).all()


def test_the_callers_arrays_are_left_alone():
    drawn = draw(1, 20, 20, 2)
    before = [array.copy() for array in drawn]
    novelty(*drawn)
    assert all((array == kept).all() for array, kept in zip(drawn, before, strict=True))


@settings(max_examples=40)
@given(
    seed=st.integers(0, 99), left=st.integers(0, 8), right=st.integers(0, 8), size=st.integers(1, 5)
)
def test_squares_are_the_squared_distances_of_all_pairs(seed, left, right, size):
    rng = np.random.default_rng(seed)
    one = rng.normal(size=(left, size))
    other = rng.normal(size=(right, size))
    assert squares(one, other) == pytest.approx(cdist(one, other) ** 2)
    assert (squares(one, one) >= 0).all()
