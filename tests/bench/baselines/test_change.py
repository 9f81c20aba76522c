import numpy as np
import pytest
from scipy.stats import beta

from csim.bench.baselines.change import change_point, gains_of, smoothed

USUAL = {"alpha": 0.001, "delta": 0.05, "gamma": 0.5, "longest": 3000}


def signal(*parts, seed=0):
    rng = np.random.default_rng(seed)
    return np.clip(np.concatenate([rng.beta(a, b, count) for a, b, count in parts]), 0.05, 0.995)


def naive_gain(values, cut):
    """Return the log-likelihood ratio of what follows a cut, by the textbook."""

    def fit(part):
        mean, spread = part.mean(), part.var()
        weight = mean * (1 - mean) / spread - 1
        return beta(mean * weight, (1 - mean) * weight)

    ahead, behind = fit(values[:cut]), fit(values[cut:])
    return (behind.logpdf(values[cut:]) - ahead.logpdf(values[cut:])).sum()


def test_all_cuts_at_once_agree_with_one_at_a_time():
    values, cuts = signal((8, 2, 150), (4, 4, 100)), np.arange(100, 151, 7)
    assert gains_of(values, cuts) == pytest.approx(
        [naive_gain(values, cut) for cut in cuts], rel=1e-6
    )


def test_a_planted_drop_is_found_within_a_twentieth_of_the_signal():
    found = [
        change_point(signal((8, 2, 700), (3, 5, 300), seed=seed), **USUAL) for seed in range(10)
    ]
    assert (
        sum(abs(place - 700) <= 50 for place in found) >= 9
    )  # the statistic now and then prefers a short first part


def test_a_steady_signal_has_no_change_with_delta_and_often_one_as_released():
    quiet = [signal((8, 2, 1000), seed=seed) for seed in range(20)]
    assert sum(change_point(values, **USUAL) is not None for values in quiet) <= 1
    assert (
        sum(change_point(values, **USUAL | {"delta": 0.001}) is not None for values in quiet) >= 5
    )


def test_confidence_that_rises_is_no_change():
    assert change_point(signal((3, 5, 500), (8, 2, 500)), **USUAL) is None


def test_a_signal_that_is_too_long_or_worthless_is_cut_at_its_end():
    assert change_point(signal((8, 2, 301)), **USUAL | {"longest": 300}) == 301
    assert change_point(signal((1, 9, 201)), **USUAL) == 201
    assert (
        change_point(signal((1, 9, 200)), **USUAL | {"delta": 1.0}) is None
    )  # too short to be called worthless


@pytest.mark.parametrize("count", [1, 50, 199])
def test_a_short_signal_has_no_change(count):
    assert change_point(signal((8, 2, count)), **USUAL) is None


def test_a_constant_signal_can_be_weighed():
    assert change_point(np.full(500, 0.9), **USUAL) is None


def test_confidences_are_kept_off_the_ends():
    assert [smoothed(value) for value in (0.0, 0.099, 0.1, 0.996)] == [0.05, 0.05, 0.1, 0.995]
