"""The report of a log: what a stream whose events are all at hand came to.

`render` puts the sections in order; each is a function from plain values to HTML. Where the truth is not known, all
that would need it is left out. A stream folder has a report of its own, `folder/page.py`, in the same frame.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape

import numpy as np

from csim.metrics.figures import (
    Truth,
    accuracy_curve,
    labels_spent,
    milestones,
    questions,
    summarise,
)
from csim.metrics.labels import at_arrival, class_names, final, named
from csim.records import Asked, Event, Item, Labelled, Retrained
from csim.report.charts import MOST_LANES, Lane, Panel, embedding_chart, labels_chart, stream_chart
from csim.report.frame import Figure, captioned, listed, making, percent, table, whole
from csim.report.gallery import gallery, thumbnail
from csim.settings import Settings


@dataclass(frozen=True)
class Embedding:
    """The same images as seen by several models, and what they truly are."""

    panels: Sequence[Panel]
    names: Sequence[str]


@dataclass(frozen=True)
class ReportContent:
    """What a report tells.

    Parameters
    ----------
    title, lead
        The headline and the sentence below it.
    events
        The log of the stream.
    settings
        The method; what differs from the defaults is listed.
    truth
        The true class of each image in order of arrival; None if it is not known.
    embedding
        Pictures of vectors; None leaves them out.
    origin
        How the report came about, row by row: command, versions, seconds.
    """

    title: str
    lead: str
    events: Sequence[Event]
    settings: Settings
    truth: Truth | None = None
    embedding: Embedding | None = None
    origin: Mapping[str, str] = field(default_factory=dict)


def render(content: ReportContent) -> str:
    """Return the whole page."""
    events, truth = content.events, content.truth
    rows = figures(events, truth)
    sections = {
        "Over the stream": _stream(events, truth),
        "What it cost": _cost(events),
        "The new classes": _new_classes(events, truth),
        "Groups and their answers": _groups(events, truth),
        "What the network sees": _embedding(content.embedding),
        "Every figure": listed(rows),
        "How this was made": making(content.settings, content.origin),
    }
    return whole(content.title, content.lead, rows, sections)


def figures(events: Sequence[Event], truth: Truth | None) -> list[Figure]:
    """Return every figure that can be had: what the log tells alone, and what it tells beside the truth."""
    images, asked, spent = (
        len(at_arrival(events)),
        len(questions(events)),
        len(labels_spent(events)),
    )
    told = sum(isinstance(event, Labelled) for event in events)
    cost = [
        Figure("images", f"{images:,}", "The length of the stream, the labelled images at its start not counted."),
        Figure("questions", f"{asked:,}", "How often the labeller was asked; each answer names a whole group."),
        Figure("labels spent", percent(100 * spent / max(images, 1)),
               "All that the labeller told per hundred images: names, splits, corrections.",
               "of the images were named by the labeller"),
        Figure("images per answer", f"{told / max(spent, 1):.1f}", "Images that got their class from one answer.",
               "images named by one answer"),
    ]  # fmt: skip
    if truth is None:
        return [
            *cost,
            Figure(
                "classes",
                str(_known(events)),
                "Classes that the last model can give.",
                "classes known",
            ),
        ]
    return [*_quality(events, truth), *cost]


def _quality(events: Sequence[Event], truth: Truth) -> list[Figure]:
    s = summarise(events, truth)
    new = milestones(events, truth)
    found, learned = sum(m.asked is not None for m in new), sum(m.learned is not None for m in new)
    return [
        Figure("accuracy", percent(s.accuracy),
               "Images whose label is right at the end; the ones that the labeller saw count too.",
               "of all labels are right at the end"),
        Figure("accuracy at arrival", percent(s.accuracy_at_arrival),
               "Images given the right class at once; one put aside as unknown counts as wrong here."),
        Figure("new classes found", f"{found} of {len(new)}", "New classes that the labeller was asked about.",
               "new classes found"),
        Figure("new classes learned", f"{learned} of {len(new)}", "New classes that the last model gives by itself."),
        Figure("M_new", percent(s.m_new),
               "Missed: images of a class not yet learned that end with a class that was. Lower is better."),
        Figure("F_new", percent(s.f_new),
               "False alarms: images of a learned class that end with one not learned by then. Lower is better."),
        Figure("known put aside", percent(s.rejected_known),
               "Images of learned classes put aside at arrival. With the quantile threshold the setting keep promises "
               "1 - keep at most, about."),
        Figure("purity", percent(s.purity), "Grouped images that are of the same class as the one the labeller saw.",
               "of grouped images belong together"),
    ]  # fmt: skip


def _stream(events: Sequence[Event], truth: Truth | None) -> str:
    ways, images = lanes(events, truth), len(at_arrival(events))
    if truth is None:
        return (
            captioned(stream_chart({}, ways, images), "When each new class was found and learned.")
            if ways
            else ""
        )
    names = class_names(events)
    window = int(np.clip(round(images / 15, -1), 20, 1000))
    known = set(truth.values()) - {lane.name for lane in ways}
    fixed = {item_id: name if name in known else None for item_id, name in truth.items()}
    curves = {
        "label at the end": accuracy_curve(named(final(events), names), truth, window),
        "label at arrival": accuracy_curve(named(at_arrival(events), names), truth, window),
        f"the most that a model of the first {len(known)} classes can reach": accuracy_curve(
            fixed, truth, window
        ),
    }
    words = (
        f"Accuracy over the last {window} images. What fits no class at arrival is put aside, which counts as wrong "
        "there. Labels change when a question is answered, and when a later model looks at recent images once more. "
        "Dotted uprights: a class appears; green uprights: the model has learned one."
    )
    if len(ways) > MOST_LANES:
        words += f" Of {len(ways)} new classes the first {MOST_LANES} are drawn."
    return captioned(stream_chart(curves, ways, images), words)


def lanes(events: Sequence[Event], truth: Truth | None) -> list[Lane]:
    """Return the way of each new class; without the truth, a class is new if it was not in the first model."""
    if truth is not None:
        return [Lane(m.name, m.appeared, m.asked, m.learned) for m in milestones(events, truth)]
    names = class_names(events)
    asked_at = {event.question.id: event.position for event in events if isinstance(event, Asked)}
    asked: dict[str, int] = {}
    learned: dict[str, int] = {}
    for event in events:
        if isinstance(event, Labelled):
            asked.setdefault(names[event.class_id], asked_at.get(event.question_id, event.position))
        elif isinstance(event, Retrained):
            for class_id in event.class_ids:
                learned.setdefault(names[class_id], event.position)
    return [
        Lane(name, None, asked[name], learned.get(name)) for name in asked if learned.get(name) != 0
    ]


def _cost(events: Sequence[Event]) -> str:
    named_at = [event.position for event in events if isinstance(event, Labelled)]
    chart = labels_chart(labels_spent(events), named_at, len(at_arrival(events)))
    words = "Each question shows one image of a group, and its answer names them all: the gap is labelling saved."
    return captioned(chart, words)


def _new_classes(events: Sequence[Event], truth: Truth | None) -> str:
    ways = lanes(events, truth)
    if not ways:
        return ""
    faces = _faces(events, truth)
    if truth is None:
        head: tuple[str, ...] = ("class", "first question", "learned")
        rows = [(_class(w.name, faces), _moment(w.asked, []), _moment(w.learned, [])) for w in ways]
        return table(head, rows, is_html=True)
    arrivals: dict[str, list[int]] = {way.name: [] for way in ways}
    hits = dict.fromkeys(arrivals, 0)
    labels = named(final(events), class_names(events))
    for position, (item_id, name) in enumerate(truth.items(), start=1):
        if name in arrivals:
            arrivals[name].append(position)
            hits[name] += labels.get(item_id) == name
    full = [
        (
            _class(way.name, faces),
            _moment(way.appeared, []),
            _moment(way.asked, arrivals[way.name]),
            _moment(way.learned, arrivals[way.name]),
            f"{100 * hits[way.name] / len(arrivals[way.name]):.0f}\u00a0%<small>of {len(arrivals[way.name]):,}</small>",
        )
        for way in ways
    ]
    words = "Moments are images of the stream; below each, how many images of the class itself had passed by then."
    head = ("class", "appeared", "first question", "learned", "right at the end")
    return f"<p>{words}</p>{table(head, full, is_html=True)}"


def _faces(events: Sequence[Event], truth: Truth | None) -> dict[str, Item]:
    """Return the first image of each class that the labeller saw."""
    names = class_names(events)
    seen = {
        event.question.id: event.question.representative
        for event in events
        if isinstance(event, Asked)
    }
    faces: dict[str, Item] = {}
    for event in events:
        if isinstance(event, Labelled) and event.is_told and event.question_id in seen:
            item = seen[event.question_id]
            faces.setdefault(names[event.class_id] if truth is None else truth[item.id], item)
    return faces


def _class(name: str, faces: Mapping[str, Item]) -> str:
    face = thumbnail(faces[name], role=f"a first example of {name}") if name in faces else ""
    return f'<span class="face">{face}<strong>{escape(name)}</strong></span>'


def _moment(position: int | None, arrivals: Sequence[int]) -> str:
    if position is None:
        return "never"
    passed = sum(arrival <= position for arrival in arrivals)
    return f"{position:,}" + (f"<small>after {passed}</small>" if passed else "")


def _groups(events: Sequence[Event], truth: Truth | None) -> str:
    sizes = [len(event.question.members) for event in events if isinstance(event, Asked)]
    alone = sizes.count(1)
    words = (
        f"{len(sizes):,} questions were asked, {alone:,} of them about an image that stood alone. Shown are the first "
        "group of each class, the most mixed ones and the largest. The large image is the one the labeller saw; the "
        "answer was given to all."
    )
    if truth is not None:
        words += " An orange frame marks an image that is truly of another class."
    return f"<p>{words}</p>{gallery(events, truth)}"


def _embedding(embedding: Embedding | None) -> str:
    if embedding is None:
        return ""
    words = (
        f"The same {len(embedding.names):,} images of the stream, each where the network puts it, laid flat by t-SNE. "
        "Colour and marker give the true class. Near means alike; how far apart two groups lie means little. The "
        "last model has learned from some of these images."
    )
    return captioned(embedding_chart(embedding.panels, embedding.names), words)


def _known(events: Sequence[Event]) -> int:
    return max(
        (len(event.class_ids) for event in events if isinstance(event, Retrained)), default=0
    )
