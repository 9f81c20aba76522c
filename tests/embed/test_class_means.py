"""The layer of class means: its directions, what young classes get, and calibrated scores."""

import numpy as np
import pytest
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from csim.embed.class_means import _expected_cosine, _fit_line, fit_class_means
from csim.embed.whitening import unit


def draw(counts, size=40, spread=1.0, seed=0):
    """Return unit vectors around one centre per class, and their columns."""
    rng = np.random.default_rng(seed)
    centres = unit(np.random.default_rng(5).normal(size=(len(counts), size)))
    columns = np.repeat(np.arange(len(counts)), counts)
    noise = rng.normal(size=(len(columns), size)) * spread / np.sqrt(size)
    return unit(centres[columns] + noise).astype(np.float32), columns


def test_a_class_points_to_the_mean_of_its_images():
    vectors, columns = draw([9, 4, 1])
    weights, bias = fit_class_means(vectors, columns)
    for column in range(3):
        mean = vectors[columns == column].mean(0)
        assert unit(weights)[column] == pytest.approx(mean / np.linalg.norm(mean), abs=1e-5)
    assert len(set(bias.tolist())) == 1
    assert (weights.dtype, bias.dtype) == (np.float32, np.float32)


def test_a_young_class_is_as_long_as_its_members_fall_short():
    vectors, columns = draw([60, 60, 1])
    weights, _ = fit_class_means(vectors, columns)
    lengths = np.linalg.norm(weights, axis=1)
    fresh, truth = draw([200, 200, 200], seed=1)
    cosines = (fresh * unit(weights)[truth]).sum(1)
    expected = np.sqrt(cosines[truth == 0].mean() / cosines[truth == 2].mean())
    assert lengths[2] / lengths[0] == pytest.approx(expected, rel=0.1)


def test_the_expected_cosine_is_that_of_drawn_members():
    counts = np.array([1, 2, 5, 50])
    vectors, columns = draw(counts.repeat(200), size=300, spread=1.3)
    fresh = draw(counts.repeat(200), size=300, spread=1.3, seed=9)[0]
    sums = np.zeros((800, 300))
    np.add.at(sums, columns, vectors)
    first = np.unique(columns, return_index=True)[1]
    cosines = (fresh[first] * unit(sums)).sum(1).reshape(4, 200).mean(1)
    assert _expected_cosine(counts.repeat(200), sums).reshape(4, 200)[:, 0] == pytest.approx(
        cosines, rel=0.1
    )


def test_scores_are_the_share_of_images_that_are_of_the_class():
    vectors, columns = draw([40] * 8, size=20, spread=1.5)
    weights, bias = fit_class_means(vectors, columns)
    fresh, truth = draw([400] * 8, size=20, spread=1.5, seed=1)
    scores = expit(fresh @ weights.T + bias)
    is_own = np.arange(8) == truth[:, None]
    for low, high in ((0.0, 0.05), (0.1, 0.3), (0.3, 0.6), (0.6, 0.9)):
        inside = (scores >= low) & (scores < high)
        assert is_own[inside].mean() == pytest.approx(scores[inside].mean(), abs=0.1)


def test_a_class_of_one_image_is_recognised_beside_classes_of_sixty():
    vectors, columns = draw([60, 60, 60, 1], spread=0.8)
    weights, bias = fit_class_means(vectors, columns)
    fresh, truth = draw([100] * 4, spread=0.8, seed=1)
    right = (fresh @ weights.T + bias).argmax(1) == truth
    assert right[truth == 3].mean() > 0.85
    assert right.mean() > 0.85


@pytest.mark.parametrize("gap", [0.05, 0.3])
def test_the_line_is_that_of_logistic_regression(gap):
    rng = np.random.default_rng(0)
    columns = rng.integers(0, 6, 500)
    is_own = columns[:, None] == np.arange(6)
    values = rng.normal(size=(500, 6)) * 0.1 + gap * is_own
    weights = rng.uniform(0.5, 2, 500)
    slope, offset = _fit_line(values, is_own, weights / (weights.sum() * 6))
    expected = LogisticRegression(C=1e9, tol=1e-9).fit(
        values.reshape(-1, 1), is_own.ravel(), np.repeat(weights, 6)
    )
    at = np.linspace(-0.2, 0.5)
    shares = expected.predict_proba(at[:, None])[:, 1]
    assert expit(slope * at + offset) == pytest.approx(shares, abs=0.01)


@pytest.mark.parametrize("own", [0.7, 0.2, 0.20001], ids=["apart", "all equal", "almost equal"])
def test_the_line_is_finite_whatever_the_similarities(own):
    is_own = np.repeat(np.arange(4), 5)[:, None] == np.arange(4)
    values = np.where(is_own, own, 0.2).astype(np.float32)
    slope, offset = _fit_line(values, is_own, np.full(20, 1 / 80))
    scores = expit(slope * values + offset)
    assert np.isfinite([slope, offset]).all()
    if own == 0.7:
        assert scores[is_own].min() > 0.99 > 0.01 > scores[~is_own].max()
    else:
        assert scores.mean() == pytest.approx(0.25, abs=0.01)


@pytest.mark.parametrize("counts", [[1], [5], [1, 1]])
def test_too_few_images_to_calibrate_give_usable_scores(counts):
    vectors, columns = draw(counts)
    weights, bias = fit_class_means(vectors, columns)
    scores = expit(vectors @ weights.T + bias)
    assert (scores[np.arange(len(columns)), columns] > 0.5).all()


def test_images_that_resemble_nothing_of_their_class_still_give_finite_weights():
    vectors = np.array([[1, 0], [-1, 0], [0, 1], [0, -1]], np.float32)
    weights, bias = fit_class_means(vectors, np.array([0, 0, 1, 1]))
    assert np.isfinite(weights).all()
    assert np.isfinite(bias).all()


def test_the_same_vectors_give_the_same_layer():
    one, two = (fit_class_means(*draw([9, 4, 1])) for _ in range(2))
    assert all((a == b).all() for a, b in zip(one, two, strict=True))
