import pytest
from metrics import naive
from metrics.hand_log import LOG
from metrics.random_log import asked, random_log

from csim.metrics.answers import images_per_label, labels_spent, questions, told_items
from csim.records import (
    Accepted,
    Asked,
    Corrected,
    Divided,
    Expired,
    Labelled,
    Rejected,
    Revised,
    Skipped,
    Told,
    Undone,
)

SEEDS = range(25)


def answer(position, question_id, *ids, class_id=3):
    return [
        Labelled(position, item_id, class_id, question_id, is_told=item_id == ids[0])
        for item_id in ids
    ]


def test_questions_are_where_they_were_asked():
    assert questions(LOG) == [5, 6, 9]
    assert questions([]) == []


def test_labels_spent_are_the_positions_of_the_answers():
    assert labels_spent(LOG) == [5, 6, 9]
    assert labels_spent([]) == []


def test_an_answer_is_one_label_whatever_the_size_of_its_group():
    assert labels_spent([*answer(9, 1, "1", "2", "3"), *answer(9, 2, "4")]) == [9, 9]


def test_splits_and_corrections_are_labels_too():
    events = [*answer(4, 1, "1"), Divided(5, 2, (3, 4)), Corrected(7, 1, 5), Revised(7, "1", 3, 5)]
    assert labels_spent(events) == [4, 5, 7]


def test_a_skipped_or_expired_question_costs_nothing():
    events = [asked(1, 1, "1"), Skipped(1, 1), asked(2, 2, "2"), Expired(3, 2), asked(4, 3, "3")]
    assert labels_spent(events) == []


def test_an_undone_answer_stays_spent_and_the_next_costs_one_more():
    undo = [Undone(6, 1), Revised(6, "1", 3, None)]
    assert labels_spent([*answer(4, 1, "1"), *undo]) == [4]
    assert labels_spent([*answer(4, 1, "1"), *undo, *answer(8, 1, "1")]) == [4, 8]
    assert labels_spent([*answer(6, 1, "1"), *undo, *answer(6, 1, "1")]) == [6, 6], (
        "all at the same position"
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_labels_spent_on_a_random_log_are_all_that_a_person_gave(seed):
    """Count again: splits, corrections, and each representative that was labelled."""
    events, _ = random_log(seed)
    is_label = [
        isinstance(event, Divided | Corrected | Told)
        or (isinstance(event, Labelled) and event.is_told)
        for event in events
    ]
    assert labels_spent(events) == [
        event.position for event, counts in zip(events, is_label, strict=True) if counts
    ]
    assert questions(events) == [event.position for event in events if type(event) is Asked]


def test_images_per_label_is_one_if_every_image_is_asked_about_alone():
    events = [
        Rejected(1, "1", 0, 0.1, 1),
        Rejected(2, "2", 0, 0.1, 1),
        *answer(2, 1, "1"),
        *answer(2, 2, "2"),
    ]
    assert images_per_label(events) == 1


def test_images_per_label_on_the_log_made_by_hand():
    assert images_per_label(LOG) == pytest.approx(4 / 3), "4, 5, 6 and 8 by three answers"
    assert images_per_label([]) == 0


def test_an_image_that_was_changed_by_other_means_has_its_label_from_no_answer():
    events = [Rejected(1, "1", 0, 0.1, 1), Rejected(2, "2", 0, 0.1, 1), *answer(2, 1, "1", "2")]
    assert images_per_label([*events, Revised(3, "2", 3, 4)]) == 1
    assert images_per_label([*events, Revised(3, "2", 3, None)]) == 1
    undo = [Undone(3, 1), Revised(3, "1", 3, None), Revised(3, "2", 3, None)]
    assert images_per_label([*events, *undo]) == 0


def test_a_correction_names_the_images_again_and_counts_as_an_answer():
    events = [Rejected(1, "1", 0, 0.1, 1), Rejected(2, "2", 0, 0.1, 1), *answer(2, 1, "1", "2")]
    events += [Corrected(5, 1, 8), Revised(5, "1", 3, 8), Revised(5, "2", 3, 8)]
    assert images_per_label(events) == 2 / 2


def test_a_split_is_no_answer():
    events = [Rejected(1, "1", 0, 0.1, 1), Divided(1, 1, (2, 3)), *answer(2, 2, "1")]
    assert images_per_label(events) == 1


def test_an_answer_that_comes_too_late_names_nothing():
    events = [Accepted(1, "1", 0, 0.9, 1), *answer(20, 1, "1")]
    assert images_per_label(events, within=10) == 0
    assert images_per_label(events, within=19) == 1


@pytest.mark.parametrize("within", [None, 0, 5])
@pytest.mark.parametrize("seed", SEEDS)
def test_images_per_label_of_a_random_log_are_those_counted_naively(seed, within):
    events, truth = random_log(seed)
    corrections = {}  # the revisions that follow a correction at once
    for index, event in enumerate(events):
        if isinstance(event, Corrected):
            after = index + 1
            while (
                after < len(events)
                and isinstance(events[after], Revised)
                and events[after].after == event.class_id
            ):
                corrections[after] = event
                after += 1
    by_answer = 0
    for item_id in truth:
        origin = None
        history = []
        for index, event in enumerate(events):
            if event in naive.events_of([event], item_id):
                history.append(event)
                is_named = isinstance(event, Labelled) or index in corrections
                is_kept = naive.is_refused(history, within)
                origin = origin if is_kept else is_named
        by_answer += bool(origin) and naive.last_label(history, within) is not None
    given = sum(
        isinstance(event, Corrected | Told) or (isinstance(event, Labelled) and event.is_told)
        for event in events
    )
    assert images_per_label(events, within) == pytest.approx(by_answer / given)
    assert by_answer > 0


def test_told_items_are_the_representatives_and_not_the_inferred_ones():
    assert told_items(LOG) == {"4", "6", "8"}
    assert told_items([]) == set()
