"""The groups of questions, as pictures with their answers.

Not all fit on a page. You see the first group of each class, the most mixed ones and the largest,
so that both discoveries and mistakes are visible.
"""

from __future__ import annotations

import base64
import io
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
from PIL import Image

from csim.metrics.figures import Truth
from csim.metrics.labels import class_names, final, named
from csim.records import (
    Asked,
    Divided,
    Event,
    Expired,
    Images,
    Item,
    ItemId,
    Question,
    QuestionId,
    Skipped,
    Undone,
)

_MOST_MEMBERS = 23  # shown of one group
_MOST_BYTES = 3_500  # of a lossless thumbnail: 32×32 pixels in colour never take more
SMALL = 64  # pixels of the longer side: twice what the page shows, for fine screens
MEDIUM = 96  # pixels of the longer side of a class's images: enough to see a mistake
LARGE = 160  # pixels of the longer side of the image that a person saw
_LONGEST_ID = 100  # characters: an id may be a path of thousands
_PIXELATED_SIDE = 32  # pixels: smaller images are drawn as squares
_NO_ANSWER = "not answered"
_GONE = '<span class="gone">picture not kept</span>'


def gallery(events: Sequence[Event], truth: Truth | None, most: int = 24) -> str:
    """Return the most informative groups as HTML, oldest question first.

    Parameters
    ----------
    events
        The log.
    truth
        The true class of each image, to mark strangers in a group; None if it is not known.
    most
        How many groups to show, at most. Higher shows more.
    """
    outcomes = answers(events)
    chosen = telling(events, truth, most)
    return groups([_card(question, outcomes[question.id], truth) for question in chosen])


def groups(cards: Sequence[Card]) -> str:
    """Return several groups side by side, as HTML."""
    bodies = "".join(card(group) for group in cards)
    return f'<div class="groups">{bodies}</div>' if cards else "<p>No question was asked.</p>"


def answers(events: Sequence[Event]) -> dict[QuestionId, str]:
    """Return the outcome of every question as text: its class, or the reason why it has none."""
    labels = named(final(events, within=None), class_names(events))
    found: dict[QuestionId, str] = {}
    for event in events:
        if isinstance(event, Asked):
            name = labels.get(event.question.representative.id)
            found[event.question.id] = _NO_ANSWER if name is None else name
    divided = {event.question_id: event for event in events if isinstance(event, Divided | Undone)}
    for event in divided.values():
        if isinstance(event, Divided):  # and not undone since
            found[event.question_id] = f"split into {len(event.into)}"
    for event in events:
        if isinstance(event, Expired | Skipped) and found.get(event.question_id) == _NO_ANSWER:
            found[event.question_id] = "skipped" if isinstance(event, Skipped) else "expired"
    return found


