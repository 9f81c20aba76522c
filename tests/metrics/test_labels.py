import pytest
from metrics import naive
from metrics.random_log import random_log

from csim.errors import InputError, SettingsError
from csim.metrics.labels import (
    at_arrival,
    changes,
    class_names,
    final,
    late_revisions,
    named,
    names_of,
)
from csim.records import (
    Accepted,
    ClassAdded,
    ClassesMerged,
    ClassRemoved,
    ClassRenamed,
    Corrected,
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


def test_a_merged_class_has_the_name_of_its_target():
    events = [
        ClassAdded(0, class_id, name) for class_id, name in enumerate(["heron", "crane", "egret"])
    ]
    assert class_names([*events, ClassesMerged(3, 2, 0)]) == {0: "heron", 1: "crane", 2: "heron"}


def test_a_chain_of_merges_leads_to_its_end():
    events = [ClassAdded(0, class_id, name) for class_id, name in enumerate("abcd")]
    merges = [ClassesMerged(1, 0, 1), ClassesMerged(2, 1, 2), ClassesMerged(3, 3, 2)]
    assert class_names(events + merges) == {0: "c", 1: "c", 2: "c", 3: "c"}


def test_a_rename_after_a_merge_renames_all_merged_classes():
    events = [
        ClassAdded(0, 0, "a"),
        ClassAdded(0, 1, "b"),
        ClassesMerged(1, 0, 1),
        ClassRenamed(2, 1, "both"),
    ]
    assert class_names(events) == {0: "both", 1: "both"}


def test_a_name_that_was_freed_by_a_merge_may_belong_to_a_new_class():
    events = [
        ClassAdded(0, 0, "a"),
        ClassAdded(0, 1, "b"),
        ClassesMerged(1, 0, 1),
        ClassAdded(2, 2, "a"),
    ]
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
def test_final_labels_are_the_last_event_of_each_image_at_any_time(stop):
    """Compare with a naive reading: for each image, find the last event about it."""
    expected = {}
    for event in LOG[:stop]:
        if isinstance(event, Accepted | Rejected):
            about = [
                other for other in LOG[:stop] if getattr(other, "item_id", None) == event.item_id
            ]
            field = "after" if isinstance(about[-1], Revised) else "class_id"
            expected[event.item_id] = getattr(about[-1], field, None)
    assert final(LOG[:stop]) == expected


def test_labels_are_named_and_no_label_stays_none():
    assert named({"a": 0, "b": None, "c": 2}, {0: "x", 2: "z"}) == {"a": "x", "b": None, "c": "z"}


def test_an_empty_log_has_no_labels():
    assert class_names([]) == at_arrival([]) == final([]) == named({}, {}) == {}


# a: accepted, b and c: wait; all are changed early and late.
CHANGES = [
    Accepted(1, "a", 0, 0.9, 1),
    Rejected(2, "b", 0, 0.2, 1),
    Rejected(3, "c", 0, 0.2, 1),
    Labelled(5, "c", 3, 2, is_told=True),
    Revised(6, "c", 3, None),  # removed in time: it waits again
    Revised(11, "a", 0, 1),  # ten arrivals later
    Revised(12, "a", 1, 2),  # eleven
    Labelled(40, "b", 3, 1, is_told=True),  # the first label of one that waits
    Labelled(41, "b", 4, 1, is_told=True),
    Labelled(50, "c", 5, 2, is_told=True),
    Revised(51, "c", 5, None),
]


@pytest.mark.parametrize(
    ("within", "expected", "late"),
    [
        (None, {"a": 2, "b": 4, "c": None}, 0),
        (2000, {"a": 2, "b": 4, "c": None}, 0),
        (11, {"a": 2, "b": 3, "c": 5}, 2),
        (10, {"a": 1, "b": 3, "c": 5}, 3),
        (9, {"a": 0, "b": 3, "c": 5}, 4),
        (0, {"a": 0, "b": 3, "c": 3}, 6),
    ],
)
def test_a_label_changes_only_while_its_image_is_recent(within, expected, late):
    assert final(CHANGES, within) == expected
    assert late_revisions(CHANGES, within) == late


def test_the_limit_is_two_thousand_arrivals_by_default():
    for after, label in ((2001, 1), (2002, 0)):
        events = [Accepted(1, "a", 0, 0.9, 1), Revised(after, "a", 0, 1)]
        assert final(events) == {"a": label}
        assert late_revisions(events) == (label == 0)


def test_what_changes_nothing_is_not_a_late_revision():
    events = [
        Accepted(1, "a", 0, 0.9, 1),
        Revised(90, "a", 0, 0),
        Labelled(91, "a", 0, 1, is_told=True),
    ]
    assert late_revisions(events, within=10) == 0
    assert [change.is_late for change in changes(events, within=100)] == [False, False]


def test_a_correction_is_an_answer_and_other_revisions_are_not():
    events = [
        Rejected(1, "a", 0, 0.1, 1),
        Rejected(2, "b", 0, 0.1, 1),
        Labelled(2, "a", 3, 1, is_told=True),
        Labelled(2, "b", 3, 1, is_told=False),
        Corrected(4, 1, 5),
        Revised(4, "a", 3, 5),
        Revised(4, "b", 3, 5),
        Revised(4, "a", 5, 6),  # another class than the correction's
        Accepted(5, "c", 0, 0.9, 1),
        Revised(5, "b", 5, 5),  # no longer next to the correction
    ]
    assert [change.is_from_answer for change in changes(events)] == [
        True,
        True,
        True,
        True,
        False,
        False,
    ]


def test_a_limit_below_zero_is_refused():
    with pytest.raises(
        SettingsError, match="within must be 0 or more arrivals, or None for no limit; got -1"
    ):
        final([], within=-1)


@pytest.mark.parametrize("within", [None, 0, 3, 10])
@pytest.mark.parametrize("seed", range(25))
def test_final_labels_of_a_random_log_are_those_read_naively(seed, within):
    events, truth = random_log(seed)
    expected = {item_id: naive.final_id(events, item_id, within) for item_id in truth}
    assert final(events, within) == expected
    refused = 0
    for item_id in truth:
        history = naive.events_of(events, item_id)
        for end in range(2, len(history) + 1):
            before = naive.last_label(history[: end - 1], within)
            is_change = naive.label_of(history[end - 1]) != before
            refused += is_change and naive.is_refused(history[:end], within)
    assert late_revisions(events, within) == refused
    assert refused > 0 or within in (None, 10)


@pytest.mark.parametrize("seed", range(25))
def test_names_of_a_random_log_are_those_read_naively(seed):
    events, _ = random_log(seed)
    ids = [event.class_id for event in events if isinstance(event, ClassAdded)]
    assert class_names(events) == {class_id: naive.name_of(events, class_id) for class_id in ids}


def test_a_class_that_the_log_does_not_name_is_refused():
    with pytest.raises(InputError, match=r"class 7 was not added.* from its start"):
        named({"a": 7}, {0: "x"})
    with pytest.raises(InputError, match="class 7 was not"):
        names_of([0, 7], {0: "x"})
