"""The report: one HTML file that needs nothing else, no network, no script.

`render` puts the sections in order; each is a function from plain values to HTML. What comes from data is escaped
where it is written. Where the truth is not known, all that would need it is left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape

import numpy as np

from csim.metrics.figures import Truth, accuracy_curve, labels_spent, milestones, questions, summarise
from csim.metrics.labels import at_arrival, class_names, final, named
from csim.records import Asked, Event, Item, Labelled, Retrained
from csim.report.charts import MOST_LANES, Lane, Panel, embedding_chart, labels_chart, stream_chart
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


@dataclass(frozen=True)
class Figure:
    """A figure with its meaning in one sentence; `headline` are the few words it has at the top, if it is there."""

    name: str
    value: str
    meaning: str
    headline: str = ""


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
        "Every figure": _table(("figure", "value", "what it means"), [(r.name, r.value, r.meaning) for r in rows]),
        "How this was made": _making(content),
    }
    shown = {heading: body for heading, body in sections.items() if body}
    links = "".join(f'<a href="#{_anchor(heading)}">{heading}</a>' for heading in shown)
    bodies = "".join(f'<section id="{_anchor(h)}"><h2>{h}</h2>{body}</section>' for h, body in shown.items())
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(content.title)}</title><style>{STYLE}</style></head><body>"
        f'<header><h1>{escape(content.title)}</h1><p class="lead">{escape(content.lead)}</p>{_headline(rows)}'
        f"<nav>{links}</nav></header><main>{bodies}</main></body></html>\n"
    )


def figures(events: Sequence[Event], truth: Truth | None) -> list[Figure]:
    """Return every figure that can be had: what the log tells alone, and what it tells beside the truth."""
    images, asked, spent = len(at_arrival(events)), len(questions(events)), len(labels_spent(events))
    told = sum(isinstance(event, Labelled) for event in events)
    cost = [
        Figure("images", f"{images:,}", "The length of the stream, the labelled images at its start not counted."),
        Figure("questions", f"{asked:,}", "How often the labeller was asked; each answer names a whole group."),
        Figure("labels spent", _percent(100 * spent / max(images, 1)),
               "All that the labeller told per hundred images: names, splits, corrections.",
               "of the images were named by the labeller"),
        Figure("images per answer", f"{told / max(spent, 1):.1f}", "Images that got their class from one answer.",
               "images named by one answer"),
    ]  # fmt: skip
    if truth is None:
        return [*cost, Figure("classes", str(_known(events)), "Classes that the last model can give.", "classes known")]
    return [*_quality(events, truth), *cost]


def _quality(events: Sequence[Event], truth: Truth) -> list[Figure]:
    s = summarise(events, truth)
    new = milestones(events, truth)
    found, learned = sum(m.asked is not None for m in new), sum(m.learned is not None for m in new)
    return [
        Figure("accuracy", _percent(s.accuracy),
               "Images whose label is right at the end; the ones that the labeller saw count too.",
               "of all labels are right at the end"),
        Figure("accuracy at arrival", _percent(s.accuracy_at_arrival),
               "Images given the right class at once; one put aside as unknown counts as wrong here."),
        Figure("new classes found", f"{found} of {len(new)}", "New classes that the labeller was asked about.",
               "new classes found"),
        Figure("new classes learned", f"{learned} of {len(new)}", "New classes that the last model gives by itself."),
        Figure("M_new", _percent(s.m_new),
               "Missed: images of a class not yet learned that end with a class that was. Lower is better."),
        Figure("F_new", _percent(s.f_new),
               "False alarms: images of a learned class that end with one not learned by then. Lower is better."),
        Figure("known put aside", _percent(s.rejected_known),
               "Images of learned classes put aside at arrival. With the quantile threshold the setting keep promises "
               "1 - keep at most, about."),
        Figure("purity", _percent(s.purity), "Grouped images that are of the same class as the one the labeller saw.",
               "of grouped images belong together"),
    ]  # fmt: skip


def _percent(share: float) -> str:
    return f"{share:.1f}\u00a0%"  # the space does not break


def _headline(rows: Sequence[Figure]) -> str:
    tops = [f"<div><dt>{row.headline}</dt><dd>{escape(row.value)}</dd></div>" for row in rows if row.headline]
    return f'<dl class="tops">{"".join(tops)}</dl>'


def _stream(events: Sequence[Event], truth: Truth | None) -> str:
    ways, images = lanes(events, truth), len(at_arrival(events))
    if truth is None:
        return _figure(stream_chart({}, ways, images), "When each new class was found and learned.") if ways else ""
    names = class_names(events)
    window = int(np.clip(round(images / 15, -1), 20, 1000))
    known = set(truth.values()) - {lane.name for lane in ways}
    fixed = {item_id: name if name in known else None for item_id, name in truth.items()}
    curves = {
        "label at the end": accuracy_curve(named(final(events), names), truth, window),
        "label at arrival": accuracy_curve(named(at_arrival(events), names), truth, window),
        f"the most that a model of the first {len(known)} classes can reach": accuracy_curve(fixed, truth, window),
    }
    words = (
        f"Accuracy over the last {window} images. What fits no class at arrival is put aside, which counts as wrong "
        "there. Labels change when a question is answered, and when a later model looks at recent images once more. "
        "Dotted uprights: a class appears; green uprights: the model has learned one."
    )
    if len(ways) > MOST_LANES:
        words += f" Of {len(ways)} new classes the first {MOST_LANES} are drawn."
    return _figure(stream_chart(curves, ways, images), words)


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
    return [Lane(name, None, asked[name], learned.get(name)) for name in asked if learned.get(name) != 0]


def _cost(events: Sequence[Event]) -> str:
    named_at = [event.position for event in events if isinstance(event, Labelled)]
    chart = labels_chart(labels_spent(events), named_at, len(at_arrival(events)))
    words = "Each question shows one image of a group, and its answer names them all: the gap is labelling saved."
    return _figure(chart, words)


def _new_classes(events: Sequence[Event], truth: Truth | None) -> str:
    ways = lanes(events, truth)
    if not ways:
        return ""
    faces = _faces(events, truth)
    if truth is None:
        head: tuple[str, ...] = ("class", "first question", "learned")
        rows = [(_class(w.name, faces), _moment(w.asked, []), _moment(w.learned, [])) for w in ways]
        return _table(head, rows, is_html=True)
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
    return f"<p>{words}</p>{_table(head, full, is_html=True)}"


def _faces(events: Sequence[Event], truth: Truth | None) -> dict[str, Item]:
    """Return the first image of each class that the labeller saw."""
    names = class_names(events)
    seen = {event.question.id: event.question.representative for event in events if isinstance(event, Asked)}
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
    return _figure(embedding_chart(embedding.panels, embedding.names), words)


def _making(content: ReportContent) -> str:
    plain, own = Settings().to_dict(), content.settings.to_dict()
    changed = [(name, str(value), str(plain[name])) for name, value in own.items() if value != plain[name]]
    origin = _table(("what", "value"), list(content.origin.items())) if content.origin else ""
    settings = _table(("setting", "here", "default"), changed) if changed else "<p>All settings are the defaults.</p>"
    return f"{origin}<h3>Settings that differ from the defaults</h3>{settings}"


def _known(events: Sequence[Event]) -> int:
    return max((len(event.class_ids) for event in events if isinstance(event, Retrained)), default=0)


def _figure(picture: str, caption: str) -> str:
    return f'<figure><div class="wide">{picture}</div><figcaption>{caption}</figcaption></figure>'


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], *, is_html: bool = False) -> str:
    """Return a table whose first column heads its rows; cells are text unless said otherwise."""
    top = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in head)
    body = ""
    for row in rows:
        first, *rest = row if is_html else [escape(cell) for cell in row]
        body += f'<tr><th scope="row">{first}</th>{"".join(f"<td>{cell}</td>" for cell in rest)}</tr>'
    return f'<div class="wide"><table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>'


def _anchor(heading: str) -> str:
    return heading.lower().replace(" ", "-")


STYLE = """
:root { color-scheme: light dark; --paper: #fff; --ink: #1b1f24; --soft: #59636e; --line: #d8dee4; --card: #f6f8fa;
  --accent: #0067a3; --warn: #b34700; }
@media (prefers-color-scheme: dark) { :root { --paper: #14181d; --ink: #e8ebee; --soft: #a2abb5; --line: #343b44;
  --card: #1c2128; --accent: #63b8ea; --warn: #ff9a52; } .chart { filter: brightness(1.3); } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 2.5rem 1rem 4rem; max-width: 62rem; background: var(--paper); color: var(--ink);
  font: 1rem/1.55 system-ui, "Segoe UI", Roboto, "Liberation Sans", sans-serif; }
h1 { font-size: clamp(1.6rem, 5vw, 2.4rem); line-height: 1.15; margin: 0 0 .6rem; letter-spacing: -.02em; }
h2 { font-size: 1.4rem; margin: 3.2rem 0 .8rem; padding-top: 1rem; border-top: 1px solid var(--line); }
h3 { font-size: 1rem; margin: 1.4rem 0 .4rem; }
.lead { font-size: 1.15rem; color: var(--soft); max-width: 46rem; margin: 0 0 1.6rem; }
.tops { display: grid; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); gap: .7rem; margin: 0; }
.tops div { background: var(--card); border: 1px solid var(--line); border-radius: .6rem; padding: .9rem 1rem;
  display: flex; flex-direction: column-reverse; justify-content: flex-end; }
.tops dd { margin: 0; font-size: 1.9rem; font-weight: 650; color: var(--accent); letter-spacing: -.02em;
  font-variant-numeric: tabular-nums; line-height: 1.2; }
.tops dt { color: var(--soft); font-size: .88rem; line-height: 1.35; }
nav { margin-top: 1.2rem; font-size: .92rem; display: flex; flex-wrap: wrap; gap: .3rem 1.1rem; }
a { color: var(--accent); }
figure { margin: 0; }
figcaption, section > p { color: var(--soft); font-size: .95rem; max-width: 48rem; margin: .6rem 0 1rem; }
.wide { overflow-x: auto; }
.chart { display: block; width: 100%; min-width: 37rem; height: auto; }
.chart text { font-family: inherit !important; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; font-size: .95rem; }
th, td { text-align: left; padding: .45rem .9rem .45rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
thead th { color: var(--soft); font-weight: 500; font-size: .85rem; }
tbody th { font-weight: 600; white-space: nowrap; }
td small { display: block; color: var(--soft); }
img { image-rendering: pixelated; border-radius: 3px; background: #000; }
.face { display: flex; align-items: center; gap: .7rem; } .face img { width: 40px; }
.groups { display: grid; grid-template-columns: repeat(auto-fill, minmax(14.5rem, 1fr)); gap: .8rem; }
.group { background: var(--card); border: 1px solid var(--line); border-radius: .6rem; padding: .8rem; }
.group.mixed { border-color: var(--warn); }
.asked { display: flex; gap: .8rem; } .asked > img { width: 80px; height: 80px; object-fit: contain; }
.group h3 { margin: 0; font-size: 1.15rem; line-height: 1.2; overflow-wrap: anywhere; }
.group p { margin: 0; font-size: .84rem; line-height: 1.4; color: var(--soft); }
.group p.wrong { color: var(--warn); }
.members { display: flex; flex-wrap: wrap; gap: 4px; margin-top: .7rem; }
.members:empty { display: none; }
.members img { width: 32px; height: 32px; object-fit: contain; }
.stranger { outline: 2px solid var(--warn); outline-offset: 1px; }
.more { align-self: center; color: var(--soft); font-size: .84rem; padding-left: .2rem; }
"""
