import math

import numpy as np
import pytest
from scipy import stats

from csim.decide.thresholds import MeanBoundThreshold, NoThreshold, QuantileThreshold
from csim.errors import NotFittedError


@pytest.mark.parametrize("keep", [0.8, 0.9, 0.95, 0.98])
@pytest.mark.parametrize(
    "draw", [lambda rng, n: rng.beta(5, 2, n), lambda rng, n: rng.standard_cauchy(n)]
)
def test_the_promised_share_of_known_images_is_accepted(keep, draw):
    """The mean acceptance over many draws lies in [keep, keep + 1/(n + 1)]."""
    rng = np.random.default_rng(1)
    n = 150
    shares = []
    for _ in range(300):
        rule = QuantileThreshold(keep=keep)
        rule.fit({0: draw(rng, n)})
        shares.append(rule.passes([0], draw(rng, 1000)[:, None]).mean())
    noise = 4 * np.std(shares) / math.sqrt(len(shares))
    assert keep - noise <= np.mean(shares) <= keep + 1 / (n + 1) + noise


@pytest.mark.parametrize(
    ("percent", "n"),
    [
        (80, 4),
        (80, 9),
        (90, 9),
        (90, 10),
        (90, 199),
        (95, 19),
        (95, 200),
        (98, 49),
        (98, 98),
        (98, 99),
    ],
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


def draw_scores(rng, count, classes, known=True):
    """Return scores, (n, K): known images score high for their class, more for some classes."""
    scores = rng.beta(1, 9, (count, classes))
    if known:
        labels = rng.integers(classes, size=count)
        scores[np.arange(count), labels] = rng.beta(4 + 3 * labels, 2)
    return scores


def by_given_class(scores):
    """Return the best score of each image, by the class that it gets."""
    given = scores.argmax(axis=1)
    return {c: scores[given == c, c] for c in range(scores.shape[1])}


@pytest.mark.parametrize("keep", [0.8, 0.95])
@pytest.mark.parametrize("held_out", [150, 1000])
def test_of_all_known_images_at_most_the_promised_share_is_rejected(keep, held_out):
    """Count mistakes and small classes too: with 150 held-out images, some use the pooled one."""
    rng = np.random.default_rng(2)
    rejected = []
    for _ in range(80):
        rule = QuantileThreshold(keep=keep)
        rule.fit(by_given_class(draw_scores(rng, held_out, 6)))
        rejected.append(1 - rule.passes(range(6), draw_scores(rng, 1000, 6)).any(axis=1).mean())
    noise = 4 * np.std(rejected) / math.sqrt(len(rejected))
    assert np.mean(rejected) <= 1 - keep + noise
    assert np.mean(rejected) >= 0.5 * (1 - keep)


@pytest.mark.parametrize("keep", [0.8, 0.95, 0.98])
def test_the_promise_nearly_holds_when_every_class_is_young(keep):
    """The n scores of a class hold n / (n + 1) of its weight: (n + 1) / n as many are rejected."""
    rng = np.random.default_rng(3)
    rejected = []
    for _ in range(300):
        rule = QuantileThreshold(keep=keep)
        rule.fit({c: rng.beta(4 + c, 2, 3) for c in range(20)})
        fresh = np.concatenate([rng.beta(4 + c, 2, (20, 1)) for c in range(20)])
        rejected.append(1 - rule.passes([0], fresh).mean())
    assert np.mean(rejected) <= 4 / 3 * (1 - keep) + 4 * np.std(rejected) / math.sqrt(len(rejected))


def pooled(scores, keep):
    """Return the highest score up to which the weights add up to at most 1 - keep."""
    count = sum(map(len, scores))
    entries = sorted(
        (score, 1 / len(part) / len(scores) * count / (count + 1))
        for part in scores
        for score in part
    )
    total = 0.0
    lowest = -math.inf
    for score, weight in entries:
        total += weight
        if total > 1 - keep + 1e-9:
            break
        lowest = score
    return lowest


@pytest.mark.parametrize("keep", [0.9, 0.95, 0.98])
@pytest.mark.parametrize("seed", range(5))
def test_a_young_class_borrows_the_threshold_of_all_scores_each_class_weighing_the_same(keep, seed):
    rng = np.random.default_rng(seed)
    scores = {
        0: rng.beta(8, 2, 400),
        1: rng.beta(5, 2, 150),
        2: rng.beta(6, 3, 5),
        7: rng.beta(3, 3, 8),
        9: [],
    }
    rule = QuantileThreshold(keep=keep)
    rule.fit(scores)
    lowest = pooled([part for part in scores.values() if len(part)], keep)
    for young in (2, 9):
        assert rule.passes([young], np.array([[lowest], [lowest - 1e-9]])).ravel().tolist() == [
            True,
            lowest < 0,
        ]


def test_a_class_with_fewer_scores_than_it_needs_accepts_everything_and_others_stay_as_they_were():
    rng = np.random.default_rng(0)
    scores = {0: rng.beta(8, 2, 400), 1: rng.beta(8, 2, 1), 2: []}
    borrowing = QuantileThreshold(keep=0.95)
    strict = QuantileThreshold(keep=0.95, least_scores=1)
    borrowing.fit(scores)
    strict.fit(scores)
    low = np.zeros((1, 1))
    assert not borrowing.passes([2], low).any()
    assert strict.passes([2], low).all()
    some = np.linspace(0, 1, 101)[:, None]
    for old in (0, 1):
        assert (strict.passes([old], some) == borrowing.passes([old], some)).all()
        assert not strict.passes([old], low).any()


def test_a_large_class_does_not_set_the_threshold_of_the_young_ones_alone():
    high = {0: np.linspace(0.9, 0.99, 1000)}
    others = {c: np.linspace(0.5, 0.7, 40) for c in (1, 2, 3)}
    rule = QuantileThreshold(keep=0.95)
    rule.fit(high | others | {4: [0.6]})
    assert rule.passes([4], np.array([[0.6]])).all()


def test_only_the_highest_score_of_an_image_can_pass():
    rng = np.random.default_rng(0)
    rule = QuantileThreshold(keep=0.9)
    rule.fit({c: rng.beta(2 + c, 2, 100) for c in range(4)})
    scores = rng.random((200, 4))
    passes = rule.passes(range(4), scores)
    for row, passing in zip(scores.tolist(), passes.tolist(), strict=True):
        best = row.index(max(row))
        assert passing == [
            c == best and bool(rule.passes([c], np.array([[row[c]]])).all()) for c in range(4)
        ]


def test_a_class_of_five_images_leaves_the_rejection_of_unknown_images_as_it_was():
    rng = np.random.default_rng(3)
    old = {c: rng.beta(9, 2, 200) for c in range(5)}
    unknown = np.concatenate(
        [rng.beta(2, 5, (5000, 5)), np.zeros((5000, 1))], axis=1
    )  # the old classes score them
    before = QuantileThreshold(keep=0.95)
    after = QuantileThreshold(keep=0.95)
    before.fit(old)
    after.fit(old | {5: rng.beta(1, 9, 5)})
    was = before.passes(range(5), unknown[:, :5])
    now = after.passes(range(6), unknown)
    assert (was == now[:, :5]).all()
    assert not now[:, 5].any()
    assert 0.5 < 1 - was.any(axis=1).mean() < 1


def test_with_too_few_scores_in_all_everything_is_accepted():
    rule = QuantileThreshold(keep=0.95)
    rule.fit({0: [0.9] * 5, 1: [0.8] * 5})
    assert rule.passes([0, 1], np.zeros((1, 2))).any()


@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.25])
@pytest.mark.parametrize("n", [2, 3, 17, 200])
def test_the_bound_is_the_lower_end_of_students_interval(alpha, n):
    scores = np.random.default_rng(n).beta(5, 2, n)
    low, _ = stats.t.interval(1 - 2 * alpha, df=n - 1, loc=scores.mean(), scale=stats.sem(scores))
    rule = MeanBoundThreshold(alpha=alpha)
    rule.fit({4: scores})
    assert rule.passes([4], np.array([[low + 1e-9], [low - 1e-9]])).ravel().tolist() == [
        True,
        False,
    ]


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
    assert accepted == pytest.approx(
        stats.norm.cdf(0.117), abs=0.05
    )  # t(0.05, 199)/√200 deviations under the mean


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
    rule = NoThreshold()
    other = NoThreshold()
    rule.fit({0: [], 4: []})
    other.restore(rule.state())
    assert other.passes([4, 0], np.zeros((3, 2))).all()
    assert np.isneginf(rule.state()["lowest"]).all()
