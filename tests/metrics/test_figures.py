"""Every figure against a plain count on a log made by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from csim.metrics.figures import (
    Milestones,
    accuracy,
    accuracy_curve,
    labels_spent,
    milestones,
    novelty_errors,
    purity,
    summarise,
)
from csim.records import (
    Accepted,
    Asked,
    ClassAdded,
    ClassesMerged,
    ClassRenamed,
    Item,
    Labelled,
    Question,
    Rejected,
    Retrained,
    Revised,
)

PIXELS = np.zeros((8, 8), np.uint8)


def asked(position, question_id, *ids):
    """Return a question about the images of some ids, the first of which stands for them."""
    members = tuple(Item(item_id, int(item_id), PIXELS) for item_id in ids)
    return Asked(position, Question(question_id, position, members[0], members))


TRUTH = {"1": "cat", "2": "dog", "3": "emu", "4": "emu", "5": "cat", "6": "fox", "7": "emu", "8": "fox", "9": "fox"}

LOG = [
    ClassAdded(0, 0, "cat"),
    ClassAdded(0, 1, "doog"),
    Retrained(0, 1, (0, 1)),
    Accepted(1, "1", 0, 0.9, 1),  # right
    Accepted(2, "2", 1, 0.9, 1),  # right once the name is mended
    Accepted(3, "3", 0, 0.7, 1),  # a new kind taken for a known one
    Rejected(4, "4", 0, 0.2, 1),
    Rejected(5, "5", 0, 0.4, 1),  # a known kind rejected, then spread to: "emu"
    asked(5, 1, "4", "5"),
    ClassAdded(5, 2, "emu"),
    Labelled(5, "4", 2, 1, is_told=True),
    Labelled(5, "5", 2, 1, is_told=False),
    ClassRenamed(5, 1, "dog"),
    Rejected(6, "6", 1, 0.3, 1),
    asked(6, 2, "6"),
    ClassAdded(6, 3, "vixen"),
    ClassAdded(6, 4, "fox"),
    Labelled(6, "6", 3, 2, is_told=True),
    Retrained(6, 2, (0, 1, 2)),
    Accepted(7, "7", 2, 0.9, 2),  # right, of a class learned meanwhile
    Rejected(8, "8", 1, 0.1, 2),
    Accepted(9, "9", 1, 0.8, 2),  # a new kind taken for a dog, then revised
    asked(9, 3, "8"),
    Labelled(9, "8", 4, 3, is_told=True),
    ClassesMerged(9, 3, 4),
    Revised(9, "9", 1, None),
    Retrained(9, 3, (0, 1, 2, 4)),
]


def test_accuracy_is_the_share_of_right_labels():
    labels = {"1": "cat", "2": "cat", "3": None, "5": "cat", "stranger": "cat"}
    assert accuracy(labels, TRUTH) == pytest.approx(100 * 2 / 9)
    assert accuracy(TRUTH, TRUTH) == 100
    assert accuracy({}, TRUTH) == 0
    assert accuracy({}, {}) == 0


@given(
    pairs=st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from(["a", "b", None])), max_size=40),
    window=st.integers(1, 50),
)
def test_the_curve_is_the_accuracy_of_the_last_images(pairs, window):
    truth = {str(place): true for place, (true, _) in enumerate(pairs)}
    labels = {str(place): label for place, (_, label) in enumerate(pairs)}
    expected = []
    for end in range(1, len(pairs) + 1):
        recent = pairs[max(0, end - window) : end]
        expected.append(100 * sum(true == label for true, label in recent) / len(recent))
    assert accuracy_curve(labels, truth, window) == pytest.approx(np.array(expected))


def test_labels_spent_are_the_positions_of_the_questions():
    assert labels_spent(LOG) == [5, 6, 9]
    assert labels_spent([]) == []


def test_milestones_tell_when_a_class_came_was_asked_about_and_learned():
    assert milestones(LOG, TRUTH) == [Milestones("emu", 3, 5, 6), Milestones("fox", 6, 6, 9)]


def test_a_class_that_was_never_asked_about_nor_learned_has_no_such_milestones():
    truth = {"1": "cat", "2": "yak"}
    events = [*LOG[:4], Accepted(2, "2", 0, 0.9, 1)]
    assert milestones(events, truth) == [Milestones("yak", 2, None, None)]


def test_novelty_errors_are_counted_by_what_the_model_could_output_at_arrival():
    """Novel: 3, 4, 6, 8, 9; image 3 stays a cat. Existing: 1, 2, 5, 7; image 5 became an emu, then still unknown."""
    assert novelty_errors(LOG, TRUTH) == (pytest.approx(100 * 1 / 5), pytest.approx(100 * 1 / 4))


def test_an_image_without_a_final_label_is_neither_missed_nor_false():
    events = [*LOG[:3], Rejected(1, "1", 0, 0.1, 1), Rejected(2, "3", 0, 0.1, 1)]
    assert novelty_errors(events, TRUTH) == (0, 0)


def test_a_novel_image_that_is_later_labelled_as_another_novel_class_is_not_missed():
    events = [
        *LOG[:3],
        Rejected(1, "3", 0, 0.1, 1),
        ClassAdded(1, 2, "fox"),
        Labelled(1, "3", 2, 1, is_told=True),
        Retrained(1, 2, (0, 1, 2)),
    ]
    assert novelty_errors(events, TRUTH) == (0, 0)


def test_without_images_there_are_no_novelty_errors():
    assert novelty_errors([], {}) == (0, 0)


def test_purity_is_the_share_of_members_like_their_representative():
    assert purity(LOG, TRUTH) == pytest.approx(100 * 3 / 4)  # emu and cat; fox; fox
    assert purity([], TRUTH) == 0


def test_a_summary_holds_all_figures_of_a_run():
    summary = summarise(LOG, TRUTH)
    right = {"1", "2", "4", "6", "7", "8"}  # 3 stayed a cat, 5 became an emu, 9 has no class
    assert summary.images == 9
    assert summary.accuracy == pytest.approx(100 * len(right) / 9)
    assert summary.accuracy_at_arrival == pytest.approx(100 * 3 / 9)  # 1, 2, 7
    assert summary.labels_percent == pytest.approx(100 * 3 / 9)
    assert (summary.m_new, summary.f_new) == novelty_errors(LOG, TRUTH)
    assert summary.purity == purity(LOG, TRUTH)
    assert summary.classes_learned == 4


def test_the_summary_of_nothing_is_all_zeros():
    summary = summarise([], {})
    assert (summary.images, summary.accuracy, summary.labels_percent, summary.classes_learned) == (0, 0, 0, 0)


def test_figures_edit_neither_the_log_nor_the_truth():
    log, truth = list(LOG), dict(TRUTH)
    summarise(log, truth)
    milestones(log, truth)
    assert log == LOG
    assert list(truth.items()) == list(TRUTH.items())
