"""The groups that were asked about, as pictures with their answers.

Not all fit on a page. Shown are the first group of every class, the most mixed ones, and then the largest, so that
both discoveries and mistakes are seen.
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
)

_MOST_MEMBERS = 23  # shown of one group
_MOST_BYTES = 3_500  # of a lossless thumbnail: 32×32 pixels in colour never take more
SMALL, LARGE = 64, 160  # pixels of the longer side: twice what the page shows, for fine screens
_LONGEST_ID = 100  # characters: an id may be a path of thousands
_FEW = 32  # pixels a side
GONE = '<span class="gone">picture not kept</span>'


def gallery(events: Sequence[Event], truth: Truth | None, most: int = 24) -> str:
    """Return the most telling groups as HTML, in the order in which they were asked about.

    Parameters
    ----------
    events
        The log.
    truth
        The true class of each image, to mark strangers in a group; None if it is not known.
    most
        How many groups to show at most.
    """
    outcomes = answers(events)
    chosen = telling(events, truth, most)
    return groups([_card(question, outcomes[question.id], truth) for question in chosen])


def groups(cards: Sequence[Card]) -> str:
    """Return several groups side by side."""
    bodies = "".join(card(own) for own in cards)
    return f'<div class="groups">{bodies}</div>' if cards else "<p>No question was asked.</p>"


def answers(events: Sequence[Event]) -> dict[QuestionId, str]:
    """Return what became of every question, in words: the class it was given, or why it has none."""
    labels = named(final(events, within=None), class_names(events))
    told: dict[QuestionId, str] = {}
    for event in events:
        if isinstance(event, Asked):
            name = labels.get(event.question.representative.id)
            told[event.question.id] = "not answered" if name is None else name
    for event in events:
        if isinstance(event, Divided):
            told[event.question_id] = f"split into {len(event.into)}"
        elif isinstance(event, Expired | Skipped) and told.get(event.question_id) == "not answered":
            told[event.question_id] = "skipped" if isinstance(event, Skipped) else "expired"
    return told


def telling(events: Sequence[Event], truth: Truth | None, most: int) -> list[Question]:
    """Return the questions worth showing, in order of asking."""
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
    """Return how many members of a group are of another class than its representative, by their true class."""
    return Counter(_odd(question, truth).values())


def _odd(question: Question, truth: Truth | None) -> Mapping[ItemId, str]:
    """Return the true class of each member that is not of its representative's."""
    if truth is None:
        return {}
    own = truth[question.representative.id]
    return {item.id: truth[item.id] for item in question.members if truth[item.id] != own}


@dataclass(frozen=True)
class Card:
    """A group as it is shown.

    Parameters
    ----------
    question_id, position
        What was asked, and when.
    outcome
        What became of the question, in words.
    representative
        The image that the labeller saw; None if its picture is no longer kept.
    others
        More of its images, to be shown.
    size
        How many images the group has.
    odd
        The true class of each image that is not of the representative's; None if the truth is not known.
    note
        What else there is to say, as text.
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
    odd, size = group.odd or {}, group.size
    shown = "".join(thumbnail(item, odd.get(item.id)) for item in group.others)
    more = size - len(group.others) - 1
    face = group.representative
    large = GONE if face is None else thumbnail(face, role="shown to the labeller", side=LARGE)
    return (
        f'<article class="group{" mixed" if odd else ""}"><div class="asked">{large}'
        f"<div><h3>{escape(group.outcome)}</h3><p>question {group.question_id}, image {group.position:,}</p>"
        f"<p>{size:,} image{'s' * (size > 1)}{_purity(group)}</p>{_note(group.note)}</div></div>"
        f'<div class="members">{shown}{_more(more)}</div></article>'
    )


def _card(question: Question, outcome: str, truth: Truth | None) -> Card:
    odd = _odd(question, truth)
    others = [item for item in question.members if item.id != question.representative.id]
    # Strangers come first, so that none hides among those not shown.
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


def _note(words: str) -> str:
    return f"<p>{escape(words)}</p>" if words else ""


def _more(count: int) -> str:
    return f'<span class="more">+{count:,}</span>' if count > 0 else ""


def thumbnail(item: Item, stranger: str | None = None, *, role: str = "", side: int = SMALL) -> str:
    """Return an image as an `<img>` that holds its own pixels.

    Parameters
    ----------
    item
        The image.
    stranger
        Its true class, if that is not the one of its group: it is then marked.
    role
        What the image is there for, for those who cannot see it.
    side
        Pixels of the longer side, at most. Raising it shows finer detail and makes the page larger.
    """
    words = ", ".join(
        filter(
            None,
            [f"image {brief(item.id)}", role, f"truly {stranger}" if stranger is not None else ""],
        )
    )
    # Few pixels stay squares; a photograph is made smooth.
    looks = ["stranger"] * (stranger is not None) + ["pixels"] * (max(item.image.shape[:2]) <= _FEW)
    mark = f' class="{" ".join(looks)}"' if looks else ""
    return f'<img{mark} src="{_address(item.image, side)}" alt="{escape(words)}" title="{escape(words)}">'


def brief(item_id: ItemId) -> str:
    """Return an id as it is shown: of a very long one, the end, which tells more than the beginning.

    >>> brief("camera 3/0001.png"), len(brief("deep/" * 1000))
    ('camera 3/0001.png', 100)
    """
    return item_id if len(item_id) <= _LONGEST_ID else "…" + item_id[1 - _LONGEST_ID :]


def _address(image: Images, side: int) -> str:
    picture = Image.fromarray(np.ascontiguousarray(image))
    picture.thumbnail((side, side))
    kind, file = "png", _encoded(picture, "PNG")
    if len(file) > _MOST_BYTES:  # a photograph: as JPEG it looks the same and takes a fifth
        kind, file = "jpeg", _encoded(picture, "JPEG")
    return f"data:image/{kind};base64,{base64.b64encode(file).decode()}"


def _encoded(picture: Image.Image, kind: str) -> bytes:
    buffer = io.BytesIO()
    picture.save(buffer, kind, quality=82)
    return buffer.getvalue()
