"""The fast losses against the forms written out, n³ terms and all."""

import itertools

import numpy as np
import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st
from torch.nn import functional

from csim.embed.losses import (
    JointLoss,
    by_triplets,
    evenly,
    log_distance_matrix,
    one_vs_rest_loss,
    triplet_loss,
)
from csim.embed.mining import AllPositive, BatchHard, Literal

BATCHES = {
    "count": st.integers(1, 14),
    "classes": st.integers(1, 5),
    "repeats": st.integers(0, 3),
    "margin": st.sampled_from([0.05, 0.2, 1.0]),
    "seed": st.integers(0, 10_000),
    "dtype": st.sampled_from([torch.float32, torch.float64]),
}


def draw_batch(count, classes, repeats, seed, dtype):
    """Return unit vectors, some of them repeated, and labels, some of which may stand alone."""
    generator = torch.Generator().manual_seed(seed)
    vectors = functional.normalize(
        torch.randn(count, 6, generator=generator, dtype=torch.float64), dim=1
    )
    if count > 1:
        for _ in range(repeats):
            source, target = torch.randperm(count, generator=generator)[:2]
            vectors[target] = vectors[source]
    labels = torch.randint(classes, (count,), generator=generator)
    return vectors.to(dtype).requires_grad_(), labels


def written_out(vectors, labels, margin):
    """Return the mean hinge over all triplets of positive loss, from the (n, n, n) cube."""
    distances = torch.linalg.vector_norm(
        vectors[:, None] - vectors[None, :], dim=2
    )  # its gradient at 0 is 0
    logs = (distances + 1).log()
    cube = logs[:, :, None] + margin - logs[:, None, :]  # anchor, positive, negative
    is_same = labels[:, None] == labels[None, :]
    is_positive = is_same & ~torch.eye(len(labels), dtype=torch.bool)
    counts = (is_positive[:, :, None] & ~is_same[:, None, :] & (cube > 0)).to(cube.dtype)
    return (counts * cube).sum() / counts.sum().clamp(min=1)


def fast(vectors, labels, margin):
    logs = log_distance_matrix(vectors)
    with torch.no_grad():
        pairs = AllPositive().count(logs, labels, margin)
    return triplet_loss(logs, pairs, margin)


def gradient(loss, vectors):
    return torch.autograd.grad(loss, vectors, allow_unused=True)[0]


@given(**BATCHES)
@example(count=1, classes=1, repeats=0, margin=1.0, seed=0, dtype=torch.float32)
@example(count=8, classes=1, repeats=2, margin=1.0, seed=0, dtype=torch.float32)
@example(count=14, classes=5, repeats=3, margin=1.0, seed=3, dtype=torch.float32)
def test_the_fast_loss_equals_the_cube_in_value_and_gradient(
    count, classes, repeats, margin, seed, dtype
):
    vectors, labels = draw_batch(count, classes, repeats, seed, dtype)
    exact = vectors.detach().double().requires_grad_()
    loss = fast(vectors, labels, margin)
    expected = written_out(exact, labels, margin)
    assert loss.item() == pytest.approx(expected.item(), rel=1e-5, abs=1e-6)
    slope = gradient(loss, vectors)
    expected_slope = gradient(expected, exact)
    assert torch.isfinite(slope).all()
    error = torch.linalg.vector_norm(slope.double() - expected_slope)
    assert error <= 1e-5 * torch.linalg.vector_norm(expected_slope) + 1e-6


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_fast_loss_equals_the_cube_on_a_full_batch(dtype):
    vectors, labels = draw_batch(64, 10, 3, 5, dtype)
    exact = vectors.detach().double().requires_grad_()
    loss = fast(vectors, labels, 1.0)
    expected = written_out(exact, labels, 1.0)
    assert loss.item() == pytest.approx(expected.item(), rel=1e-5)
    slope = gradient(loss, vectors)
    expected_slope = gradient(expected, exact)
    assert torch.linalg.vector_norm(slope - expected_slope) < 1e-5 * torch.linalg.vector_norm(
        expected_slope
    )


