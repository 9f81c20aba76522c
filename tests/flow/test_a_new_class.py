"""A story through the whole classifier: shapes it has never seen."""

import numpy as np
import pytest
from digit_stream import digit_stream, of

from csim.ask.labellers import CallbackLabeller
from csim.classifier import StreamClassifier
from csim.discover.novelty import novelty
from csim.discover.projection import Projection
from csim.discover.scene import Scene
from csim.records import Asked, ClassAdded, Labelled, Rejected, Retrained, Revised
from csim.settings import Settings

SIDE = 12


def shapes(kind: str, count: int, seed: int) -> np.ndarray:
    """Return bright bars, boxes or crosses anywhere on a noisy background."""
    rng = np.random.default_rng(seed)
    images = rng.integers(0, 60, (count, SIDE, SIDE)).astype(np.uint8)
    for image in images:
        row, column = rng.integers(3, SIDE - 3, 2)
        if kind in ("bar", "cross"):
            image[row, :] = 230
        if kind == "cross":
            image[:, column] = 230
        if kind == "box":
            image[row - 2 : row + 3, column - 2 : column + 3] = 230
    return images


SETTINGS = Settings(
    recent=200,
    ask_every=40,
    epochs=8,
    update_steps=40,
    channels=8,
    hidden_units=64,
    embedding_size=32,
)


def knows_bars_and_boxes(settings=SETTINGS) -> StreamClassifier:
    known = np.concatenate([shapes("bar", 80, 1), shapes("box", 80, 2)])
    return StreamClassifier(settings).fit(known, ["bar"] * 80 + ["box"] * 80)


def test_an_unknown_shape_is_asked_about_and_then_recognised():
    clf = knows_bars_and_boxes()
    assert clf.classes_.tolist() == ["bar", "box"]

    asked = []
    labeller = CallbackLabeller(lambda question: asked.append(question) or "cross")
    events = []
    for first in range(0, 200, 20):
        events += clf.observe(shapes("cross", 20, 10 + first))
        events += clf.answer_with(labeller)

    assert ClassAdded in {type(event) for event in events}
    retrained = next(event for event in events if isinstance(event, Retrained))
    assert len(retrained.class_ids) == 3
    assert len(asked) == 10  # a twentieth of all
    assert (clf.predict(shapes("cross", 100, 99)) == "cross").mean() > 0.5
    assert (clf.predict(shapes("cross", 100, 99)) == "bar").mean() < 0.1
    probabilities = clf.predict_proba(shapes("bar", 50, 98))
    assert (clf.classes_[probabilities.argmax(axis=1)] == "bar").mean() > 0.9


def test_a_new_class_is_asked_about_at_the_next_look():
    events = knows_bars_and_boxes().observe(shapes("cross", 120, 5))
    assert of(Asked, events)[0].position == 40
    assert {event.position for event in of(Asked, events)} <= {40, 80, 120}


def test_one_answer_is_enough_for_a_class_to_be_given():
    clf = knows_bars_and_boxes()
    clf.observe(shapes("cross", 40, 5))
    question = clf.questions()[0]
    events = clf.tell(question.id, "cross")
    assert [type(event) for event in events if isinstance(event, ClassAdded | Retrained)] == [
        ClassAdded,
        Retrained,
    ]
    cross = of(ClassAdded, events)[0].class_id
    assert clf.classes_.tolist() == ["bar", "box", "cross"]
    assert cross in of(Retrained, events)[0].class_ids
    recalled = {event.item_id for event in of(Revised, events) if event.after == cross}
    assert len(recalled) > 10
    assert recalled.isdisjoint(item.id for item in question.members)  # those were labelled
    fresh = clf.classes_[clf.predict_proba(shapes("cross", 100, 99)).argmax(axis=1)]
    assert (fresh == "cross").mean() > 0.5


def test_what_waits_can_be_asked_about_on_request():
    clf = knows_bars_and_boxes()
    rejected = [
        event.item_id
        for event in clf.observe(shapes("cross", 39, 5))
        if isinstance(event, Rejected)
    ]
    assert clf.questions() == []
    events = clf.ask_now()
    (asked,) = [event.question for event in of(Asked, events)]  # 0.05 · 39
    settled = {event.item_id for event in of(Revised, events)}
    assert settled == set(rejected) - {asked.representative.id}
    assert of(Asked, clf.ask_now()) == []
    (asked,) = clf.questions()  # others may have joined
    told = of(Labelled, clf.tell(asked.id, "cross"))
    assert [event.item_id for event in told] == [item.id for item in asked.members]
    assert [event.item_id for event in told if event.is_told] == [asked.representative.id]


def mixed_digits(**counts) -> tuple[np.ndarray, list[str]]:
    """Return so many arrivals of each digit, shuffled."""
    names = np.array(digit_stream().names)
    chosen = np.concatenate(
        [np.flatnonzero(names == digit[1:])[:count] for digit, count in counts.items()]
    )
    chosen = np.random.default_rng(0).permutation(chosen)
    return digit_stream().images[chosen], names[chosen].tolist()


def knows_three_digits(**changes) -> StreamClassifier:
    settings = Settings(recent=400, ask_every=400, hidden_units=64, embedding_size=64, **changes)
    return StreamClassifier(settings).fit(digit_stream().warm_up, digit_stream().warm_up_names)


@pytest.mark.parametrize("zeros", [40, 80])
def test_few_questions_go_to_the_new_class_however_often_a_known_one_comes(zeros):
    images, names = mixed_digits(_0=zeros, _7=40, _8=40, _6=30)
    clf = knows_three_digits(budget=0.02)
    clf.observe(images)
    asked = [names[int(event.question.representative.id) - 1] for event in of(Asked, clf.ask_now())]
    assert len(asked) == int(0.02 * len(images))
    # A group has 20 of the 30: a third question may be about the others.
    assert asked[:2] == ["6", "6"]
    assert "0" not in asked


@pytest.mark.parametrize("zeros", [40, 80])
def test_a_known_class_that_comes_twice_as_often_is_not_taken_for_new(zeros):
    images, _ = mixed_digits(_0=zeros, _7=40, _8=40)
    clf = knows_three_digits()
    clf.observe(images)
    engine = clf._engine
    scene = Scene(engine.discovery.pool.items(), engine.gallery, engine.head, engine.store)
    labelled, columns = scene.reference
    recent, known = Projection(turns=1).place(scene.items, labelled, scene.features, scene.version)
    new = novelty(recent, np.arange(len(recent)), known, scene.guesses, columns)
    # None is 1.5 times as far from the labelled images as from the recent ones.
    assert np.maximum(scene.doubt, new).max() < 0.5


def test_without_a_limit_a_known_class_that_comes_twice_as_often_is_not_asked_about_more():
    shares = []
    for zeros in (40, 80):
        images, _ = mixed_digits(_0=zeros, _7=40, _8=40)
        clf = knows_three_digits(budget=1)
        clf.observe(images)
        shares.append(len(of(Asked, clf.ask_now())) / len(images))
    assert shares[1] < shares[0] + 0.05
    assert max(shares) < 0.6
