"""A story through the whole classifier: answers come late."""

import numpy as np
import pytest
from digit_stream import SMALL, digit_stream, fitted, last_classes, of, truth_of

from csim.ask.labellers import TruthLabeller
from csim.classifier import StreamClassifier
from csim.records import Asked, Joined, Labelled, Retrained, Revised
from csim.settings import Settings


def blots(corner: int, count: int, seed: int) -> np.ndarray:
    """Return noise with a bright blot in one of four corners."""
    rng = np.random.default_rng(seed)
    images = rng.integers(0, 40, (count, 12, 12)).astype(np.uint8)
    row = 7 * (corner // 2)
    column = 7 * (corner % 2)
    images[:, row : row + 5, column : column + 5] += 200
    return images


def watching(**changes) -> StreamClassifier:
    """Return a classifier that knows blots in two corners and asks about a third."""
    settings = {
        "recent": 200,
        "ask_every": 20,
        "epochs": 8,
        "update_steps": 30,
        "channels": 4,
        "hidden_units": 32,
    }
    clf = StreamClassifier(Settings(**settings | changes, embedding_size=16))
    clf.fit(np.concatenate([blots(0, 40, 1), blots(1, 40, 2)]), ["first"] * 40 + ["second"] * 40)
    clf.observe(blots(3, 20, 3))
    return clf


def test_images_of_an_open_question_join_it_instead_of_raising_another():
    clf = watching()
    (question,) = clf.questions()  # 0.05 · 20
    events = [event for batch in range(4) for event in clf.observe(blots(3, 20, 10 + batch))]
    joined = of(Joined, events)
    assert of(Asked, events) == []
    assert {event.question_id for event in joined} == {question.id}
    ids = [item_id for event in joined for item_id in event.item_ids]
    assert len(ids) == len(set(ids)) > 60
    assert [item.id for item in clf.questions()[0].members] == [
        item.id for item in question.members
    ] + ids


def test_one_late_answer_is_for_all_that_joined():
    clf = watching()
    for batch in range(4):
        clf.observe(blots(3, 20, 10 + batch))
    (question,) = clf.questions()
    events = clf.tell(question.id, "third")
    labelled = of(Labelled, events)
    assert [event.item_id for event in labelled] == [item.id for item in question.members]
    assert [event.item_id for event in labelled if event.is_told] == [question.representative.id]
    assert (clf.predict(blots(3, 50, 99)) == "third").mean() > 0.8


def test_images_of_a_known_kind_do_not_join():
    events = watching().observe(np.concatenate([blots(0, 20, 5), blots(1, 20, 6), blots(3, 20, 7)]))
    joined = {int(item_id) for event in of(Joined, events) for item_id in event.item_ids}
    assert {position for position in joined if position > 20} == set(range(61, 81))


def test_images_join_even_if_no_further_question_can_be_afforded():
    clf = watching(budget=0.06)  # one question for the first 33 images
    (question,) = clf.questions()
    events = clf.observe(blots(3, 10, 5)) + clf.ask_now()
    assert of(Asked, events) == []
    assert {event.question_id for event in of(Joined, events)} == {question.id}


def test_a_question_that_was_put_aside_is_joined_no_more():
    clf = watching()
    (question,) = clf.questions()
    clf.skip(question.id)
    events = clf.observe(blots(3, 40, 5))
    assert question.id not in {event.question_id for event in of(Joined, events)}
    assert clf.questions("skipped") == [question]
    assert of(Asked, events)


@pytest.mark.parametrize("wait", [1, 3, 10])
def test_answers_that_come_later_are_learned_all_the_same(wait):
    clf = fitted(Settings(**SMALL))
    labeller = TruthLabeller(truth_of(digit_stream()))
    events = []
    for batch in range(30):
        events += clf.observe(digit_stream().images[batch * 20 : batch * 20 + 20])
        if batch % wait == wait - 1:
            events += clf.answer_with(labeller)
    assert {event.question_id for event in of(Labelled, events)} == {
        e.question.id for e in of(Asked, events)
    }
    assert len(of(Retrained, events)[-1].class_ids) > 5
    told = [event for event in of(Labelled, events) if event.is_told]
    assert all(
        clf.classes.name(event.class_id) == truth_of(digit_stream())[event.item_id]
        for event in told
    )
    assert None not in {last_classes(events)[event.item_id] for event in told}


def search_positions(events):
    return sorted({event.question.position for event in of(Asked, events)})


def test_searches_are_rarer_while_nobody_answers_and_as_often_as_before_afterwards():
    clf = watching(budget=0.5)
    events = [event for seed in range(20) for event in clf.observe(blots(seed % 4, 20, seed))]
    assert len(clf.questions()) > 50
    early, late = np.split(np.diff(search_positions(events)), [1])
    assert set(early) == {20}
    assert max(late) > 20
    assert max(late) <= 100  # half the recent window
    clf.tell({question.id: "third" for question in clf.questions()})
    assert clf.until_search <= 20


def test_batches_of_any_size_give_the_same_events_while_nobody_answers():
    images = np.concatenate([blots(seed % 4, 20, seed) for seed in range(25)])
    together, one_by_one = watching(budget=0.5), watching(budget=0.5)
    events = together.observe(images)
    assert len(together.questions()) > 50
    assert events == [event for image in images for event in one_by_one.observe(image[None])]


def test_an_answer_may_come_when_its_images_are_recent_no_more():
    clf = watching(budget=0.002, recent=40)
    (question, *_) = [event.question for event in of(Asked, clf.observe(blots(3, 480, 4)))]
    clf.observe(blots(0, 100, 5))
    assert all(item.id not in clf._engine.discovery.pool.ids for item in question.members)
    joined = {item.id for item in clf.questions()[0].members}
    events = clf.tell(question.id, "third")
    members = {item.id for item in question.members}
    assert members <= {event.item_id for event in of(Labelled, events)} == joined
    assert members.isdisjoint(event.item_id for event in of(Revised, events))
    assert "third" in clf.classes_