def telling(events: Sequence[Event], truth: Truth | None, most: int) -> list[Question]:
    """Return the most informative questions, oldest first."""
    questions = [event.question for event in events if isinstance(event, Asked)]
    outcomes = answers(events)
    several = [question for question in questions if len(question.members) > 1]
    firsts = list({outcomes[question.id]: question for question in reversed(several)}.values())
    mixed = [question for question in questions if strangers(question, truth)]
    mixed.sort(key=lambda question: -sum(strangers(question, truth).values()))
    largest = sorted(questions, key=lambda question: -len(question.members))
    wanted = {question.id: question for question in [*firsts[::-1], *mixed[: most // 4], *largest]}
    return sorted(list(wanted.values())[:most], key=lambda question: question.id)


def strangers(question: Question, truth: Truth | None) -> Counter[str]:
    """Return how many members of a group have another class than its representative, by class."""
    return Counter(_odd(question, truth).values())


def _odd(question: Question, truth: Truth | None) -> Mapping[ItemId, str]:
    """Return the true class of each stranger in a group."""
    if truth is None:
        return {}
    expected = truth[question.representative.id]
    return {item.id: truth[item.id] for item in question.members if truth[item.id] != expected}


@dataclass(frozen=True)
class Card:
    """Describe a group for the page.

    Parameters
    ----------
    question_id
        The question.
    position
        When it was asked.
    outcome
        The answer, or the reason why there is none, as text.
    representative
        The image that the person saw; None if its picture is no longer kept.
    others
        More images of the group, to show.
    size
        How many images the group has.
    odd
        The true class of each stranger; None if the truth is not known.
    note
        Another line of text.
    """

    question_id: QuestionId
    position: int
    outcome: str
    representative: Item | None
    others: Sequence[Item]
    size: int
    odd: Mapping[ItemId, str] | None = None
    note: str = ""


def card(group: Card) -> str:
    """Return a group as HTML."""
    odd = group.odd or {}
    size = group.size
    shown = "".join(thumbnail(item, odd.get(item.id)) for item in group.others)
    more = size - len(group.others) - 1
    face = group.representative
    large = _GONE if face is None else thumbnail(face, role="shown to the person", side=LARGE)
    return (
        f'<article class="group{" mixed" if odd else ""}"><div class="asked">{large}'
        f"<div><h3>{escape(group.outcome)}</h3>"
        f"<p>question {group.question_id}, image {group.position:,}</p>"
        f"<p>{size:,} image{'s' * (size > 1)}{_purity(group)}</p>{_note(group.note)}</div></div>"
        f'<div class="members">{shown}{_more(more)}</div></article>'
    )


def _card(question: Question, outcome: str, truth: Truth | None) -> Card:
    odd = _odd(question, truth)
    others = [item for item in question.members if item.id != question.representative.id]
    # Strangers come first, so that all of them are shown.
    others.sort(key=lambda item: item.id not in odd)
    return Card(
        question.id,
        question.position,
        outcome,
        question.representative,
        others[:_MOST_MEMBERS],
        len(question.members),
        None if truth is None else odd,
    )


def _purity(group: Card) -> str:
    if group.odd is None:
        return ""
    wrong = Counter(group.odd.values())
    if not wrong:
        return ", pure" if group.size > 1 else ""
    listed = ", ".join(f"{count} × {escape(name)}" for name, count in wrong.most_common())
    share = 1 - wrong.total() / group.size
    return f', purity {share:.0%}</p><p class="wrong">wrong: {listed}'


def _note(text: str) -> str:
    return f"<p>{escape(text)}</p>" if text else ""


def _more(count: int) -> str:
    return f'<span class="more">+{count:,}</span>' if count > 0 else ""


def thumbnail(item: Item, stranger: str | None = None, *, role: str = "", side: int = SMALL) -> str:
    """Return an image as an `<img>` element that holds its pixels.

    Parameters
    ----------
    item
        The image.
    stranger
        Its true class, if its group has another: the image is then marked.
    role
        What the image shows, for screen readers.
    side
        Pixels of the longer side, at most. Higher shows finer detail and makes the page larger.
    """
    parts = [f"image {brief(item.id)}", role, "" if stranger is None else f"truly {stranger}"]
    text = escape(", ".join(filter(None, parts)))
    styles = []
    if stranger is not None:
        styles.append("stranger")
    if max(item.image.shape[:2]) <= _PIXELATED_SIDE:  # larger images are smoothed
        styles.append("pixels")
    mark = f' class="{" ".join(styles)}"' if styles else ""
    return f'<img{mark} src="{_address(item.image, side)}" alt="{text}" title="{text}">'


def brief(item_id: ItemId) -> str:
    """Return an id for the page; of a very long one only the end, which says most.

    >>> brief("camera 3/0001.png"), len(brief("deep/" * 1000))
    ('camera 3/0001.png', 100)
    """
    return item_id if len(item_id) <= _LONGEST_ID else "…" + item_id[1 - _LONGEST_ID :]


def _address(image: Images, side: int) -> str:
    picture = Image.fromarray(np.ascontiguousarray(image))
    picture.thumbnail((side, side))
    kind = "png"
    file = _encoded(picture, "PNG")
    if len(file) > _MOST_BYTES:  # a photograph: as JPEG it looks the same and takes a fifth
        kind = "jpeg"
        file = _encoded(picture, "JPEG")
    return f"data:image/{kind};base64,{base64.b64encode(file).decode()}"


def _encoded(picture: Image.Image, kind: str) -> bytes:
    buffer = io.BytesIO()
    picture.save(buffer, kind, quality=82)
    return buffer.getvalue()
