"""Questions about single images: every image gets a class at arrival, and no groups form."""

import functools

import pytest
from digit_stream import SMALL, digit_stream, fitted, last_classes, of, truth_of

from csim.ask.labellers import TruthLabeller
from csim.errors import InputError
from csim.records import Accepted, Asked, Labelled, Rejected, Retrained, Revised
from csim.settings import Settings

LOOK = 60
SHARE = 0.05

either_way = pytest.mark.parametrize("questions", ["least-sure", "random"])


def settings(questions, **changes):
    return Settings(
        **SMALL
        | {
            "questions": questions,
            "recent": LOOK,
            "ask_every": LOOK,
            "budget": SHARE,
            "update_labels": 10,
        }
        | changes
    )


@functools.cache
def run(questions):
    clf = fitted(settings(questions))
    labeller = TruthLabeller(truth_of(digit_stream()))
    events = []
    for first in range(0, 1200, 16):
        events += clf.observe(digit_stream().images[first : first + 16])
        events += clf.answer_with(labeller)
    return clf, events


@pytest.mark.slow
@either_way
def test_every_image_is_given_a_class_at_arrival(questions):
    _, events = run(questions)
    assert [event.item_id for event in of(Accepted, events)] == [
        str(position) for position in range(1, 1201)
    ]
    assert of(Rejected, events) == []
    assert None not in last_classes(events).values()


@pytest.mark.slow
@either_way
def test_only_single_recent_images_are_asked_about_at_every_look(questions):
    _, events = run(questions)
    asked = of(Asked, events)
    assert [event.position for event in asked] == [
        at for at in range(60, 1201, 60) for _ in range(3)
    ]
    for event in asked:
        assert event.question.members == (event.question.representative,)
        assert event.position - 2 * LOOK < event.question.representative.position <= event.position
    assert len({event.question.representative.id for event in asked}) == len(asked)


def least_sure(clf, images, most):
    """Return the ids of the images whose best class has the smallest share of the odds."""
    shares = []
    for position, row in enumerate(clf.predict_proba(images).astype(float), start=1):
        odds = [p / (1 - p) for p in row]
        shares.append((max(odds) / sum(odds), str(position)))
    return [item_id for _, item_id in sorted(shares)[:most]]


def test_the_least_sure_images_are_asked_about():
    clf = fitted(settings("least-sure"))
    images = digit_stream().images[:LOOK]
    asked = of(Asked, clf.observe(images))
    assert [event.question.representative.id for event in asked] == least_sure(clf, images, 3)


def test_a_random_choice_does_not_look_at_scores():
    clf = fitted(settings("random", budget=0.5, recent=600, ask_every=600))
    images = digit_stream().images[:600]
    chosen = [event.question.representative.id for event in of(Asked, clf.observe(images))]
    assert len(set(chosen)) == 300
    assert 120 < len(set(chosen) & set(least_sure(clf, images, 300))) < 180  # 150 expected
    assert 270 < sum(int(item_id) for item_id in chosen) / 300 < 330


@pytest.mark.slow
@either_way
def test_what_is_told_is_learned_and_new_classes_with_it(questions):
    clf, events = run(questions)
    assert len(of(Retrained, events)) >= 4
    first = of(Retrained, events)[0]
    last = of(Retrained, events)[-1]
    assert len(last.class_ids) > len(first.class_ids)
    names = {summary.name for summary in clf.classes}
    truth = truth_of(digit_stream())
    for event in of(Labelled, events):
        assert clf.classes.name(event.class_id) == truth[event.item_id]
        assert event.is_told
    assert names >= {truth[event.item_id] for event in of(Labelled, events)}


@either_way
def test_an_answer_replaces_the_class_given_at_arrival(questions):
    clf = fitted(
        settings(questions, store_score=0.0)
    )  # every image is stored at once under its predicted class
    events = clf.observe(digit_stream().images[:LOOK])
    given = {event.item_id: event.class_id for event in of(Accepted, events)}
    question = clf.questions()[0]
    item_id = question.representative.id
    before = given[question.representative.id]
    store = clf._engine.store
    assert item_id in [item.id for item in store.items(before)]
    events = clf.tell(question.id, "something else")
    (told,) = of(Labelled, events)
    assert item_id not in [
        event.item_id for event in of(Revised, events)
    ]  # a person's answer counts
    assert (told.item_id, told.question_id, told.is_told) == (item_id, question.id, True)
    assert told.class_id != before
    assert [item.id for item in store.items(told.class_id)] == [item_id]
    assert item_id not in [item.id for item in store.items(before)]


@either_way
def test_an_answer_that_agrees_leaves_the_image_where_it_is_but_told(questions):
    clf = fitted(settings(questions, store_score=0.0))
    given = {
        event.item_id: event.class_id
        for event in of(Accepted, clf.observe(digit_stream().images[:LOOK]))
    }
    question = clf.questions()[0]
    before = given[question.representative.id]
    clf.tell(question.id, clf.classes.name(before))
    state = clf._engine.store.state()
    index = state["items"]["ids"].index(question.representative.id)
    assert (state["class_ids"][index], state["told"][index]) == (before, True)


@either_way
def test_an_id_is_known_while_its_image_may_still_be_asked_about(questions):
    clf = fitted(settings(questions, store_score=1.0))
    images = digit_stream().images
    clf.observe(images[:1], ids=["heron 7"])
    with pytest.raises(InputError, match="'heron 7' belongs to an earlier image"):
        clf.observe(images[1:2], ids=["heron 7"])
    clf.observe(images[1 : LOOK + 5])
    with pytest.raises(InputError, match="belongs to an earlier image"):
        clf.observe(images[:1], ids=[clf.questions()[0].representative.id])


@either_way
def test_recent_images_can_be_asked_about_on_request(questions):
    clf = fitted(settings(questions))
    assert clf.observe(digit_stream().images[:45])[-1].position == 45
    assert clf.questions() == []
    asked = of(Asked, clf.ask_now())
    assert len(asked) == 2  # 0.05 · 45
    assert clf.ask_now() == []


@either_way
def test_a_budget_of_nothing_asks_about_nobody(questions):
    clf = fitted(settings(questions, budget=0))
    events = clf.observe(digit_stream().images[:200]) + clf.ask_now()
    assert {type(event) for event in events} == {Accepted}


@either_way
def test_no_limit_asks_about_everybody(questions):
    clf = fitted(settings(questions, budget=1))
    events = clf.observe(digit_stream().images[: 2 * LOOK])
    assert sorted(int(event.question.representative.id) for event in of(Asked, events)) == list(
        range(1, 121)
    )


@either_way
def test_a_prediction_is_never_unknown(questions):
    clf = fitted(settings(questions))
    assert None not in clf.predict(digit_stream().images[:300])
