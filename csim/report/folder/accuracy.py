"""The accuracy of a stream folder, if the truth is known: figures, a curve and a table by class."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping

import numpy as np

from csim.metrics.accuracy import accuracy, accuracy_curve
from csim.metrics.audit import AuditFigures
from csim.records import Floats, ItemId
from csim.report.charts import MOST_LANES, Lane, stream_chart
from csim.report.folder.facts import Facts
from csim.report.folder.truth import Judged
from csim.report.frame import Figure, captioned, percent, table

_MOST_CLASSES = 40  # rows of the table


def figures(judged: Judged) -> list[Figure]:
    """Return how many labels are right."""
    truth = judged.truth
    untold = {item_id: name for item_id, name in truth.items() if item_id not in judged.told}
    rows = [
        Figure(
            "accuracy",
            percent(accuracy(judged.today, truth)),
            f"Images whose label is right today, of the {len(truth):,} whose class is known.",
            "of the labels are right today",
        ),
        Figure(
            "accuracy at arrival",
            percent(accuracy(judged.at_arrival, truth)),
            "Images that got the right class at arrival. A rejected image counts as wrong here.",
            "were right at arrival",
        ),
        Figure(
            "accuracy, not labelled by people",
            percent(accuracy(judged.today, untold)),
            "The same as accuracy, without the images that a person labelled.",
        ),
    ]
    if judged.grouped:
        share = 100 * (1 - sum(judged.strangers.values()) / judged.grouped)
        meaning = "Grouped images that have the same class as the image that a person saw."
        rows.append(Figure("purity", percent(share), meaning))
    return rows


def estimates(audit: AuditFigures | None) -> list[Figure]:
    """Return the accuracy that the audit estimates, if it has answers."""
    if audit is None:
        return []
    drawn = f"Estimated from {audit.answers:,} images that were drawn at random and named."
    return [
        Figure(
            f"estimated accuracy {moment}",
            percent(estimate.share),
            f"{drawn} With 95 % confidence it lies between {percent(estimate.low)} and "
            f"{percent(estimate.high)}.",
            f"of the labels {verb} right {moment}, by estimate: "
            f"{percent(estimate.low)} to {percent(estimate.high)}",
        )
        for moment, verb, estimate in (
            ("today", "are", audit.today),
            ("at arrival", "were", audit.at_arrival),
        )
    ]


def section(judged: Judged, facts: Facts) -> str:
    """Return the section of the page that needs the truth."""
    window = int(np.clip(round(facts.images / 15, -1), 20, 1000))
    curves = {
        "label today": _curve(judged, judged.today, window, facts.images),
        "label at arrival": _curve(judged, judged.at_arrival, window, facts.images),
    }
    lanes = _lanes(judged, facts)
    text = (
        f"Accuracy over the last {window} images whose class is known. It is known for "
        f"{len(judged.truth):,} of {facts.images:,} images. An image that was rejected at arrival "
        "counts as wrong there. Dotted lines mark the first image of a class. Green lines mark "
        "where the model learned one."
    )
    if len(lanes) > MOST_LANES:
        text += f" The first {MOST_LANES} of {len(lanes)} new classes are drawn."
    return captioned(stream_chart(curves, lanes, facts.images), text) + _table(judged)


def _curve(judged: Judged, labels: Mapping[ItemId, str | None], window: int, images: int) -> Floats:
    """Return the accuracy at each image of the stream, (images,); NaN before the first known."""
    curve = np.concatenate([[np.nan], accuracy_curve(labels, judged.truth, window)])
    return curve[np.searchsorted(judged.places, np.arange(1, images + 1), side="right")]


def _lanes(judged: Judged, facts: Facts) -> list[Lane]:
    """Return the lane of each true class that was not known at the start, by first appearance."""
    courses = {row.course.name: row.course for row in facts.classes}
    first: dict[str, int] = {}
    for name, place in zip(judged.truth.values(), judged.places.tolist(), strict=True):
        first.setdefault(name, place)
    lanes = []
    for name, place in first.items():
        course = courses.get(name)
        if course is None:
            lanes.append(Lane(name, place, None, None))
        elif course.learned != 0:
            lanes.append(Lane(name, place, course.asked, course.learned))
    return lanes


def _table(judged: Judged) -> str:
    images: Counter[str] = Counter()
    at_arrival: Counter[str] = Counter()
    given: defaultdict[str, Counter[str | None]] = defaultdict(Counter)
    for item_id, name in judged.truth.items():
        images[name] += 1
        at_arrival[name] += judged.at_arrival[item_id] == name
        given[name][judged.today[item_id]] += 1
    rows = [
        (
            name,
            f"{count:,}",
            percent(100 * at_arrival[name] / count),
            percent(100 * given[name][name] / count),
            _mistakes(given[name], name),
        )
        for name, count in images.most_common(_MOST_CLASSES)
    ]
    hidden = len(images) - len(rows)
    more = f"<p>{hidden:,} rarer classes are not listed.</p>" if hidden else ""
    head = ("true class", "images", "right at arrival", "right today", "most common mistakes")
    return table(head, rows) + more


def _mistakes(given: Counter[str | None], name: str) -> str:
    wrong = [(other, count) for other, count in given.most_common() if other != name]
    listed = [f"{'no class' if other is None else other} ({count:,})" for other, count in wrong[:2]]
    return ", ".join(listed) or "none"
