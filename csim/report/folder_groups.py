"""Pictures that a stream folder keeps: examples of its classes, and the groups that were asked about.

Not all fit on a page. Of the classes, the newest images are shown; of the groups, those that wait for an answer, the
first of every class, the most mixed ones if the truth is known, the newest, and the largest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from csim.folder.reader import QuestionRow, Reader
from csim.metrics.truth import Truth
from csim.records import ClassId, Item, ItemId, QuestionId
from csim.report.gallery import LARGE, SMALL, Card
from csim.sources.arrival import Trouble
from csim.sources.open_picture import open_picture

_MOST_MEMBERS = 14  # shown of one group, beside its representative: three rows of a card
_EXAMPLES = 6  # shown of a class that a person has named, and as many that the program has
_OUTCOMES = {
    "open": "What is this?",
    "undone": "taken back",
    "answered": "class removed",
}  # the words for what has no class
_NEWEST = (
    "SELECT class, is_told, place, id FROM ("
    " SELECT today AS class, is_told, place, items.id AS id,"
    "  row_number() OVER (PARTITION BY today, is_told ORDER BY place DESC) AS age"
    " FROM items JOIN classes ON classes.id = class_id WHERE picture IS NOT NULL AND today IS NOT NULL"
    ") WHERE age <= ? ORDER BY place DESC"
)
_QUESTIONS = (
    "SELECT q.id, status, today, count(place) FROM questions q LEFT JOIN classes c ON c.id = class_id"
    " LEFT JOIN members ON question_id = q.id GROUP BY q.id ORDER BY q.id"
)


@dataclass(frozen=True)
class Examples:
    """Images of a class, newest first: some that a person has named, and some that the program has."""

    told: list[Item] = field(default_factory=list)
    given: list[Item] = field(default_factory=list)


def examples(reader: Reader, class_ids: Sequence[ClassId]) -> dict[ClassId, Examples]:
    """Return images of some classes, as far as their pictures are kept."""
    found = {class_id: Examples() for class_id in class_ids}
    for class_id, is_told, place, item_id in reader.rows(_NEWEST, _EXAMPLES):
        if class_id in found and (item := picture(reader, place, item_id)):
            own = found[class_id]
            (own.told if is_told else own.given).append(item)
    return found


def picture(reader: Reader, place: int, item_id: ItemId, side: int = SMALL) -> Item | None:
    """Return an image as it is shown, not as the network sees it; None if its picture is no longer kept.

    Parameters
    ----------
    reader
        The folder.
    place, item_id
        Which image.
    side
        Pixels of the longer side, at most. Raising it shows finer detail.
    """
    file = reader.picture(place)
    seen = None if file is None else open_picture(item_id, file, least=side)
    if seen is None or isinstance(seen, Trouble):
        return None
    seen.thumbnail((side, side))
    return Item(item_id, place, np.asarray(seen, np.uint8))


def open_cards(reader: Reader, most: int) -> list[Card]:
    """Return the oldest groups that wait for an answer."""
    waiting = [own for own, status, _, _ in reader.rows(_QUESTIONS) if status == "open"]
    return [_card(reader, question_id, None) for question_id in waiting[:most]]


def settled_cards(
    reader: Reader, strangers: Mapping[QuestionId, int], truth: Truth | None, most: int
) -> list[Card]:
    """Return the most telling groups that do not wait, in the order in which they were asked about.

    Parameters
    ----------
    reader
        The folder.
    strangers
        How many images of a group are of another class than its representative, as far as that is known.
    truth
        The true class of images, to mark strangers; None if it is not known.
    most
        How many groups to return at most.
    """
    settled = [row for row in reader.rows(_QUESTIONS) if row[1] != "open"]
    firsts = list(
        {
            class_id: own
            for own, _, class_id, size in reversed(settled)
            if class_id is not None and size > 1
        }.values()
    )
    mixed = sorted((own for own in strangers if strangers[own]), key=lambda own: -strangers[own])
    newest = [own for own, _, _, _ in reversed(settled)]
    largest = [own for own, _, _, _ in sorted(settled, key=lambda row: -row[3])]
    order = [*mixed[: most // 4], *firsts[::-1][: most // 2], *newest[: most // 4], *largest]
    here = {own for own, _, _, _ in settled}
    wanted = [own for own in dict.fromkeys(order) if own in here]
    return [_card(reader, question_id, truth) for question_id in sorted(wanted[:most])]


def _card(reader: Reader, question_id: QuestionId, truth: Truth | None) -> Card:
    row = reader.question(question_id)
    members = reader.rows(
        "SELECT items.place, id, picture IS NOT NULL FROM members JOIN items ON items.place = members.place"
        " WHERE members.question_id = ? ORDER BY items.place",
        question_id,
    )
    ids = {place: item_id for place, item_id, _ in members}
    odd = _odd(ids, row.representative, truth)
    others = [
        (place, item_id)
        for place, item_id, is_kept in members
        if is_kept and place != row.representative
    ]
    others.sort(
        key=lambda member: member[1] not in odd if odd else False
    )  # strangers first: none hides
    shown = (picture(reader, place, item_id) for place, item_id in others[:_MOST_MEMBERS])
    face = picture(reader, row.representative, ids.get(row.representative, ""), LARGE)
    return Card(
        question_id,
        row.position,
        row.name if row.name is not None else _OUTCOMES.get(row.status, row.status),
        face,
        [item for item in shown if item is not None],
        len(members),
        odd,
        _guesses(row),
    )


def _odd(
    ids: Mapping[int, ItemId], representative: int, truth: Truth | None
) -> dict[ItemId, str] | None:
    """Return the true class of each member that is not of the representative's; None if one is not known."""
    if (
        truth is None
        or not all(item_id in truth for item_id in ids.values())
        or representative not in ids
    ):
        return None
    own = truth[ids[representative]]
    return {item_id: truth[item_id] for item_id in ids.values() if truth[item_id] != own}


def _guesses(row: QuestionRow) -> str:
    if row.status != "open" or not row.guesses:
        return ""
    return "the model's guess: " + ", ".join(
        f"{name} ({score:.2f})" for name, score in row.guesses[:2]
    )
