"""All baselines over a small real stream: what holds for every one, and for each."""

import functools

import numpy as np
import pytest
from digit_stream import digit_stream, last_classes, of

from csim.bench.baselines.echo_d import EchoD, EchoSettings
from csim.bench.baselines.ecsminer import EcsMiner, EcsMinerSettings
from csim.bench.baselines.senc_mas import SencMas, SencSettings
from csim.bench.run import run
from csim.metrics.figures import summarise
from csim.records import Accepted, Asked, Labelled, Rejected, Retrained, Revised, Told

pytestmark = pytest.mark.slow

SMALL = {"label_delay": 100, "wait": 60, "evidence": 300, "enough": 15}
MADE = {
    "ecsminer": lambda on: EcsMiner(EcsMinerSettings(**SMALL, chunk=150), on),
    "ecsminer, impure, forgets": lambda on: EcsMiner(
        EcsMinerSettings(**SMALL, chunk=150, impurity=True, forgets=True, boundary="nearest"), on
    ),
    "echo-d": lambda on: EchoD(EchoSettings(**SMALL, window=300), on),
    "echo-d, released": lambda on: EchoD(
        EchoSettings(**SMALL, window=300, confidence="released", tau=0.9), on
    ),
    "senc-mas": lambda on: SencMas(SencSettings(buffer=40, extra=0.0, refresh=20), on),
    "senc-mas, inner": lambda on: SencMas(
        SencSettings(buffer=40, score="inner", extra=0.2, refresh=20, decay=0.99), on
    ),
    "ecsminer on vectors": lambda on: EcsMiner(
        EcsMinerSettings(**SMALL, chunk=150, features="network"), on
    ),
}


@functools.cache
def outcome(name):
    return run(digit_stream(), MADE[name])


every = pytest.mark.parametrize("name", MADE)
spheres = pytest.mark.parametrize("name", [name for name in MADE if not name.startswith("senc")])


@every
def test_every_image_is_decided_once_at_arrival_and_in_order(name):
    arrivals = of(Accepted | Rejected, outcome(name).events)
    assert [event.item_id for event in arrivals] == [
        str(position) for position in range(1, len(digit_stream().images) + 1)
    ]
    assert [event.position for event in arrivals] == [int(event.item_id) for event in arrivals]


@every
def test_an_answer_is_never_the_decision_of_the_baseline(name):
    events = outcome(name).events
    assert of(Labelled, events) == []
    told = {event.item_id for event in of(Told, events)}
    assert len(told) == len(of(Asked, events)) > 100
    for event in of(Revised, events):
        assert event.before is None  # a rejected image gets its vote; no answer is changed
    last_classes(events)


@every
def test_no_class_is_given_before_a_model_knows_it(name):
    known = set()
    for event in outcome(name).events:
        if isinstance(event, Retrained):
            known = set(event.class_ids)
        elif isinstance(event, Accepted):
            assert event.class_id in known


@every
def test_the_same_seed_gives_the_same_events(name):
    if "vectors" not in name:
        assert run(digit_stream(), MADE[name]).events == outcome(name).events


@every
def test_it_does_better_than_the_initial_classes_alone(name):
    figures = summarise(outcome(name).events, outcome(name).truth)
    assert figures.classes_learned >= 8
    assert figures.accuracy_declared > 50
    assert figures.accuracy_declared >= figures.accuracy
    assert figures.labels_percent <= 100


@spheres
def test_no_decision_comes_later_than_t_c(name):
    """At most T_c late, or at the next model change, plus one batch of the loop."""
    for event in of(Revised, outcome(name).events):
        assert event.position - int(event.item_id) <= SMALL["wait"] + 16


def test_ecsminer_is_told_every_label_after_the_delay():
    events = outcome("ecsminer").events
    late = [event.position - int(event.item_id) for event in of(Told, events)]
    assert min(late) >= SMALL["label_delay"]
    assert max(late) <= SMALL["label_delay"] + 16
    assert len(late) == len(digit_stream().images) - SMALL["label_delay"]


def test_ecsminer_learns_from_every_chunk():
    learned = [event.position for event in of(Retrained, outcome("ecsminer").events)][1:]
    assert len(learned) == (len(digit_stream().images) - SMALL["label_delay"]) // 150


def test_echo_asks_only_where_it_was_unsure_and_more_if_it_may():
    def told(share):
        done = run(
            digit_stream(), lambda on: EchoD(EchoSettings(**SMALL, window=300, share=share), on)
        )
        return summarise(done.events, done.truth).labels_percent

    few = told(0.1)
    half = told(0.5)
    most = told(1.0)
    assert few < half < most
    # Some images have a higher confidence than any of the warm-up, and the last labels are
    # due after the end of the stream.
    assert most > 85


def test_senc_asks_about_full_buffers():
    asked = [event.position for event in of(Asked, outcome("senc-mas").events)]
    assert len(asked) % 40 == 0
    assert len(set(asked)) <= len(asked) // 40


def test_senc_never_revises_a_decision():
    assert of(Revised, outcome("senc-mas").events) == []


@every
def test_only_images_reach_it_and_never_a_label(name):
    """Under other class names, every decision is the same but for the name."""
    if "vectors" in name:
        return
    stream = digit_stream()
    other = type(stream)(
        **vars(stream)
        | {
            "names": [f"a{name}" for name in stream.names],
            "warm_up_names": [f"a{name}" for name in stream.warm_up_names],
            "held_out_names": [f"a{name}" for name in stream.held_out_names],
        }
    )
    renamed = run(other, MADE[name])
    scores = [event.score for event in of(Accepted | Rejected, outcome(name).events)]
    assert [event.score for event in of(Accepted | Rejected, renamed.events)] == scores


@every
def test_scores_have_a_column_for_each_class(name):
    made = []
    done = run(digit_stream(), lambda on: made.append(MADE[name](on)) or made[0])
    scores = made[0].predict_proba(digit_stream().images[:5])
    assert scores.shape == (5, len(made[0].classes_))
    assert np.isfinite(scores).all()
    assert done.forward_per_second > 0
