"""The report of an event log.

`render` puts the sections in order. Each is a function from plain values to HTML. Without the
truth, everything that needs it is left out. `folder/page.py` makes the report of a stream folder,
in the same frame.
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
from csim.report.frame import (
    Figure,
    assemble,
    captioned,
    figure_table,
    origin_table,
    percent,
    table,
)
from csim.report.gallery import gallery, thumbnail
from csim.settings import Settings


@dataclass(frozen=True)
class Embedding:
    """Hold projections of the same images by several models, and the class of each image."""

    panels: Sequence[Panel]
    names: Sequence[str]


@dataclass(frozen=True)
class ReportContent:
    """Hold all that a report shows.

    Parameters
    ----------
    title
        The headline.
    lead
        The sentence below it.
    events
        The log of the stream.
    settings
        The settings of the stream; those that are not the defaults are listed.
    truth
        The true class of each image in order of arrival; None if it is not known.
    embedding
        Projections of vectors; None leaves them out.
    origin
        How the report was made, a table row per entry: command, versions, seconds.
    """

    title: str
    lead: str
    events: Sequence[Event]
    settings: Settings
    truth: Truth | None = None
    embedding: Embedding | None = None
    origin: Mapping[str, str] = field(default_factory=dict)


def render(content: ReportContent) -> str:
    """Return the page as HTML."""
    events = content.events
    truth = content.truth
    rows = figures(events, truth)
    sections = {
        "Along the stream": _stream(events, truth),
        "Labelling cost": _cost(events),
        "New classes": _new_classes(events, truth),
        "Groups and their answers": _groups(events, truth),
        "Embedding": _embedding(content.embedding),
        "All figures": figure_table(rows),
        "How this report was made": origin_table(content.settings, content.origin),
    }
    return assemble(content.title, content.lead, rows, sections)


def figures(events: Sequence[Event], truth: Truth | None) -> list[Figure]:
    """Return all figures; those that need the truth only if it is known."""
    images = len(at_arrival(events))
    spent = len(labels_spent(events))
    labelled = sum(isinstance(event, Labelled) for event in events)
    cost = [
        Figure(
            "images",
            f"{images:,}",
            "Images of the stream. The labelled images at its start are not counted.",
        ),
        Figure(
            "questions",
            f"{len(questions(events)):,}",
            "How many questions csim asked. One answer labels a group of images.",
        ),
        Figure(
            "labels spent",
            percent(100 * spent / max(images, 1)),
            "Everything that the person told per hundred images: names, splits and corrections.",
            "of the images were labelled by the person",
        ),
        Figure(
            "images per answer",
            f"{labelled / max(spent, 1):.1f}",
            "Images that got their class from one answer.",
            "images labelled by one answer",
        ),
    ]
    if truth is not None:
        return [*_quality(events, truth), *cost]
    known = str(_known(events))
    return [
        *cost,
        Figure("classes", known, "Classes that the last model can give.", "classes known"),
    ]


def _quality(events: Sequence[Event], truth: Truth) -> list[Figure]:
    summary = summarise(events, truth)
    return [
        Figure(
            "accuracy",
            percent(summary.accuracy),
            "Images whose label is right at the end. The images that the person saw count too.",
            "of all labels are right at the end",
        ),
        Figure(
            "accuracy at arrival",
            percent(summary.accuracy_at_arrival),
            "Images that got the right class at arrival. A rejected image counts as wrong here.",
        ),
        *_discoveries(events, truth),
        Figure(
            "M_new",
            percent(summary.m_new),
            "Missed: images of a class not learned by then that end with a learned class. "
            "Lower is better.",
        ),
        Figure(
            "F_new",
            percent(summary.f_new),
            "False alarms: images of a learned class that end with a class not learned by then. "
            "Lower is better.",
        ),
        Figure(
            "known rejected",
            percent(summary.rejected_known),
            "Images of learned classes that were rejected at arrival. With the quantile threshold, "
            "the setting keep promises about 1 - keep at most.",
        ),
        Figure(
            "purity",
            percent(summary.purity),
            "Grouped images that have the same class as the image that the person saw.",
            "of grouped images belong together",
        ),
    ]


def _discoveries(events: Sequence[Event], truth: Truth) -> list[Figure]:
    new = milestones(events, truth)
    found = sum(milestone.asked is not None for milestone in new)
    learned = sum(milestone.learned is not None for milestone in new)
    return [
        Figure(
            "new classes found",
            f"{found} of {len(new)}",
            "New classes that csim asked about.",
            "new classes found",
        ),
        Figure(
            "new classes learned",
            f"{learned} of {len(new)}",
            "New classes that the last model can give.",
        ),
    ]


def _stream(events: Sequence[Event], truth: Truth | None) -> str:
    drawn = lanes(events, truth)
    images = len(at_arrival(events))
    if truth is None:
        text = "When csim found and learned each new class."
        return captioned(stream_chart({}, drawn, images), text) if drawn else ""
    names = class_names(events)
    window = int(np.clip(round(images / 15, -1), 20, 1000))
    known = set(truth.values()) - {lane.name for lane in drawn}
    fixed = {item_id: name if name in known else None for item_id, name in truth.items()}
    curves = {
        "label at the end": accuracy_curve(named(final(events), names), truth, window),
        "label at arrival": accuracy_curve(named(at_arrival(events), names), truth, window),
        f"best possible with the first {len(known)} classes": accuracy_curve(fixed, truth, window),
    }
    text = (
        f"Accuracy over the last {window} images. An image that was rejected at arrival counts as "
        "wrong there. Labels change when a person answers a question, and when a later model "
        "decides recent images again. Dotted lines mark where a class appears. Green lines mark "
        "where the model learned one."
    )
    if len(drawn) > MOST_LANES:
        text += f" The first {MOST_LANES} of {len(drawn)} new classes are drawn."
    return captioned(stream_chart(curves, drawn, images), text)


def lanes(events: Sequence[Event], truth: Truth | None) -> list[Lane]:
    """Return a lane per new class; without the truth, one that the first model lacks is new."""
    if truth is not None:
        return [
            Lane(milestone.name, milestone.appeared, milestone.asked, milestone.learned)
            for milestone in milestones(events, truth)
        ]
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
    text = (
        "A question shows one image of a group, and its answer labels the whole group. The gap "
        "between the lines is the labelling that you save."
    )
    return captioned(chart, text)


def _new_classes(events: Sequence[Event], truth: Truth | None) -> str:
    drawn = lanes(events, truth)
    if not drawn:
        return ""
    faces = _faces(events, truth)
    if truth is None:
        head: tuple[str, ...] = ("class", "first question", "learned")
        rows = [
            (_class(lane.name, faces), _moment(lane.asked, []), _moment(lane.learned, []))
            for lane in drawn
        ]
        return table(head, rows, is_html=True)
    arrivals: dict[str, list[int]] = {lane.name: [] for lane in drawn}
    hits = dict.fromkeys(arrivals, 0)
    labels = named(final(events), class_names(events))
    for position, (item_id, name) in enumerate(truth.items(), start=1):
        if name in arrivals:
            arrivals[name].append(position)
            hits[name] += labels.get(item_id) == name
    full = [
        (
            _class(lane.name, faces),
            _moment(lane.appeared, []),
            _moment(lane.asked, arrivals[lane.name]),
            _moment(lane.learned, arrivals[lane.name]),
            _share(hits[lane.name], len(arrivals[lane.name])),
        )
        for lane in drawn
    ]
    text = (
        "Numbers are positions in the stream. Below each you see how many images of the class had "
        "arrived by then."
    )
    head = ("class", "appeared", "first question", "learned", "right at the end")
    return f"<p>{text}</p>{table(head, full, is_html=True)}"


def _share(hits: int, images: int) -> str:
    return f"{100 * hits / images:.0f}\u00a0%<small>of {images:,}</small>"


def _faces(events: Sequence[Event], truth: Truth | None) -> dict[str, Item]:
    """Return the first image of each class that the person saw."""
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
    text = (
        f"csim asked {len(sizes):,} questions, {sizes.count(1):,} of them about a single image. "
        "You see the first group of each class, the most mixed and the largest groups. The person "
        "saw the large image; csim gave the answer to the whole group."
    )
    if truth is not None:
        text += " An orange frame marks an image whose true class is another one."
    return f"<p>{text}</p>{gallery(events, truth)}"


def _embedding(embedding: Embedding | None) -> str:
    if embedding is None:
        return ""
    text = (
        f"t-SNE projections of the same {len(embedding.names):,} images of the stream. Colour and "
        "marker show the true class. Points that are close together are similar images. The "
        "distance between two groups means little. The last model was trained on some of these "
        "images."
    )
    return captioned(embedding_chart(embedding.panels, embedding.names), text)


def _known(events: Sequence[Event]) -> int:
    return max(
        (len(event.class_ids) for event in events if isinstance(event, Retrained)), default=0
    )
