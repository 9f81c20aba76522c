import math

import numpy as np
import pytest
from scipy import stats

from csim.decide.thresholds import MeanBoundThreshold, NoThreshold, QuantileThreshold
from csim.errors import NotFittedError


@pytest.mark.parametrize("keep", [0.8, 0.9, 0.95, 0.98])
@pytest.mark.parametrize("draw", [lambda rng, n: rng.beta(5, 2, n), lambda rng, n: rng.standard_cauchy(n)])
def test_the_promised_share_of_known_images_is_accepted(keep, draw):
    """The mean acceptance over many draws lies in [keep, keep + 1/(n + 1)], whatever the distribution."""
    rng, n = np.random.default_rng(1), 150
    shares = []
    for _ in range(300):
        rule = QuantileThreshold(keep=keep)
        rule.fit({0: draw(rng, n)})
        shares.append(rule.passes([0], draw(rng, 1000)[:, None]).mean())
    noise = 4 * np.std(shares) / math.sqrt(len(shares))
    assert keep - noise <= np.mean(shares) <= keep + 1 / (n + 1) + noise


@pytest.mark.parametrize(
    ("percent", "n"),
    [(80, 4), (80, 9), (90, 9), (90, 10), (90, 199), (95, 19), (95, 200), (98, 49), (98, 98), (98, 99)],
)
def test_the_threshold_is_the_kth_smallest_score(percent, n):
    scores = np.random.default_rng(n).random(n)
    rule = QuantileThreshold(keep=percent / 100)
    rule.fit({5: scores})
    k = (100 - percent) * (n + 1) // 100  # in whole numbers, so that nothing is lost in rounding
    assert k >= 1
    assert (~rule.passes([5], scores[:, None])).sum() == k - 1


def test_a_score_equal_to_the_threshold_passes():
    rule = QuantileThreshold(keep=0.5)
    rule.fit({1: [0.2, 0.4, 0.6]})
    assert rule.passes([1], np.array([[0.4], [0.3999]])).ravel().tolist() == [True, False]


def test_a_young_class_borrows_the_threshold_of_all_scores_together():
    rng = np.random.default_rng(0)
    scores = {0: rng.beta(8, 2, 200), 1: rng.beta(5, 2, 150), 2: rng.beta(6, 3, 5)}
    rule = QuantileThreshold(keep=0.95)
    rule.fit(scores)
    pooled = sorted(np.concatenate(list(scores.values())))
    lowest = pooled[math.floor(0.05 * (len(pooled) + 1)) - 1]
    assert rule.passes([2], np.array([[lowest], [lowest - 1e-9]])).ravel().tolist() == [True, False]


def test_a_class_of_five_images_does_not_switch_rejection_off():
    rng = np.random.default_rng(3)
    old = {c: rng.beta(9, 2, 200) for c in range(5)}
    unknown = rng.beta(2, 5, (5000, 6))
    before, after = QuantileThreshold(keep=0.95), QuantileThreshold(keep=0.95)
    before.fit(old)
    after.fit(old | {5: rng.beta(9, 2, 5)})
    rejected_before = 1 - before.passes(range(5), unknown[:, :5]).any(axis=1).mean()
    rejected_after = 1 - after.passes(range(6), unknown).any(axis=1).mean()
    assert rejected_before > 0.5
    assert rejected_after > rejected_before - 0.06


def test_with_too_few_scores_in_all_everything_is_accepted():
    rule = QuantileThreshold(keep=0.95)
    rule.fit({0: [0.9] * 5, 1: [0.8] * 5})
    assert rule.passes([0, 1], np.zeros((1, 2))).all()


@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.25])
@pytest.mark.parametrize("n", [2, 3, 17, 200])
def test_the_bound_is_the_lower_end_of_students_interval(alpha, n):
    scores = np.random.default_rng(n).beta(5, 2, n)
    low, _ = stats.t.interval(1 - 2 * alpha, df=n - 1, loc=scores.mean(), scale=stats.sem(scores))
    rule = MeanBoundThreshold(alpha=alpha)
    rule.fit({4: scores})
    assert rule.passes([4], np.array([[low + 1e-9], [low - 1e-9]])).ravel().tolist() == [True, False]


def test_an_alpha_past_one_half_mirrors_the_bound_at_the_mean():
    scores = np.random.default_rng(0).uniform(0.2, 0.8, 50)
    bounds = []
    for alpha in (0.05, 0.95):
        rule = MeanBoundThreshold(alpha=alpha)
        rule.fit({3: scores})
        bounds.append(rule.state()["lowest"][0])
    assert bounds[0] < scores.mean() < bounds[1]
    assert np.mean(bounds) == pytest.approx(scores.mean())


def test_an_alpha_of_one_half_puts_the_bound_at_the_mean():
    rule = MeanBoundThreshold(alpha=0.5)
    rule.fit({4: [0.2, 0.3, 1.0]})
    assert rule.passes([4], np.array([[0.5001], [0.4999]])).ravel().tolist() == [True, False]


@pytest.mark.parametrize("scores", [[], [0.99]])
def test_with_fewer_than_two_images_the_bound_is_one_half(scores):
    rule = MeanBoundThreshold()
    rule.fit({4: scores})
    assert rule.passes([4], np.array([[0.5], [0.4999]])).ravel().tolist() == [True, False]


def test_the_papers_rule_rejects_a_large_share_of_known_images():
    rng = np.random.default_rng(0)
    rule = MeanBoundThreshold()
    rule.fit({0: rng.normal(0.8, 0.05, 200)})
    accepted = rule.passes([0], rng.normal(0.8, 0.05, (20_000, 1))).mean()
    assert accepted == pytest.approx(stats.norm.cdf(0.117), abs=0.05)  # t(0.05, 199)/√200 deviations under the mean


@pytest.mark.parametrize("value", [0.1, 0.7, 0.93, 0.999])
@pytest.mark.parametrize("n", [2, 3, 7, 100])
def test_images_that_all_score_alike_pass_their_own_bound(value, n):
    rule = MeanBoundThreshold()
    rule.fit({0: [value] * n})
    assert rule.passes([0], np.array([[value]])).all()


@pytest.mark.parametrize("scores", [{}, {0: [], 4: []}, {0: [0.99] * 50, 4: [0.2, 0.9]}])
def test_without_a_threshold_every_score_of_every_class_passes(scores):
    rule = NoThreshold()
    rule.fit(scores)
    anything = np.array([0.0, 1e-300, 0.5, 1.0])
    assert rule.passes(list(scores), np.tile(anything[:, None], (1, len(scores)))).all()


def test_no_threshold_is_still_refused_for_a_class_it_was_not_told_of():
    rule = NoThreshold()
    rule.fit({0: [], 4: []})
    with pytest.raises(NotFittedError, match="class 7"):
        rule.passes([0, 7], np.ones((1, 2)))


def test_no_threshold_survives_a_restore():
    rule, other = NoThreshold(), NoThreshold()
    rule.fit({0: [], 4: []})
    other.restore(rule.state())
    assert other.passes([4, 0], np.zeros((3, 2))).all()
    assert np.isneginf(rule.state()["lowest"]).all()
