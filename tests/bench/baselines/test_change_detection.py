import numpy as np
import pytest
from scipy.stats import beta

from csim.bench.baselines.change_detection import (
    clip_confidence,
    find_change,
    log_likelihood_ratios,
)

USUAL = {"alpha": 0.001, "delta": 0.05, "gamma": 0.5, "max_length": 3000}


def signal(*parts, seed=0):
    rng = np.random.default_rng(seed)
    return np.clip(np.concatenate([rng.beta(a, b, count) for a, b, count in parts]), 0.05, 0.995)


def naive_ratio(values, cut):
    """Return the log-likelihood ratio of the part after a cut, by the textbook."""

    def fit(part):
        mean = part.mean()
        weight = mean * (1 - mean) / part.var() - 1
        return beta(mean * weight, (1 - mean) * weight)

    before = fit(values[:cut])
    after = fit(values[cut:])
    return (after.logpdf(values[cut:]) - before.logpdf(values[cut:])).sum()


def test_all_cuts_at_once_agree_with_one_at_a_time():
    values = signal((8, 2, 150), (4, 4, 100))
    cuts = np.arange(100, 151, 7)
    expected = [naive_ratio(values, cut) for cut in cuts]
    assert log_likelihood_ratios(values, cuts) == pytest.approx(expected, rel=1e-6)


def test_a_planted_drop_is_found_within_a_twentieth_of_the_signal():
    found = [
        find_change(signal((8, 2, 700), (3, 5, 300), seed=seed), **USUAL) for seed in range(10)
    ]
    # The statistic sometimes prefers a short first part.
    assert sum(abs(cut - 700) <= 50 for cut in found) >= 9


def test_a_steady_signal_has_no_change_with_delta_and_often_one_as_released():
    quiet = [signal((8, 2, 1000), seed=seed) for seed in range(20)]
    assert sum(find_change(values, **USUAL) is not None for values in quiet) <= 1
    released = USUAL | {"delta": 0.001}
    assert sum(find_change(values, **released) is not None for values in quiet) >= 5


def test_confidence_that_rises_is_no_change():
    assert find_change(signal((3, 5, 500), (8, 2, 500)), **USUAL) is None


def test_a_signal_that_is_too_long_or_too_low_is_cut_at_its_end():
    assert find_change(signal((8, 2, 301)), **USUAL | {"max_length": 300}) == 301
    assert find_change(signal((1, 9, 201)), **USUAL) == 201
    too_short = signal((1, 9, 200))
    assert find_change(too_short, **USUAL | {"delta": 1.0}) is None


@pytest.mark.parametrize("count", [1, 50, 199])
def test_a_short_signal_has_no_change(count):
    assert find_change(signal((8, 2, count)), **USUAL) is None


def test_a_constant_signal_has_no_change():
    assert find_change(np.full(500, 0.9), **USUAL) is None


def test_confidences_are_clipped_away_from_0_and_1():
    clipped = [clip_confidence(value) for value in (0.0, 0.099, 0.1, 0.996)]
    assert clipped == [0.05, 0.05, 0.1, 0.995]
