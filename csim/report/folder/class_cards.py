"""The classes of a stream folder: a card each, new classes and known ones apart.

Pictures are large enough for a person to see a mistake.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from csim.folder.reader import Reader
from csim.report.folder.facts import ClassFacts, Facts
from csim.report.folder.groups import Examples, examples
from csim.report.frame import count_of
from csim.report.gallery import MEDIUM, thumbnail

_MOST_CLASSES = 40  # shown of each kind


def section(reader: Reader, facts: Facts) -> str:
    """Return the section of the page."""
    if not facts.classes:
        return "<p>There is no class.</p>"
    new = [row for row in facts.classes if row.course.learned != 0]
    known = [row for row in facts.classes if row.course.learned == 0]
    return (
        "<p>The newest images of each class: those that a person labelled, and those that csim "
        "labelled. Look for wrong ones among csim's. Hold the pointer over an image to see its "
        f"id.</p>{_cards(reader, 'New classes', new)}"
        f"{_cards(reader, 'Classes known from the start', known)}"
    )


def _cards(reader: Reader, heading: str, rows: Sequence[ClassFacts]) -> str:
    if not rows:
        return ""
    shown = rows[:_MOST_CLASSES]
    pictures = examples(reader, [row.id for row in shown])
    cards = "".join(_card(row, pictures[row.id]) for row in shown)
    hidden = len(rows) - len(shown)
    more = f"<p>{hidden:,} more are not shown.</p>" if hidden else ""
    return f'<h3>{heading}</h3><div class="groups classes">{cards}</div>{more}'


def _card(row: ClassFacts, pictures: Examples) -> str:
    none = '<span class="gone">no picture</span>'
    told = [thumbnail(item, role="labelled by a person", side=MEDIUM) for item in pictures.told]
    given = [thumbnail(item, role="labelled by csim", side=MEDIUM) for item in pictures.given]
    labelled = f"; {row.labelled:,} labelled at the start" if row.labelled else ""
    images = count_of(row.images, "image")
    return (
        f'<article class="group class"><h3>{escape(row.course.name)}</h3>'
        f"<p>{images} of the stream, {row.told:,} labelled by people{labelled}</p>"
        f"<p>{_when(row)}</p>"
        f'<p class="row">labelled by people</p><div class="members">{"".join(told) or none}</div>'
        f'<p class="row">labelled by csim</p><div class="members">{"".join(given) or none}</div>'
        "</article>"
    )


def _when(row: ClassFacts) -> str:
    course = row.course
    if course.learned == 0:
        return "known from the start"
    asked = "" if course.asked is None else f"first asked about at image {course.asked:,}, "
    if course.learned is None:
        return f"{asked}not yet learned"
    return f"{asked}learned at {course.learned:,}"
