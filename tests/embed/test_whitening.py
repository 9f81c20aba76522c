"""Whitening of frozen vectors: held against scikit-learn's discriminant analysis and by hand."""

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from csim.embed import whitening as module
from csim.embed.whitening import Whitening, unit


def draw(classes=6, each=30, size=10, seed=0):
    """Return vectors whose classes differ along all axes and vary most along the first."""
    rng = np.random.default_rng(seed)
    columns = np.repeat(np.arange(classes), each)
    noise = rng.normal(size=(len(columns), size)) * np.geomspace(8, 0.5, size)
    centres = np.random.default_rng(5).normal(size=(classes, size))
    return (centres[columns] + noise).astype(np.float32), columns


def by_hand(vectors, columns, given):
    """Return vectors times the inverse root of the shrunk covariance, at unit length."""
    residuals = np.concatenate(
        [vectors[columns == c] - vectors[columns == c].mean(0) for c in np.unique(columns)]
    ).astype(float)
    covariance = residuals.T @ residuals / len(residuals)
    added = module._SHRINKAGE * np.trace(covariance) / len(covariance)
    values, axes = np.linalg.eigh(covariance + added * np.eye(len(covariance)))
    white = (given - vectors.mean(0)) @ (axes / np.sqrt(values)) @ axes.T
    return white / np.linalg.norm(white, axis=1, keepdims=True)


def test_vectors_are_multiplied_by_the_inverse_root_of_the_shrunk_covariance():
    vectors, columns = draw()
    fresh = draw(seed=1)[0]
    got = Whitening.fit(vectors, columns).apply(fresh)
    assert got == pytest.approx(by_hand(vectors, columns, fresh), abs=1e-4)
    assert got.dtype == np.float32


def test_fewer_images_than_dimensions_give_the_same_whitening_as_the_covariance():
    vectors, columns = draw(classes=3, each=4, size=20)
    whitening = Whitening.fit(vectors, columns)
    assert len(whitening.axes) == 9  # each class of four varies along three
    fresh = draw(classes=3, size=20, seed=1)[0]
    assert whitening.apply(fresh) == pytest.approx(by_hand(vectors, columns, fresh), abs=1e-4)


def test_vectors_of_very_many_numbers_need_no_large_matrix():
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(20, 50_000)).astype(np.float32)
    whitening = Whitening.fit(vectors, np.arange(20) % 2)
    assert whitening.axes.shape == (18, 50_000)


def test_many_dimensions_keep_the_axes_of_greatest_variance():
    vectors, columns = draw(size=2 * module._MAX_AXES + 1, each=50)
    vectors[:, 7] *= 100
    whitening = Whitening.fit(vectors, columns)
    assert whitening.axes.shape == (module._MAX_AXES, vectors.shape[1])
    assert whitening.axes @ whitening.axes.T == pytest.approx(np.eye(module._MAX_AXES), abs=1e-4)
    assert abs(whitening.axes[whitening.damping.argmax()]).argmax() == 7


def test_new_classes_are_told_apart_better_than_without():
    vectors, columns = draw(classes=12, size=40)
    whitening = Whitening.fit(vectors[columns < 6], columns[columns < 6])
    fresh, truth = draw(classes=12, size=40, seed=1)
    is_new = truth >= 6

    def accuracy(transform):
        one_of_each = transform(vectors)[np.unique(columns, return_index=True)[1]]
        best = (transform(fresh) @ one_of_each.T)[:, 6:].argmax(1) + 6
        return (best == truth)[is_new].mean()

    mean = vectors.mean(0)
    assert accuracy(whitening.apply) > accuracy(lambda given: unit(given - mean)) + 0.05


def test_class_means_after_whitening_decide_like_discriminant_analysis():
    vectors, columns = draw(each=200)
    learner = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.3 / 1.3).fit(vectors, columns)
    white = Whitening.fit(vectors, columns).apply(vectors)
    means = unit(np.array([white[columns == c].mean(0) for c in range(6)]))
    same = (white @ means.T).argmax(1) == learner.predict(vectors)
    assert same.mean() > 0.85


@pytest.mark.parametrize("each", [1, 3])
def test_classes_of_equal_images_are_only_centred(each):
    vectors = np.repeat(np.eye(4, 5, dtype=np.float32), each, axis=0)
    whitening = Whitening.fit(vectors, np.repeat(np.arange(4), each))
    expected = unit(vectors - vectors.mean(0))
    assert whitening.apply(vectors) == pytest.approx(expected, abs=1e-6)


def test_a_vector_does_not_depend_on_its_batch():
    vectors, columns = draw(size=300)
    whitening = Whitening.fit(vectors, columns)
    together = whitening.apply(vectors)
    for count in (1, 2, 5, 63, 64, 65, 130):
        assert (whitening.apply(vectors[:count]) == together[:count]).all()
        assert (whitening.apply(vectors[9 : 9 + count]) == together[9 : 9 + count]).all()
    assert whitening.apply(vectors[:0]).shape == (0, 300)


def test_the_arrays_give_the_same_whitening_and_a_mean_alone_only_centres():
    vectors, columns = draw()
    whitening = Whitening.fit(vectors, columns)
    again = Whitening.from_arrays(whitening.arrays())
    assert (again.apply(vectors) == whitening.apply(vectors)).all()
    mean = vectors.mean(0)
    plain = Whitening.from_arrays({"body.mean": mean}).apply(vectors)
    assert plain == pytest.approx(unit(vectors - mean), abs=1e-6)


def test_the_callers_vectors_stay_as_they_are():
    vectors, columns = draw()
    before = vectors.copy()
    Whitening.fit(vectors, columns).apply(vectors)
    assert (vectors == before).all()


def test_zero_has_no_direction_and_stays_zero():
    assert unit(np.zeros((1, 3))).tolist() == [[0, 0, 0]]