@pytest.mark.parametrize("labels", [[2] * 6, [0, 1, 2, 3, 4, 5]])
def test_without_a_triplet_the_loss_is_zero_and_its_gradient_too(labels):
    vectors, _ = draw_batch(6, 1, 2, 0, torch.float32)
    loss = fast(vectors, torch.tensor(labels), 1.0)
    assert loss.item() == 0
    assert (gradient(loss, vectors) == 0).all()


def test_a_batch_of_one_repeated_image_has_finite_gradients():
    vectors = torch.tensor([[0.6, 0.8]] * 5, requires_grad=True)
    loss = fast(vectors, torch.tensor([0, 0, 1, 1, 2]), 1.0)
    assert loss.item() == pytest.approx(
        1.0
    )  # every distance is 0, so every triplet costs the margin
    assert (gradient(loss, vectors) == 0).all()


@given(seed=st.integers(0, 1000), dtype=st.sampled_from([torch.float32, torch.float64]))
def test_log_distances_are_what_a_loop_finds(seed, dtype):
    vectors = draw_batch(7, 2, 2, seed, dtype)[0].detach()
    expected = [
        [np.log1p(np.linalg.norm(a - b)) for b in vectors.double().numpy()]
        for a in vectors.double().numpy()
    ]
    assert log_distance_matrix(vectors).numpy() == pytest.approx(
        np.array(expected), rel=1e-5, abs=1e-6
    )


def test_small_distances_survive_single_precision():
    vectors = torch.tensor([[1.0, 0.0], [1.0, 1e-4]])
    assert float(log_distance_matrix(vectors)[0, 1]) == pytest.approx(np.log1p(1e-4), rel=1e-4)


MININGS = [AllPositive(), BatchHard(), Literal()]


def list_triplets(mining, logs, labels, margin):
    """Return the triplets a mining rule chooses, one by one."""
    n = len(labels)
    chosen = []
    for a in range(n):
        positives = [p for p in range(n) if labels[p] == labels[a] and p != a]
        negatives = [m for m in range(n) if labels[m] != labels[a]]
        if not positives or not negatives:
            continue
        if isinstance(mining, BatchHard):
            positives = [max(positives, key=lambda p: logs[a, p])]
            negatives = [min(negatives, key=lambda m: logs[a, m])]
        elif isinstance(mining, Literal):
            positives = [min(positives, key=lambda p: logs[a, p])]
            negatives = [max(negatives, key=lambda m: logs[a, m])]
        chosen += [
            (a, p, m) for p in positives for m in negatives if logs[a, p] + margin - logs[a, m] > 0
        ]
    return chosen


@pytest.mark.parametrize("mining", MININGS, ids=lambda mining: type(mining).__name__)
@given(
    **{name: BATCHES[name] for name in ("count", "classes", "seed")},
    margin=st.sampled_from([0.05, 0.2, 1.0]),
)
@example(count=1, classes=1, seed=0, margin=1.0)
@example(count=6, classes=1, seed=0, margin=1.0)
def test_pairs_are_counted_as_a_loop_over_triplets_counts_them(
    mining, count, classes, seed, margin
):
    vectors, labels = draw_batch(count, classes, 0, seed, torch.float64)
    logs = log_distance_matrix(vectors.detach())
    pairs = mining.count(logs, labels, margin)
    pull = np.zeros((count, count))
    push = np.zeros((count, count))
    members = np.zeros(count)
    triplets = list_triplets(mining, logs, labels, margin)
    for a, p, m in triplets:
        pull[a, p] += 1
        push[a, m] += 1
        members[[a, p, m]] += 1
    assert (pairs.pull.numpy() == pull).all()
    assert (pairs.push.numpy() == push).all()
    assert (pairs.per_image().numpy() == members).all()
    assert float(pairs.triplets()) == len(triplets)
    assert float(pairs.per_image().sum()) == 3 * len(triplets)


