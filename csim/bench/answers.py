"""The simulated person: knows the truth, and yet answers late, out of order, not at all, or wrongly.

`Answers` says how good an answerer it is; by default a perfect one, who answers every question at once. Each question
meets the same fate whenever it is looked at: what is drawn for it depends on the seed and the question's id alone. So
the batch size changes nothing, and a question that is answered wrongly at 1 % is also answered wrongly at 5 %.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from csim.errors import InputError, SettingsError
from csim.records import ItemId, Named, Question, QuestionId


@dataclass(frozen=True)
class Answers:
    """How a simulated person answers.

    Parameters
    ----------
    delay
        Images that pass between a question and its answer. Raising it lets more images of a new class go by before
        the class can be learned.
    jitter
        Up to so many images more, drawn for each question. Raising it above 0 brings answers out of order.
    missing
        Share of questions that are never answered, 0 to 1; they stay open. Raising it wastes more questions.
    wrong
        Share of answers that name another class, 0 to 1. Raising it puts more images into the wrong class.
    """

    delay: int = 0
    jitter: int = 0
    missing: float = 0.0
    wrong: float = 0.0

    def __post_init__(self) -> None:
        for name in ("delay", "jitter"):
            if not isinstance(value := getattr(self, name), int) or value < 0:
                raise SettingsError(
                    f"{name} must be a whole number of images, 0 or more, got {value}"
                )
        for name in ("missing", "wrong"):
            if not 0 <= (value := getattr(self, name)) <= 1:
                raise SettingsError(f"{name} must lie between 0 and 1, got {value}")


class Person:
    """Answers questions about representatives from the truth.

    Parameters
    ----------
    truth
        The true name of each image of the stream; only representatives are looked up.
    names
        All class names of the data set: a wrong answer is one of the others, each as likely.
    answers
        When and how well to answer.
    seed
        Draws which questions are missed or answered wrongly, and by how much answers are late.

    Examples
    --------
    A question asked at image 5 is answered once 100 more have passed.

    >>> from csim.records import Item
    >>> heron = Item("5", 5, np.zeros((8, 8), np.uint8))
    >>> person = Person({"5": "heron"}, ["heron", "crane"], Answers(delay=100), seed=0)
    >>> person.due([Question(1, 5, heron, (heron,))], position=104)
    []
    >>> person.due([Question(1, 5, heron, (heron,))], position=105)
    [Named(question_id=1, name='heron')]
    """

    def __init__(
        self, truth: Mapping[ItemId, str], names: Sequence[str], answers: Answers, seed: int
    ) -> None:
        if answers.wrong and len(set(names)) < 2:
            raise SettingsError(
                f"wrong answers need at least 2 class names, got {len(set(names))}; set wrong to 0"
            )
        if seed < 0:
            raise SettingsError(f"seed must be 0 or more, got {seed}")
        self._truth = truth
        self._names = list(dict.fromkeys(names))
        self._answers = answers
        self._seed = seed
        self._fates: dict[
            QuestionId, _Fate
        ] = {}  # drawing is slow, and an open question is looked at often

    def due(self, questions: Sequence[Question], position: int) -> list[Named]:
        """Return the answers that have come by a position, in the order in which they came.

        Parameters
        ----------
        questions
            Those still open; one that is answered already must not be among them.
        position
            Images of the stream that have passed. Raising it makes more answers due.
        """
        times = {q.id: q.position + self._fate(q.id).lateness for q in questions}
        come = [q for q in questions if times[q.id] <= position]
        return [self._answer(q) for q in sorted(come, key=lambda q: (times[q.id], q.id))]

    def _answer(self, question: Question) -> Named:
        shown = question.representative.id
        if shown not in self._truth:
            raise InputError(
                f"the truth must name every image of the stream, {shown!r} is not in it"
            )
        name, slip = self._truth[shown], self._fate(question.id).slip
        if slip is not None:
            others = [other for other in self._names if other != name]
            name = others[int(slip * len(others))]
        return Named(question.id, name)

    def _fate(self, question_id: QuestionId) -> _Fate:
        if question_id not in self._fates:
            # One draw per setting, so that a setting moves nothing but its own effect.
            miss, slip, late, which = (
                np.random.default_rng([self._seed, question_id]).random(4).tolist()
            )
            lateness = self._answers.delay + int(late * (self._answers.jitter + 1))
            self._fates[question_id] = _Fate(
                lateness=math.inf if miss < self._answers.missing else lateness,
                slip=which if slip < self._answers.wrong else None,
            )
        return self._fates[question_id]


@dataclass(frozen=True, slots=True)
class _Fate:
    """What becomes of a question."""

    lateness: float  # images from question to answer; infinite if none comes
    slip: float | None  # 0 to 1, which of the other names is given; None for the true one
