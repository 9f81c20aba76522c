"""The scores that new images can expect, against images that are really new."""

import numpy as np
import pytest

from csim.embed import expected_scores as module
from csim.embed.class_means import fit_class_means
from csim.embed.expected_scores import compare_others, expected_scores
from csim.embed.whitening import Whitening, unit

DIMENSIONS = 40


def images_of(centres, each, rng):
    """Return images around each centre; they differ most along the first directions."""
    spread = np.linspace(2.5, 0.3, DIMENSIONS)
    columns = np.repeat(np.arange(len(centres)), each)
    return (centres[columns] + rng.normal(size=(len(columns), DIMENSIONS)) * spread).astype(
        np.float32
    ), columns


def scores_of(inputs, whitening, weights, bias):
    return 1 / (1 + np.exp(-(whitening.apply(inputs) @ weights.T + bias)))


def expect(inputs, columns, is_told, weights, bias, rng):
    cosines = compare_others(inputs, columns, is_told, rng)
    return expected_scores(cosines, np.bincount(columns), weights, bias)


@pytest.mark.parametrize("young", [1, 3, 10])
def test_a_share_of_new_images_reaches_the_low_end_of_what_they_can_expect(young):
    shares = {"old": [], "young": []}
    for seed in range(8):
        rng = np.random.default_rng(seed)
        centres = 2 * rng.normal(size=(16, DIMENSIONS))
        many, columns = images_of(centres[:12], 40, rng)
        few, others = images_of(centres[12:], young, rng)
        inputs, columns = np.concatenate([many, few]), np.concatenate([columns, others + 12])
        whitening = Whitening.fit(inputs, columns)
        weights, bias = fit_class_means(whitening.apply(inputs), columns)
        is_told = np.ones(len(inputs), bool)
        expected = expect(inputs, columns, is_told, weights, bias, rng)
        lowest = np.quantile(expected, 0.05, axis=1)
        new, truth = images_of(centres, 50, rng)
        reached = scores_of(new, whitening, weights, bias)[np.arange(len(new)), truth]
        for name, is_of in (("old", truth < 12), ("young", truth >= 12)):
            shares[name].append(np.mean(reached[is_of] >= lowest[truth[is_of]]))
    assert np.mean(shares["old"]) >= 0.94
    assert np.mean(shares["young"]) >= 0.92  # four classes a seed: chance


def test_a_class_of_fewer_images_can_expect_less():
    rng = np.random.default_rng(0)
    inputs, columns = images_of(2 * rng.normal(size=(6, DIMENSIONS)), 30, rng)
    keep = (columns > 0) | (np.arange(len(columns)) < 2)
    inputs, columns = inputs[keep], columns[keep]
    weights = unit(rng.normal(size=(6, DIMENSIONS)).astype(np.float32))
    told = np.ones(len(inputs), bool)
    expected = expect(inputs, columns, told, weights, np.zeros(6, np.float32), rng)
    assert np.median(expected[0]) < np.median(expected[1])


@pytest.mark.parametrize(("classes", "each", "told"), [(1, 30, 30), (2, 4, 4), (2, 30, 4)], ids=str)
def test_too_few_labelled_images_expect_nothing(classes, each, told):
    rng = np.random.default_rng(0)
    inputs, columns = images_of(rng.normal(size=(classes, DIMENSIONS)), each, rng)
    is_told = np.arange(len(inputs)) % each < told
    weights = np.ones((classes, DIMENSIONS), np.float32)
    bias = np.zeros(classes, np.float32)
    assert expect(inputs, columns, is_told, weights, bias, rng).shape == (classes, 0)


def test_many_classes_compare_few_images_each():
    rng = np.random.default_rng(0)
    inputs, columns = images_of(rng.normal(size=(150, DIMENSIONS)), 6, rng)
    weights = np.ones((150, DIMENSIONS), np.float32)
    told = np.ones(len(inputs), bool)
    expected = expect(inputs, columns, told, weights, np.zeros(150, np.float32), rng)
    assert expected.shape == (150, 300)


def test_more_images_of_a_class_change_little_but_take_no_part_in_the_fit(monkeypatch):
    rng = np.random.default_rng(0)
    inputs, columns = images_of(2 * rng.normal(size=(6, DIMENSIONS)), 60, rng)
    weights = unit(rng.normal(size=(6, DIMENSIONS)).astype(np.float32))
    told = np.ones(len(inputs), bool)
    sizes = []
    fit = Whitening.fit

    def counted(vectors, columns):
        sizes.append(len(vectors))
        return fit(vectors, columns)

    monkeypatch.setattr(Whitening, "fit", counted)
    medians = []
    for most in (20, 60):
        monkeypatch.setattr(module, "_MOST_FITTED", most)
        seed = np.random.default_rng(1)
        found = expect(inputs, columns, told, weights, np.zeros(6, np.float32), seed)
        medians.append(np.median(found, axis=1))
    assert sizes == [60, 60, 180, 180]
    assert medians[0] == pytest.approx(medians[1], abs=0.02)
