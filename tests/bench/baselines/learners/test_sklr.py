"""SKLR: its projection in closed form against the dense one, and what holds after it."""

import numpy as np
import pytest
from scipy.optimize import brentq

from csim.bench.baselines.learners.sklr import SKLR, project_kernel


def some_kernel(seed, rank=5):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(rank, rank))
    return root @ root.T + 0.1 * np.eye(rank), rng.normal(size=rank), rng.normal(size=rank)


def violated_kernels():
    for seed in range(40):
        core, near, far = some_kernel(seed)
        if 2 * near @ core @ near > far @ core @ far:
            yield core, near, far


def dense(core, near, far, ratio):
    """Project by the definition: move K⁻¹ along the constraint until it holds with equality."""
    constraint = ratio * np.outer(near, near) - np.outer(far, far)

    def moved(length):
        return np.linalg.inv(np.linalg.inv(core) + length * constraint)

    def gap(length):
        return np.trace(constraint @ moved(length))

    high = 1e-6
    while gap(high) > 0:  # from the kernel on, as long as it stays positive
        high *= 1.3
        assert np.linalg.eigvalsh(moved(high)).min() > 0
    return moved(brentq(gap, 0, high, xtol=1e-14, rtol=1e-14))


def test_the_closed_form_is_the_dense_one():
    cases = list(violated_kernels())
    assert len(cases) > 10
    for core, near, far in cases:
        assert np.allclose(
            project_kernel(core, near, far, 2.0), dense(core, near, far, 2.0), rtol=1e-6, atol=1e-8
        )


def test_after_a_projection_the_comparison_just_holds_and_the_kernel_is_positive():
    for core, near, far in violated_kernels():
        after = project_kernel(core, near, far, 2.0)
        assert 2 * near @ after @ near == pytest.approx(far @ after @ far)
        assert np.linalg.eigvalsh(after).min() > 0


def test_a_comparison_that_holds_changes_nothing():
    core, near, _ = some_kernel(0)
    assert project_kernel(core, near, 3 * near + 1e-3, 2.0) is core


def test_without_sweeps_it_is_the_initial_kernel():
    rng = np.random.default_rng(0)
    columns = np.arange(120) % 3
    images = (rng.normal(size=(120, 6)) + 2 * np.eye(3, 6)[columns]).astype(np.float32)
    learner = SKLR(landmarks=120, rank=120, sweeps=0).fit(
        images, columns, validation=(images, columns)
    )
    inputs = learner._components(learner_landmarks(learner, images)).astype(float)
    found = learner.transform(learner_landmarks(learner, images))
    kernel = learner._initial_kernel(inputs)
    values, vectors = np.linalg.eigh((kernel + kernel.T) / 2)
    clipped = (vectors * np.maximum(values, 0)) @ vectors.T
    assert np.allclose(found @ found.T, clipped, atol=1e-3)


def learner_landmarks(learner, images):
    """Return the images that are the landmarks, in their order."""
    inputs = learner._components(images)
    indices = [
        int(np.square(inputs - landmark).sum(axis=1).argmin()) for landmark in learner._landmarks
    ]
    return images[indices]


def test_comparisons_are_of_two_classes_and_more_hold_after_training():
    rng = np.random.default_rng(1)
    columns = np.arange(150) % 3
    images = (rng.normal(size=(150, 8)) + 1.5 * np.eye(3, 8)[columns]).astype(np.float32)
    learner = SKLR(landmarks=150, rank=60, comparisons=200, sweeps=30)
    learner.fit(images, columns, validation=(images[:0], columns[:0]))
    labels = np.array(
        [
            columns[np.square(images - landmark).sum(axis=1).argmin()]
            for landmark in learner_landmarks(learner, images)
        ]
    )
    triplets = learner._draw_comparisons(labels)
    assert (labels[triplets[:, 0]] == labels[triplets[:, 1]]).all()
    assert (labels[triplets[:, 0]] != labels[triplets[:, 2]]).all()
    assert (triplets[:, 0] != triplets[:, 1]).all()
    before = SKLR(landmarks=150, rank=60, comparisons=200, sweeps=0)
    before.fit(images, columns, validation=(images[:0], columns[:0]))
    left, at_first = (
        len(some._violated(some.transform(learner_landmarks(some, images)), triplets))
        for some in (learner, before)
    )
    assert left < 0.7 * at_first
