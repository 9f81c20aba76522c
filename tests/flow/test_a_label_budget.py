"""A story through the whole classifier: labels are dear, and only so many may be asked for."""

import functools

import pytest
from digit_stream import SMALL, digit_stream, fitted, last_classes, of, truth_of

from csim.ask.labellers import TruthLabeller
from csim.records import Asked, Labelled, Rejected, Retrained, Revised
from csim.settings import Settings

SHARES = [0, 0.01, 0.02, 0.1]


@functools.cache
def run(share):
    """Return all events of the digits under a budget, and each image's last class by name."""
    clf = fitted(Settings(**SMALL, budget=share))
    labeller = TruthLabeller(truth_of(digit_stream()))
    events = []
    images = digit_stream().images
    for first in range(0, len(images), 16):
        events += clf.observe(images[first : first + 16])
        events += clf.ask_now() if first + 16 >= len(images) else []
        events += clf.answer_with(labeller)
    labels = {
        item_id: None if class_id is None else clf.classes.name(class_id)
        for item_id, class_id in last_classes(events).items()
    }
    return events, labels


def asked(share):
    return len(of(Asked, run(share)[0]))


def accuracy(share):
    truth = truth_of(digit_stream())
    labels = run(share)[1]
    return sum(labels[item_id] == name for item_id, name in truth.items()) / len(truth)


@pytest.mark.slow
@pytest.mark.parametrize("share", SHARES)
def test_the_budget_holds_at_every_moment_of_the_stream(share):
    position = questions = 0
    for event in run(share)[0]:
        assert event.position >= position
        position = event.position
        questions += isinstance(event, Asked)
        assert questions <= share * position


@pytest.mark.slow
@pytest.mark.parametrize("share", SHARES)
def test_nearly_all_of_a_small_budget_is_spent(share):
    assert asked(share) >= 0.8 * share * len(digit_stream().images) - 1


@pytest.mark.slow
@pytest.mark.parametrize("share", SHARES)
def test_every_image_ends_with_a_class_whether_or_not_it_could_be_asked_about(share):
    events, labels = run(share)
    assert len(labels) == len(digit_stream().images)
    assert None not in labels.values()
    rejected = {event.item_id for event in of(Rejected, events)}
    assert len(rejected) > 20
    assert rejected <= {event.item_id for event in of(Labelled | Revised, events)}


@pytest.mark.slow
def test_without_labels_nothing_is_learned():
    events, labels = run(0)
    assert asked(0) == 0
    assert not any(isinstance(event, Retrained) for event in events)
    assert set(labels.values()) == set(digit_stream().warm_up_names)


@pytest.mark.slow
def test_few_labels_are_enough_to_learn_most_classes_and_more_do_better():
    assert accuracy(0) < 0.5
    assert accuracy(0.02) > accuracy(0) + 0.2
    assert accuracy(0.1) > accuracy(0.02)
    classes = [event.class_ids for event in run(0.02)[0] if isinstance(event, Retrained)]
    assert len(classes[-1]) >= 8


def test_a_question_is_paid_for_even_if_it_is_skipped():
    clf = fitted(Settings(**SMALL, budget=0.02))
    skipped = 0
    for first in range(0, 600, 20):
        clf.observe(digit_stream().images[first : first + 20])
        for question in clf.questions():
            clf.skip(question.id)
            skipped += 1
        assert skipped <= 0.02 * (first + 20)
    assert skipped > 5
