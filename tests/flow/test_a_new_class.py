"""A story through the whole classifier: shapes it has never seen."""

import numpy as np

from csim.ask.labellers import CallbackLabeller
from csim.classifier import StreamClassifier
from csim.records import Accepted, Asked, ClassAdded, Labelled, Rejected, Retrained
from csim.settings import Settings

SIDE = 12


def shapes(kind: str, count: int, seed: int) -> np.ndarray:
    """Bright bars, boxes or crosses at random places on a noisy ground."""
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


def test_an_unknown_shape_is_asked_about_and_then_recognised():
    known = np.concatenate([shapes("bar", 80, 1), shapes("box", 80, 2)])
    settings = Settings(buffer_size=30, update_size=15, hidden_units=64, embedding_size=32)
    clf = StreamClassifier(settings).fit(known, ["bar"] * 80 + ["box"] * 80)
    assert clf.classes_.tolist() == ["bar", "box"]

    asked = []
    labeller = CallbackLabeller(lambda question: asked.append(question) or "cross")
    events = []
    for first in range(0, 200, 20):
        events += clf.observe(shapes("cross", 20, 10 + first))
        events += clf.answer_with(labeller)

    assert any(isinstance(event, Rejected) for event in events)
    assert ClassAdded in {type(event) for event in events}
    retrained = next(event for event in events if isinstance(event, Retrained))
    assert len(retrained.class_ids) == 3
    assert len(asked) < sum(len(question.members) for question in asked) * 2 / 3
    assert (clf.predict(shapes("cross", 100, 99)) == "cross").mean() > 0.5
    assert (clf.predict(shapes("cross", 100, 99)) == "bar").mean() < 0.1
    probabilities = clf.predict_proba(shapes("bar", 50, 98))
    assert (clf.classes_[probabilities.argmax(axis=1)] == "bar").mean() > 0.9


def test_a_slow_stream_need_not_wait_for_a_full_buffer():
    known = np.concatenate([shapes("bar", 80, 1), shapes("box", 80, 2)])
    settings = Settings(buffer_size=1000, patience=50, hidden_units=32, embedding_size=16)
    clf = StreamClassifier(settings).fit(known, ["bar"] * 80 + ["box"] * 80)
    events = clf.observe(shapes("cross", 120, 5))
    first_rejected = next(event.position for event in events if isinstance(event, Rejected))
    first_asked = next(event.position for event in events if isinstance(event, Asked))
    assert first_asked == first_rejected + 50


def test_what_waits_can_be_asked_about_on_request():
    known = np.concatenate([shapes("bar", 80, 1), shapes("box", 80, 2)])
    clf = StreamClassifier(Settings(hidden_units=32, embedding_size=16)).fit(known, ["bar"] * 80 + ["box"] * 80)
    rejected = [event.item_id for event in clf.observe(shapes("cross", 60, 5)) if isinstance(event, Rejected)]
    assert clf.questions() == []
    asked = [event.question for event in clf.ask_now() if isinstance(event, Asked)]
    assert sorted(item.id for question in asked for item in question.members) == sorted(rejected)
    assert clf.ask_now() == []
    events = clf.tell({question.id: "cross" for question in asked})
    assert sorted(event.item_id for event in events if isinstance(event, Labelled)) == sorted(rejected)
    assert not any(isinstance(event, Accepted) for event in events)
