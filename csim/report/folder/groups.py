"""Pictures for the report of a stream folder: examples of its classes, and groups of questions.

Not all fit on a page. Of each class, you see the newest images. Of the groups, you see those of
open questions, the first of each class, the newest and the largest. If the truth is known, you
also see the most mixed groups.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from csim.folder.reader import QuestionRow, Reader
from csim.metrics.truth import Truth
from csim.records import ClassId, Item, ItemId, QuestionId
from csim.report.gallery import LARGE, MEDIUM, SMALL, Card
from csim.sources.arrival import Trouble
from csim.sources.open_picture import open_picture
from csim.utc import utc

_MOST_MEMBERS = 14  # shown of one group, beside its representative: three rows of a card
_EXAMPLES = 6  # shown of a class: so many that a person labelled, and so many that csim did
_OUTCOMES = {  # of questions without a class
    "open": "What is this?",
    "undone": "taken back",
    "answered": "class removed",
}


@dataclass(frozen=True)
class Examples:
    """Hold images of a class, newest first: those that a person labelled, and others."""

    told: list[Item] = field(default_factory=list)
    given: list[Item] = field(default_factory=list)


def examples(reader: Reader, class_ids: Sequence[ClassId]) -> dict[ClassId, Examples]:
    """Return images of some classes whose pictures are kept."""
    found = {class_id: Examples() for class_id in class_ids}
    for row in reader.samples.newest(_EXAMPLES):
        if row.class_id in found and (item := picture(reader, row.place, row.id, MEDIUM)):
            shown = found[row.class_id]
            (shown.told if row.is_told else shown.given).append(item)
    return found


def picture(reader: Reader, place: int, item_id: ItemId, side: int = SMALL) -> Item | None:
    """Return an image from its picture, or None if that is no longer kept or cannot be read.

    It has the size for the page, not the shape for the network.

    Parameters
    ----------
    reader
        The folder.
    place
        The image's place.
    item_id
        The image's id.
    side
        Pixels of the longer side, at most. Higher shows finer detail.
    """
    file = reader.picture(place)
    opened = None if file is None else open_picture(item_id, file, least=side)
    if opened is None or isinstance(opened, Trouble):
        return None
    opened.thumbnail((side, side))
    return Item(item_id, place, np.asarray(opened, np.uint8))


def open_cards(reader: Reader, most: int) -> list[Card]:
    """Return the groups of the oldest open questions, at most `most`."""
    return [_card(reader, question, None) for question in reader.questions("open")[:most]]


def settled_cards(
    reader: Reader, strangers: Mapping[QuestionId, int], truth: Truth | None, most: int
) -> list[Card]:
    """Return the most informative groups of questions that are not open, oldest question first.

    Parameters
    ----------
    reader
        The folder.
    strangers
        By question, how many images of its group have another true class than its representative.
    truth
        The true class of images, to mark strangers; None if it is not known.
    most
        How many groups to return, at most. Higher shows more.
    """
    settled = [group for group in reader.samples.group_sizes() if group.status != "open"]
    firsts = {
        group.class_id: group.question_id
        for group in reversed(settled)
        if group.class_id is not None and group.images > 1
    }
    mixed = sorted(filter(strangers.get, strangers), key=lambda question: -strangers[question])
    newest = [group.question_id for group in reversed(settled)]
    by_size = sorted(settled, key=lambda group: -group.images)
    order = [
        *mixed[: most // 4],
        *list(firsts.values())[::-1][: most // 2],
        *newest[: most // 4],
        *(group.question_id for group in by_size),
    ]
    here = set(newest)
    wanted = [question_id for question_id in dict.fromkeys(order) if question_id in here]
    return [
        _card(reader, reader.question(question_id), truth) for question_id in sorted(wanted[:most])
    ]


def _card(reader: Reader, row: QuestionRow, truth: Truth | None) -> Card:
    members = reader.members(row.id)
    ids = {member.place: member.id for member in members}
    odd = _odd(ids, row.representative, truth)
    others = [
        member for member in members if member.has_picture and member.place != row.representative
    ]
    if odd:
        others.sort(key=lambda member: member.id not in odd)  # strangers first: none hides
    shown = (picture(reader, member.place, member.id) for member in others[:_MOST_MEMBERS])
    face = picture(reader, row.representative, ids.get(row.representative, ""), LARGE)
    return Card(
        row.id,
        row.position,
        "junk" if row.is_junk else row.name or _OUTCOMES.get(row.status, row.status),
        face,
        [item for item in shown if item is not None],
        len(members),
        odd,
        _note(row),
    )


def _odd(
    ids: Mapping[int, ItemId], representative: int, truth: Truth | None
) -> dict[ItemId, str] | None:
    """Return the true class of each stranger in a group, or None if not all classes are known."""
    if (
        truth is None
        or not all(item_id in truth for item_id in ids.values())
        or representative not in ids
    ):
        return None
    expected = truth[ids[representative]]
    return {item_id: truth[item_id] for item_id in ids.values() if truth[item_id] != expected}


def _note(row: QuestionRow) -> str:
    if row.answered is not None:
        return f"asked {utc(row.time)}, answered {utc(row.answered)}"
    if row.status != "open" or not row.guesses:
        return ""
    return "the model's guess: " + ", ".join(
        f"{name} ({score:.2f})" for name, score in row.guesses[:2]
    )
