import pytest

from csim.metrics.labels import at_arrival, class_names, final, named
from csim.records import (
    Accepted,
    ClassAdded,
    ClassesMerged,
    ClassRemoved,
    ClassRenamed,
    Labelled,
    Rejected,
    Retrained,
    Revised,
    Skipped,
)


def test_a_class_has_the_last_name_it_was_given():
    events = [
        ClassAdded(0, 0, "hern"),
        ClassAdded(0, 1, "crane"),
        ClassRenamed(4, 0, "hren"),
        ClassRenamed(5, 0, "heron"),
    ]
    assert class_names(events) == {0: "heron", 1: "crane"}


def test_a_merged_class_has_the_name_of_what_it_went_up_in():
    events = [ClassAdded(0, c, name) for c, name in enumerate(["heron", "crane", "egret"])]
    assert class_names([*events, ClassesMerged(3, 2, 0)]) == {0: "heron", 1: "crane", 2: "heron"}


def test_a_chain_of_merges_leads_to_its_end():
    events = [ClassAdded(0, c, name) for c, name in enumerate("abcd")]
    merges = [ClassesMerged(1, 0, 1), ClassesMerged(2, 1, 2), ClassesMerged(3, 3, 2)]
    assert class_names(events + merges) == {0: "c", 1: "c", 2: "c", 3: "c"}


def test_a_rename_after_a_merge_renames_all_that_went_up_in_it():
    events = [ClassAdded(0, 0, "a"), ClassAdded(0, 1, "b"), ClassesMerged(1, 0, 1), ClassRenamed(2, 1, "both")]
    assert class_names(events) == {0: "both", 1: "both"}


def test_a_name_that_was_freed_by_a_merge_may_belong_to_a_new_class():
    events = [ClassAdded(0, 0, "a"), ClassAdded(0, 1, "b"), ClassesMerged(1, 0, 1), ClassAdded(2, 2, "a")]
    assert class_names(events) == {0: "b", 1: "b", 2: "a"}


def test_a_removed_class_keeps_its_name_in_the_record():
    assert class_names([ClassAdded(0, 0, "a"), ClassRemoved(4, 0)]) == {0: "a"}


LOG = [
    Accepted(1, "a", 0, 0.9, 1),
    Rejected(2, "b", 1, 0.3, 1),
    Rejected(3, "c", 0, 0.2, 1),
    Skipped(3, 8),
    Rejected(4, "d", None, 0.0, 1),
    Labelled(4, "b", 2, 1, is_told=True),
    Labelled(4, "c", 2, 1, is_told=False),
    Labelled(4, "warm-up image", 2, 1, is_told=False),
    Retrained(4, 2, (0, 1, 2)),
    Accepted(5, "e", 2, 0.8, 2),
    Revised(6, "c", 2, 1),
    Revised(7, "b", 2, None),
    Revised(7, "stored before", 2, 1),
    Labelled(8, "b", 0, 1, is_told=True),
    Revised(9, "e", 2, None),
]


def test_labels_at_arrival_are_those_given_at_once():
    assert at_arrival(LOG) == {"a": 0, "b": None, "c": None, "d": None, "e": 2}


def test_final_labels_follow_answers_and_revisions_in_order():
    assert final(LOG) == {"a": 0, "b": 0, "c": 1, "d": None, "e": None}


@pytest.mark.parametrize("stop", range(len(LOG) + 1))
def test_final_labels_are_the_last_word_on_each_image_at_any_time(stop):
    """A naive reading: for each image of the stream, walk back to the last event that speaks of it."""
    expected = {}
    for event in LOG[:stop]:
        if isinstance(event, Accepted | Rejected):
            words = [e for e in LOG[:stop] if getattr(e, "item_id", None) == event.item_id]
            last = words[-1]
            expected[event.item_id] = getattr(last, "after", None) if isinstance(last, Revised) else getattr(
                last, "class_id", None
            )  # fmt: skip
    assert final(LOG[:stop]) == expected


def test_labels_are_named_and_no_label_stays_none():
    assert named({"a": 0, "b": None, "c": 2}, {0: "x", 2: "z"}) == {"a": "x", "b": None, "c": "z"}


def test_an_empty_log_has_nothing_to_tell():
    assert class_names([]) == at_arrival([]) == final([]) == named({}, {}) == {}
