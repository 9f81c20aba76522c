"""The random logs hold all kinds of events, in a possible order."""

import typing
from collections import Counter

import pytest
from metrics.random_log import random_log

from csim.records import Accepted, Asked, Event, Joined, Labelled, Rejected, Retrained, Revised

SEEDS = range(10)


def test_every_kind_of_event_is_drawn():
    drawn = Counter(type(event) for seed in SEEDS for event in random_log(seed)[0])
    assert set(drawn) == set(typing.get_args(Event))
    assert min(drawn.values()) >= 3


@pytest.mark.parametrize("seed", SEEDS)
def test_positions_never_fall_and_every_image_of_the_truth_arrives_once(seed):
    events, truth = random_log(seed)
    positions = [event.position for event in events]
    assert positions == sorted(positions)
    assert [event.item_id for event in events if isinstance(event, Accepted | Rejected)] == list(
        truth
    )


def test_some_images_are_told_and_others_inferred():
    labelled = [
        event for seed in SEEDS for event in random_log(seed)[0] if isinstance(event, Labelled)
    ]
    assert {event.is_told for event in labelled} == {True, False}


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_answered_or_revised_has_been_seen(seed):
    events, _ = random_log(seed)
    for index, event in enumerate(events):
        before = events[:index]
        if isinstance(event, Labelled):
            questions = [earlier.question for earlier in before if isinstance(earlier, Asked)]
            members = {
                item.id
                for question in questions
                for item in question.members
                if question.id == event.question_id
            }
            for earlier in before:
                if isinstance(earlier, Joined) and earlier.question_id == event.question_id:
                    members |= set(earlier.item_ids)
            assert event.item_id in members
        elif isinstance(event, Revised) and event.item_id != "warm-up 1":
            assert any(getattr(earlier, "item_id", None) == event.item_id for earlier in before)


def test_the_first_model_comes_before_the_stream():
    events, truth = random_log(3)
    first = next(event for event in events if isinstance(event, Retrained))
    assert (first.position, first.class_ids) == (0, (0, 1))
    assert len(set(truth.values())) == 6


def test_the_same_seed_draws_the_same_log():
    assert random_log(4)[1] == random_log(4)[1] != random_log(5)[1]
    assert [type(event) for event in random_log(4)[0]] == [
        type(event) for event in random_log(4)[0]
    ]
