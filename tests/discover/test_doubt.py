import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from csim.discover.doubt import doubt

PROBABILITIES = st.floats(0.001, 0.999)


@settings(max_examples=40)
@given(rows=st.lists(st.lists(PROBABILITIES, min_size=3, max_size=3), max_size=8))
def test_doubt_is_what_the_best_class_leaves_of_all_odds(rows):
    expected = []
    for row in rows:
        odds = [score / (1 - score) for score in row]
        expected.append(1 - max(odds) / sum(odds))
    assert doubt(np.array(rows).reshape(-1, 3)) == pytest.approx(np.array(expected), abs=1e-12)


@settings(max_examples=40)
@given(row=st.lists(PROBABILITIES, min_size=2, max_size=6))
def test_doubt_lies_between_nothing_and_the_share_of_all_other_classes(row):
    (share,) = doubt(np.array([row]))
    assert -1e-12 <= share <= 1 - 1 / len(row) + 1e-12


def test_a_class_that_stands_out_more_leaves_less_doubt():
    scores = np.stack([np.linspace(0.5, 0.999, 30), np.full(30, 0.5)], axis=1)
    assert (np.diff(doubt(scores)) < 0).all()


@pytest.mark.parametrize(("score", "expected"), [(0.5, 0.5), (0.9, 0.1), (0.99, 0.01)])
def test_with_one_class_the_doubt_is_that_it_is_none(score, expected):
    assert doubt(np.array([[score]])) == pytest.approx(np.array([expected]))


def test_without_a_class_all_is_doubt():
    assert doubt(np.zeros((4, 0))).tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_scores_of_0_and_1_are_fine(dtype):
    with np.errstate(all="raise"):
        shares = doubt(np.array([[1, 0], [0, 0], [1, 1], [0, 1]], dtype))
    assert shares == pytest.approx(np.array([0, 0.5, 0.5, 0]), abs=1e-6)


def test_no_image_no_doubt_and_the_scores_stay_as_they_are():
    assert doubt(np.zeros((0, 3))).shape == (0,)
    scores = np.array([[0.0, 1.0, 0.3]])
    doubt(scores)
    assert scores.tolist() == [[0.0, 1.0, 0.3]]