@pytest.mark.parametrize("mining", MININGS, ids=lambda mining: type(mining).__name__)
def test_the_loss_of_chosen_triplets_is_their_mean_hinge(mining):
    vectors, labels = draw_batch(12, 3, 0, 4, torch.float64)
    logs = log_distance_matrix(vectors.detach())
    hinges = [
        float(logs[a, p] + 0.3 - logs[a, m]) for a, p, m in list_triplets(mining, logs, labels, 0.3)
    ]
    assert len(hinges) > 2
    assert float(triplet_loss(logs, mining.count(logs, labels, 0.3), 0.3)) == pytest.approx(
        np.mean(hinges)
    )


def draw_logits(count, classes, seed):
    generator = torch.Generator().manual_seed(seed)
    return 3 * torch.randn(count, classes, generator=generator, dtype=torch.float64)


def cross_entropy(logit, is_own):
    probability = 1 / (1 + np.exp(-logit))
    return -np.log(probability if is_own else 1 - probability)


@pytest.mark.parametrize("mining", MININGS, ids=lambda mining: type(mining).__name__)
@pytest.mark.parametrize("seed", range(5))
def test_weighting_by_triplets_is_the_papers_overall_objective(mining, seed):
    """1/(3KM) Σ cross-entropy over triplets, their images and K classes, + β/M Σ of the hinges."""
    vectors, labels = draw_batch(9, 3, 1, seed, torch.float64)
    logits = draw_logits(9, 4, seed)
    margin = 0.4
    beta = 0.7
    logs = log_distance_matrix(vectors.detach())
    triplets = list_triplets(mining, logs, labels, margin)
    assert triplets
    classes = 4
    m = len(triplets)
    entropies = sum(
        cross_entropy(float(logits[image, c]), int(labels[image]) == c)
        for triplet in triplets
        for image, c in itertools.product(triplet, range(classes))
    )
    hinges = sum(float(logs[a, p] + margin - logs[a, n]) for a, p, n in triplets)
    loss = JointLoss(beta=beta, margin=margin, mining=mining, weighting=by_triplets)
    assert loss(vectors, logits, labels).item() == pytest.approx(
        entropies / (3 * classes * m) + beta / m * hinges
    )


@pytest.mark.parametrize("beta", [0.0, 0.5])
def test_weighing_evenly_is_the_plain_mean(beta):
    vectors, labels = draw_batch(10, 3, 0, 1, torch.float64)
    logits = draw_logits(10, 3, 1)
    entropies = [
        cross_entropy(float(logits[i, c]), int(labels[i]) == c) for i in range(10) for c in range(3)
    ]
    expected = np.mean(entropies) + beta * written_out(vectors, labels, 1.0).item()
    loss = JointLoss(beta=beta, margin=1.0, mining=AllPositive(), weighting=evenly)
    assert loss(vectors, logits, labels).item() == pytest.approx(expected)


@pytest.mark.parametrize("labels", [[1] * 5, [0, 1, 2, 3, 4]])
def test_without_a_triplet_weighting_by_triplets_falls_back_to_the_plain_mean(labels):
    vectors, _ = draw_batch(5, 1, 0, 1, torch.float64)
    logits = draw_logits(5, 5, 2)
    labels = torch.tensor(labels)
    both = [
        JointLoss(beta=0.5, margin=1.0, mining=AllPositive(), weighting=w)
        for w in (by_triplets, evenly)
    ]
    losses = [loss(vectors, logits, labels).item() for loss in both]
    assert losses[0] == pytest.approx(losses[1])
    assert losses[0] == pytest.approx(float(one_vs_rest_loss(logits, labels)))


@pytest.mark.parametrize("weighting", [by_triplets, evenly])
def test_the_joint_loss_sends_gradients_to_vectors_and_logits(weighting):
    vectors, labels = draw_batch(10, 3, 2, 1, torch.float32)
    logits = draw_logits(10, 3, 1).float().requires_grad_()
    loss = JointLoss(beta=0.5, margin=1.0, mining=AllPositive(), weighting=weighting)(
        vectors, logits, labels
    )
    for slope in torch.autograd.grad(loss, [vectors, logits]):
        assert torch.isfinite(slope).all()
        assert slope.abs().sum() > 0
