"""A story through the engine: the audit says how many labels are right, and nobody tells it."""

import numpy as np
import pytest

from csim.build import build
from csim.embed.encoder import CheckedEncoder
from csim.items import make_items
from csim.messages import Named
from csim.metrics.accuracy import accuracy
from csim.metrics.audit import audit
from csim.metrics.budget import most_over_budget
from csim.metrics.labels import at_arrival, class_names, final, named
from csim.records import (
    Asked,
    Audited,
    Model,
    TrainingDue,
)
from csim.settings import Settings

IMAGES = 1500
DELAY = 90  # images between a question and its answer
SETTINGS = {"recent": 300, "ask_every": 50, "budget": 0.1, "audit": 0.4, "update_labels": 10}


class Pixels:
    """A foreign encoder: an image's vector is its pixels."""

    def embed(self, images):
        return images.reshape(len(images), -1).astype(np.float32)


def make_stream(seed):
    """Return images of six overlapping classes, of which three come later, and their names."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(128, 40, (6, 2, 4))
    latest = np.minimum(6, 3 + np.arange(IMAGES) // 300)
    classes = (rng.random(IMAGES) * latest).astype(int)
    first = np.arange(60) % 3
    drawn = rng.normal(centres[np.concatenate([first, classes])], rng.uniform(25, 70))
    images = drawn.clip(0, 255).astype(np.uint8)
    return images[:60], [f"c{c}" for c in first], images[60:], [f"c{c}" for c in classes]


def nearest_mean(job):
    """Return a model that gives each image the class of the nearest mean: no network is trained."""
    vectors = job.images.astype(np.float32)  # frozen
    class_ids = np.unique(job.labels)
    mean = vectors.mean(axis=0)
    means = np.array([vectors[job.labels == c].mean(axis=0) - mean for c in class_ids])
    weights = 10 * means / np.linalg.norm(means, axis=1, keepdims=True)
    vectors -= mean
    held_out = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True))[::5]
    ids = tuple(class_ids.tolist())
    bias = np.full(len(ids), -5.0)
    return Model(
        job.version, ids, job.images.shape[1:], {"body.mean": mean}, weights, bias, held_out
    )


def run(seed, *, batch=25, answers=None, **changes):
    """Return the events of a stream and the truth; questions are answered late, and all of them."""
    encoder = CheckedEncoder(Pixels())
    engine = build(Settings(**SETTINGS | changes, seed=seed), encoder).engine
    first, first_names, images, names = make_stream(seed)
    truth = {str(position): name for position, name in enumerate(names, start=1)}
    warm_up = make_items([f"warm-up {index}" for index in range(60)], [0] * 60, first, encoder)
    log = train(engine, engine.warm_up(warm_up, first_names))
    for begin in range(0, IMAGES, batch):
        positions = range(begin + 1, begin + batch + 1)
        chunk = images[begin : begin + batch]
        log += engine.observe(make_items([*map(str, positions)], positions, chunk, encoder))
        if engine.position == IMAGES:
            log += engine.ask_now()
        if engine.position % 50 == 0:
            due = [
                Named(question.id, truth[question.representative.id])
                for question in engine.dialogue.ledger.questions()
                if question.position <= engine.position - DELAY or engine.position == IMAGES
            ]
            log += train(engine, engine.tell(due))
    return log, truth


def train(engine, events):
    while events and isinstance(due := events[-1], TrainingDue):
        events = events[:-1] + engine.install(nearest_mean(due.job))
    return events


def of(kind, events):
    return [event for event in events if isinstance(event, kind)]


def true_accuracy(log, truth):
    names = class_names(log)
    return accuracy(named(at_arrival(log), names), truth), accuracy(
        named(final(log, within=None), names), truth
    )


@pytest.mark.slow
def test_the_interval_holds_the_true_accuracy_in_nearly_all_of_200_streams():
    held = []
    errors = []
    for seed in range(200):
        questions = ("new-or-doubtful", "least-sure")[seed % 2]
        log, truth = run(seed, questions=questions)
        found = audit(log)
        pairs = list(zip((found.at_arrival, found.today), true_accuracy(log, truth), strict=True))
        held.append([estimate.low <= true <= estimate.high for estimate, true in pairs])
        errors.append([estimate.share - true for estimate, true in pairs])
    assert (np.mean(held, axis=0) >= 0.92).all()
    # Unbiased: the mean error of 200 estimates, each from 60 answers, is near 0. What the audit is
    # told becomes right in the stream and not in the estimate: at most 0.04 times the errors.
    assert (abs(np.mean(errors, axis=0)) < 1.5).all()


def test_each_image_is_as_likely_to_be_drawn_whatever_the_model_says():
    drawn = [int(event.item_id) for seed in range(8) for event in of(Audited, run(seed)[0])]
    assert len(drawn) == 8 * IMAGES * 0.04
    blocks = np.bincount((np.array(drawn) - 1) // 25, minlength=60)
    assert (blocks == 8).all()  # one of every 25 images, in each stream
    assert len(set(drawn)) > 300


def test_an_ordinary_question_about_a_drawn_image_counts_and_is_not_asked_again():
    log, _ = run(0, audit=0.2, budget=0.4, questions="least-sure")
    own = {event.question.id for event in of(Asked, log) if event.question.is_audit}
    shared = [event for event in of(Audited, log) if event.question_id not in own]
    assert shared
    assert all(event.today == event.answer for event in shared)
    shown = [event.question.representative.id for event in of(Asked, log)]
    assert len(set(shown)) == len(shown)


def test_the_audit_asks_once_an_image_cannot_be_revised_any_more():
    log, _ = run(0)
    own = [event for event in of(Asked, log) if event.question.is_audit]
    ages = [
        event.position - event.question.representative.position
        for event in own
        if event.position < IMAGES
    ]
    assert ages
    assert min(ages) >= 300
    assert any(event.position == IMAGES for event in own)  # the rest when the stream ends


def test_the_audit_keeps_to_the_budget_and_its_share_of_it():
    log, _ = run(0)
    assert most_over_budget(log, 0.1) == 0
    asked = of(Asked, log)
    assert len(asked) == 150
    assert 0.3 * 150 < sum(event.question.is_audit for event in asked) <= 0.4 * 150


def test_batches_of_any_size_give_the_same_audit():
    logs = [run(3, batch=batch)[0] for batch in (1, 50)]
    assert of(Audited, logs[0]) == of(Audited, logs[1])
    assert of(Audited, logs[0])


def test_without_an_audit_nothing_is_drawn():
    log, _ = run(0, audit=0.0)
    assert not of(Audited, log)
    assert not any(event.question.is_audit for event in of(Asked, log))
    assert audit(log) is None
