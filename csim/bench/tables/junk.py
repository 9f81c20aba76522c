"""Junk: how often csim asks about images of no interest, if a person skips them or says junk.

    csim bench junk                  # a minute on two cores, seeds 0-2

One of the new digits is of no interest. The person names all others. Asked about that digit, the
person either skips the question, or answers that it is junk.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial

from csim.ask.labellers import TruthLabeller
from csim.bench.datasets import DataSet
from csim.bench.layout.rows import Done, measure_all
from csim.bench.layout.table import Row, Table
from csim.bench.scenario import paper_stream
from csim.classifier import StreamClassifier
from csim.metrics.labels import JUNK_NAME, class_names, final, named
from csim.records import Asked, Event
from csim.settings import Settings

# Of `csim demo`: the stream is short, so csim searches more often and trains after fewer answers.
SETTINGS = Settings(ask_every=25, update_labels=5, update_steps=60)
PERSONS = ("skips", "says junk")
_BATCH = 16  # images between two rounds of answers

Case = tuple[str, int]  # what the person does, seed


def make(
    data: DataSet,
    *,
    seeds: Sequence[int],
    settings: Settings = SETTINGS,
    jobs: int = 1,
    on_done: Done | None = None,
) -> Table:
    """Return the table; higher `jobs` is faster, up to the number of cores."""
    cases = [(person, seed) for person in PERSONS for seed in seeds]
    return Table(
        name="junk",
        title="Junk: questions about images of no interest",
        notes=[
            f"{data.name}, the paper's stream, 30 % of the classes known; the first new class is "
            "of no interest",
            "questions: about that class, of all questions asked; skipped ones count",
            "with a class: images of no interest that have a class at the end",
            "others right: images of all other classes that have their class at the end",
        ],
        settings=settings,
        keys=["the person"],
        rows=measure_all(
            partial(_measure, data=data, settings=settings), cases, jobs=jobs, on_done=on_done
        ),
    )


def _measure(case: Case, *, data: DataSet, settings: Settings) -> Row:
    person, seed = case
    stream = paper_stream(data, known_share=0.3, seed=seed)
    truth = {str(number): name for number, name in enumerate(stream.names, start=1)}
    known = set(stream.warm_up_names)
    junk = next(name for name in stream.names if name not in known)
    events: list[Event] = []
    clf = StreamClassifier(replace(settings, seed=seed), on_event=events.append)
    clf.fit(stream.warm_up, stream.warm_up_names)
    labeller = (
        TruthLabeller(truth, junk={junk})
        if person == "says junk"
        else TruthLabeller({item_id: name for item_id, name in truth.items() if name != junk})
    )
    for start in range(0, len(stream.images), _BATCH):
        clf.observe(stream.images[start : start + _BATCH])
        clf.answer_with(labeller)
    asked = [event.question.representative.id for event in events if isinstance(event, Asked)]
    labels = named(final(events, within=None), class_names(events))
    unwanted = [item_id for item_id, name in truth.items() if name == junk]
    others = [item_id for item_id, name in truth.items() if name != junk]
    return {
        "the person": person,
        "seed": seed,
        "questions about it": float(sum(truth[item_id] == junk for item_id in asked)),
        "questions in all": float(len(asked)),
        "with a class %": _percent(labels[i] not in (None, JUNK_NAME) for i in unwanted),
        "others right %": _percent(labels[i] == truth[i] for i in others),
    }


def _percent(flags: Iterable[bool]) -> float:
    found = list(flags)
    return 100 * sum(found) / len(found)
