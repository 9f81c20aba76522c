"""The same seed gives the same events, whatever the batches, and after save and load."""

import dataclasses

import pytest
from digit_stream import SMALL, SMALL_PAPER, digit_stream, fitted, truth_of
from safetensors import safe_open

from csim.ask.labellers import TruthLabeller
from csim.classifier import StreamClassifier
from csim.records import Accepted, Asked, Rejected, Retrained
from csim.settings import Settings

PRESETS = {
    "default": Settings(**SMALL),
    "paper": Settings.paper(**SMALL_PAPER),
    "rejected": Settings(
        **SMALL,
        questions="rejected",
        threshold="mean-bound",
        buffer_size=20,
        budget=0.1,
        update_rate=1e-3,
    ),
    "random members": Settings(**SMALL, representative="random", budget=0.03, update_labels=8),
    "least sure": Settings(**SMALL, questions="least-sure"),
    "random": Settings(**SMALL, questions="random"),
    "sampled": Settings(**SMALL | {"recent": 40, "ask_every": 100}),
    "onnx": Settings(**SMALL, device="onnx"),
}


def drive(clf, images, *, batch=16, answered=True):
    labeller = TruthLabeller(truth_of(digit_stream()))
    events = []
    for first in range(0, len(images), batch):
        events += clf.observe(images[first : first + batch])
        if answered:
            events += clf.answer_with(labeller)
    return events


def without_scores(events):
    return [
        dataclasses.replace(e, score=0.0) if isinstance(e, Accepted | Rejected) else e
        for e in events
    ]


def scores(events):
    return [event.score for event in events if isinstance(event, Accepted | Rejected)]


@pytest.mark.slow
@pytest.mark.parametrize("preset", PRESETS)
def test_the_same_seed_gives_the_same_events(preset):
    runs = [drive(fitted(PRESETS[preset]), digit_stream().images[:600]) for _ in range(2)]
    assert runs[0] == runs[1]
    assert any(isinstance(event, Retrained) for event in runs[0])


def test_another_seed_gives_other_events():
    one, two = (
        drive(fitted(Settings(**SMALL, seed=seed)), digit_stream().images[:100]) for seed in (0, 1)
    )
    assert one != two


@pytest.mark.slow
@pytest.mark.parametrize("preset", PRESETS)
def test_the_size_of_batches_changes_nothing(preset):
    images = digit_stream().images[:1000]
    whole = drive(fitted(PRESETS[preset]), images, batch=1000, answered=False)
    assert sum(isinstance(event, Asked) for event in whole) > 0
    for batch in (1, 7):
        parts = drive(fitted(PRESETS[preset]), images, batch=batch, answered=False)
        assert without_scores(parts) == without_scores(whole)
        assert scores(parts) == pytest.approx(scores(whole), abs=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("preset", PRESETS)
def test_saving_and_loading_in_the_middle_changes_nothing_that_follows(preset, tmp_path):
    images = digit_stream().images
    straight = fitted(PRESETS[preset])
    drive(straight, images[:400])
    straight.observe(images[400:500])
    assert straight.questions()  # what waits is saved, too
    assert len(straight._engine.discovery.pool) > 0
    straight.save(tmp_path / "stream.csim")
    resumed = StreamClassifier.load(tmp_path / "stream.csim")
    ends = []
    for clf in (straight, resumed):
        events = clf.answer_with(TruthLabeller(truth_of(digit_stream()))) + drive(
            clf, images[500:900]
        )
        answered = clf.questions("answered")[3].id
        events += clf.undo(answered) + clf.tell(answered, "something else") + clf.ask_now()
        clf.save(tmp_path / "end.csim")
        with safe_open(tmp_path / "end.csim", framework="numpy") as file:
            ends.append(
                (events, file.metadata()["sha256"])
            )  # of every weight, image, question and threshold
    assert ends[0] == ends[1]


def test_a_look_in_between_changes_nothing():
    images = digit_stream().images[:300]
    quiet = fitted()
    looked_at = fitted()
    events = []
    for first in range(0, 300, 16):
        looked_at.predict(images[:20])
        looked_at.predict_proba(images[:20])
        looked_at.transform(images[:20])
        looked_at.questions()
        list(looked_at.classes)
        events += looked_at.observe(images[first : first + 16])
    assert events == drive(quiet, images, answered=False)
