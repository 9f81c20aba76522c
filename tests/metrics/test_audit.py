import numpy as np
import pytest
from scipy.stats import binom

from csim.metrics.audit import audit, interval
from csim.records import Audited, ClassesMerged, ClassRemoved


def audited(question_id, *, at_arrival, today, answer):
    return Audited(9, str(question_id), question_id, at_arrival, today, answer)


def test_the_newest_report_about_a_question_counts():
    log = [
        audited(1, at_arrival=0, today=0, answer=1),
        audited(2, at_arrival=0, today=0, answer=0),
        audited(1, at_arrival=0, today=0, answer=0),
    ]
    found = audit(log)
    assert (found.answers, found.at_arrival.share, found.today.share) == (2, 100, 100)


def test_an_undone_answer_does_not_count():
    log = [
        audited(1, at_arrival=0, today=0, answer=1),
        audited(1, at_arrival=0, today=0, answer=None),
    ]
    assert audit(log) is None


def test_classes_count_as_what_they_mean_today():
    log = [
        audited(1, at_arrival=0, today=1, answer=2),
        audited(2, at_arrival=0, today=0, answer=3),
        audited(3, at_arrival=3, today=0, answer=0),
        ClassesMerged(10, 1, 2),
        ClassesMerged(11, 2, 4),
        ClassRemoved(12, 3),
    ]
    found = audit(log)
    assert found.answers == 2  # nobody knows what the image of the removed class is
    assert (found.at_arrival.share, found.today.share) == (0, 100)


@pytest.mark.parametrize("answers", [1, 7, 40])
@pytest.mark.parametrize("true", [0.02, 0.5, 0.9, 0.99])
def test_the_interval_holds_the_true_share_with_95_percent_confidence(answers, true):
    holds = [
        interval(right, answers).low <= 100 * true <= interval(right, answers).high
        for right in range(answers + 1)
    ]
    assert binom.pmf(np.arange(answers + 1), answers, true)[holds].sum() >= 0.95


def test_all_right_and_all_wrong_reach_the_ends():
    assert interval(10, 10).high == 100
    assert 69 < interval(10, 10).low < 70
    assert interval(0, 10).low == 0
