from fractions import Fraction

import pytest
from metrics.random_log import asked, random_log

from csim.errors import SettingsError
from csim.metrics.budget import most_over_budget, within_budget
from csim.records import Asked


def log(*positions):
    return [asked(position, number, "1") for number, position in enumerate(positions, start=1)]


def test_a_budget_that_holds_is_not_exceeded():
    assert most_over_budget(log(10, 20, 30), share=0.1) == 0
    assert within_budget(log(10, 20, 30), share=0.1)
    assert within_budget([], share=0)


def test_it_must_hold_at_every_moment_and_not_only_at_the_end():
    events = log(1, 2, 100)
    assert most_over_budget(events, share=0.1) == pytest.approx(1.8), "2 asked, 0.2 allowed"
    assert not within_budget(events, share=0.1)
    assert most_over_budget(events, share=0.03) == pytest.approx(1.94)


def test_a_burst_is_allowed():
    assert within_budget(log(5, 5, 5), share=0.2, burst=2)
    assert most_over_budget(log(5, 5, 5, 5), share=0.2, burst=2) == pytest.approx(1)


@pytest.mark.parametrize("hundredths", range(1, 100))
def test_a_budget_that_is_used_up_to_the_last_question_holds(hundredths):
    """Products such as 0.29 · 100 lie just below the whole number."""
    assert within_budget(log(*[100] * hundredths), share=hundredths / 100)
    assert not within_budget(log(*[100] * (hundredths + 1)), share=hundredths / 100)


@pytest.mark.parametrize("seed", range(20))
def test_the_excess_of_a_random_log_is_the_worst_of_all_prefixes(seed):
    events, truth = random_log(seed)
    for hundredths, burst in ((0, 0), (10, 0), (30, 3), (100, 0)):
        excess = []
        for moment in range(len(truth) + 1):
            count = sum(isinstance(event, Asked) and event.position <= moment for event in events)
            excess.append(count - Fraction(hundredths, 100) * moment - burst)
        expected = max(0, *excess)
        assert most_over_budget(events, hundredths / 100, burst) == pytest.approx(float(expected))
        assert within_budget(events, hundredths / 100, burst) == (expected == 0)


@pytest.mark.parametrize(("share", "burst"), [(-0.1, 0), (1.1, 0), (float("nan"), 0), (0.1, -1)])
def test_an_impossible_budget_is_refused(share, burst):
    with pytest.raises(
        SettingsError, match="share must lie between 0 and 1, and burst must be 0 or more"
    ):
        most_over_budget([], share, burst)
