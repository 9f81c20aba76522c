"""The groups that were asked about, as pictures with their answers.

Not all fit on a page. Shown are the first group of every class, the most mixed ones, and then the largest, so that
both discoveries and mistakes are seen.
"""

from __future__ import annotations

import base64
import io
from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape

import numpy as np
from PIL import Image

from csim.metrics.figures import Truth
from csim.metrics.labels import class_names, final, named
from csim.records import Asked, Divided, Event, Expired, Images, Item, ItemId, Question, QuestionId, Skipped

_MOST_MEMBERS = 23  # shown of one group
_LONGEST_SIDE = 64  # pixels of a thumbnail


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
    cards = [_card(question, outcomes[question.id], truth) for question in telling(events, truth, most)]
    return f'<div class="groups">{"".join(cards)}</div>' if cards else "<p>No question was asked.</p>"


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


def _card(question: Question, outcome: str, truth: Truth | None) -> str:
    others = [item for item in question.members if item.id != question.representative.id]
    odd = _odd(question, truth)
    # Strangers come first, so that none hides among those not shown.
    others.sort(key=lambda item: item.id not in odd)
    shown = "".join(thumbnail(item, odd.get(item.id)) for item in others[:_MOST_MEMBERS])
    more = f'<span class="more">+{len(others) - _MOST_MEMBERS}</span>' if len(others) > _MOST_MEMBERS else ""
    size = len(question.members)
    return (
        f'<article class="group{" mixed" if odd else ""}"><div class="asked">'
        f"{thumbnail(question.representative, role='shown to the labeller')}"
        f"<div><h3>{escape(outcome)}</h3><p>question {question.id}, image {question.position:,}</p>"
        f"<p>{size} image{'s' * (size > 1)}{_purity(question, truth)}</p></div></div>"
        f'<div class="members">{shown}{more}</div></article>'
    )


def _purity(question: Question, truth: Truth | None) -> str:
    if truth is None:
        return ""
    wrong = strangers(question, truth)
    if not wrong:
        return ", pure" if len(question.members) > 1 else ""
    listed = ", ".join(f"{count} × {escape(name)}" for name, count in wrong.most_common())
    share = 1 - wrong.total() / len(question.members)
    return f', purity {share:.0%}</p><p class="wrong">wrong: {listed}'


def thumbnail(item: Item, stranger: str | None = None, *, role: str = "") -> str:
    """Return an image as an `<img>` that holds its own pixels.

    Parameters
    ----------
    item
        The image.
    stranger
        Its true class, if that is not the one of its group: it is then marked.
    role
        What the image is there for, for those who cannot see it.
    """
    words = ", ".join(filter(None, [f"image {item.id}", role, f"truly {stranger}" if stranger is not None else ""]))
    mark = ' class="stranger"' if stranger is not None else ""
    return f'<img{mark} src="{_png(item.image)}" alt="{escape(words)}" title="{escape(words)}">'


def _png(image: Images) -> str:
    picture = Image.fromarray(np.ascontiguousarray(image))
    picture.thumbnail((_LONGEST_SIDE, _LONGEST_SIDE))
    buffer = io.BytesIO()
    picture.save(buffer, "PNG")
    return f"data:image/png;base64,{base64.b64encode(buffer.getvalue()).decode()}"
