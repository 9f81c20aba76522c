import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from metrics.hand_log import LOG, TRUTH
from metrics.random_log import random_log

from csim.metrics.accuracy import accuracy, accuracy_curve, last_quarter, unasked
from csim.metrics.share import percent
from csim.records import Labelled, Told, Undone


def test_accuracy_is_the_share_of_right_labels():
    labels = {"1": "cat", "2": "cat", "3": None, "5": "cat", "stranger": "cat"}
    assert accuracy(labels, TRUTH) == pytest.approx(100 * 2 / 9)
    assert accuracy(TRUTH, TRUTH) == 100
    assert accuracy({}, TRUTH) == 0
    assert accuracy({}, {}) == 0


@given(
    pairs=st.lists(
        st.tuples(st.sampled_from("ab"), st.sampled_from(["a", "b", None])), max_size=40
    ),
    window=st.integers(1, 50),
)
def test_the_curve_is_the_accuracy_of_the_last_images(pairs, window):
    truth = {str(index): true for index, (true, _) in enumerate(pairs)}
    labels = {str(index): label for index, (_, label) in enumerate(pairs)}
    expected = []
    for end in range(1, len(pairs) + 1):
        recent = pairs[max(0, end - window) : end]
        expected.append(100 * sum(true == label for true, label in recent) / len(recent))
    assert accuracy_curve(labels, truth, window) == pytest.approx(np.array(expected))


def test_images_that_a_person_labelled_are_left_out():
    rest = ("1", "2", "3", "5", "7", "9")  # 5 was inferred
    assert unasked(LOG, TRUTH) == {item_id: TRUTH[item_id] for item_id in rest}


def test_an_undone_answer_leaves_its_image_unasked():
    told = Labelled(5, "4", 2, 1, is_told=True)
    assert "4" in unasked([told, Undone(6, 1)], TRUTH)
    assert "4" not in unasked([told, Undone(6, 2)], TRUTH)
    assert "4" not in unasked([told, Undone(6, 1), told], TRUTH)


@pytest.mark.parametrize("seed", range(25))
def test_unasked_images_of_a_random_log_are_those_without_a_lasting_answer(seed):
    events, truth = random_log(seed)

    def is_told(item_id):
        for index, event in enumerate(events):
            is_label = isinstance(event, Told) or (isinstance(event, Labelled) and event.is_told)
            if is_label and event.item_id == item_id:
                undone = [later for later in events[index:] if isinstance(later, Undone)]
                if not any(later.question_id == event.question_id for later in undone):
                    return True
        return False

    expected = {item_id: name for item_id, name in truth.items() if not is_told(item_id)}
    assert unasked(events, truth) == expected
    assert list(expected) == list(unasked(events, truth)), "in order of arrival"
    assert 0 < len(expected) < len(truth)


@pytest.mark.parametrize("count", range(12))
def test_the_last_quarter_is_at_least_a_quarter_and_the_last(count):
    truth = {str(index): "cat" for index in range(count)}
    last = list(last_quarter(truth))
    assert count / 4 <= len(last) < count / 4 + 1
    assert last == list(truth)[count - len(last) :]


@given(hits=st.lists(st.booleans(), max_size=30))
def test_percent_is_a_hundred_times_the_mean(hits):
    assert percent(hits) == pytest.approx(100 * np.mean(hits) if hits else 0)
    assert percent(iter(hits)) == percent(hits)
