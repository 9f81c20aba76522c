"""How right a stream folder is, where that is known: its figures, a curve along the stream, and every true class."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping

import numpy as np

from csim.metrics.accuracy import accuracy, accuracy_curve
from csim.records import Floats, ItemId
from csim.report.charts import MOST_LANES, Lane, stream_chart
from csim.report.folder.facts import Facts
from csim.report.folder.truth import Judged
from csim.report.frame import Figure, captioned, percent, table

_MOST_CLASSES = 40  # rows of the table


def figures(judged: Judged) -> list[Figure]:
    """Return how right the labels are."""
    known = f"{len(judged.truth):,}"
    untold = {item_id: name for item_id, name in judged.truth.items() if item_id not in judged.told}
    rows = [
        Figure("accuracy", percent(accuracy(judged.today, judged.truth)),
               f"Of the {known} images whose class is known, those whose label is right today.",
               "of the labels are right today"),
        Figure("accuracy at arrival", percent(accuracy(judged.at_arrival, judged.truth)),
               "Images given the right class at once; one put aside as unknown counts as wrong here.",
               "were right at once"),
        Figure("accuracy, not named by people", percent(accuracy(judged.today, untold)),
               "The same as accuracy, without the images that a person has named."),
    ]  # fmt: skip
    if judged.grouped:
        share = 100 * (1 - sum(judged.strangers.values()) / judged.grouped)
        words = "Grouped images that are of the same class as the one that a person saw."
        rows.append(Figure("purity", percent(share), words))
    return rows


def section(judged: Judged, facts: Facts) -> str:
    """Return the part of the page that only the truth makes possible."""
    window = int(np.clip(round(facts.images / 15, -1), 20, 1000))
    curves = {
        "label today": _curve(judged, judged.today, window, facts.images),
        "label at arrival": _curve(judged, judged.at_arrival, window, facts.images),
    }
    ways = _lanes(judged, facts)
    words = (
        f"Accuracy over the last {window} images whose class is known, {len(judged.truth):,} of {facts.images:,}. What "
        "fits no class at arrival is put aside, which counts as wrong there. Dotted uprights: the first image of a "
        "class; green uprights: the model has learned one."
    )
    if len(ways) > MOST_LANES:
        words += f" Of {len(ways)} new classes the first {MOST_LANES} are drawn."
    return captioned(stream_chart(curves, ways, facts.images), words) + _table(judged)


def _curve(judged: Judged, labels: Mapping[ItemId, str | None], window: int, images: int) -> Floats:
    """Return the accuracy at each image of the stream, (images,); before the first that is known there is none."""
    curve = np.concatenate([[np.nan], accuracy_curve(labels, judged.truth, window)])
    return curve[np.searchsorted(judged.places, np.arange(1, images + 1), side="right")]


def _lanes(judged: Judged, facts: Facts) -> list[Lane]:
    """Return the way of each true class that was not known at the start, in order of appearance."""
    courses = {own.course.name: own.course for own in facts.classes}
    first: dict[str, int] = {}
    for name, place in zip(judged.truth.values(), judged.places.tolist(), strict=True):
        first.setdefault(name, place)
    lanes = []
    for name, place in first.items():
        own = courses.get(name)
        if own is None:
            lanes.append(Lane(name, place, None, None))
        elif own.learned != 0:
            lanes.append(Lane(name, place, own.asked, own.learned))
    return lanes


def _table(judged: Judged) -> str:
    images: Counter[str] = Counter()
    at_once: Counter[str] = Counter()
    given: defaultdict[str, Counter[str | None]] = defaultdict(Counter)
    for item_id, name in judged.truth.items():
        images[name] += 1
        at_once[name] += judged.at_arrival[item_id] == name
        given[name][judged.today[item_id]] += 1
    rows = [
        (
            name,
            f"{count:,}",
            percent(100 * at_once[name] / count),
            percent(100 * given[name][name] / count),
            _mistakes(given[name], name),
        )
        for name, count in images.most_common(_MOST_CLASSES)
    ]
    left = len(images) - len(rows)
    more = f"<p>{left:,} rarer classes are left out.</p>" if left else ""
    return (
        table(
            (
                "true class",
                "images",
                "right at arrival",
                "right today",
                "today most often taken for",
            ),
            rows,
        )
        + more
    )


def _mistakes(given: Counter[str | None], name: str) -> str:
    wrong = [(other, count) for other, count in given.most_common() if other != name]
    return (
        ", ".join(
            f"{'no class' if other is None else other} ({count:,})" for other, count in wrong[:2]
        )
        or "none"
    )
