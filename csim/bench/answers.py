"""The simulated person: knows the truth, but may answer late, out of order, wrongly or not at all.

`Answers` describes the person. The default answers every question correctly and at once. What is
drawn for a question depends on the seed and the question's id alone. So the batch size changes
nothing, and a question that is answered wrongly at 1 % is also answered wrongly at 5 %.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from csim.errors import InputError, SettingsError
from csim.messages import Named
from csim.records import (
    ItemId,
    Question,
    QuestionId,
)


@dataclass(frozen=True)
class Answers:
    """Describe how a simulated person answers.

    Parameters
    ----------
    delay
        Images between a question and its answer. Higher lets more images of a new class arrive
        before the class can be learned.
    jitter
        The most images that are added to the delay, drawn for each question. Higher than 0 brings
        answers out of order.
    missing
        Share of questions that are never answered, 0 to 1; they stay open. Higher wastes more
        questions.
    wrong
        Share of answers that name another class, 0 to 1. Higher puts more images into the wrong
        class.
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
    """Answer questions about representatives from the truth.

    Parameters
    ----------
    truth
        The true name of each image of the stream; only representatives are looked up.
    names
        All class names of the data set: a wrong answer is one of the others, each as likely.
    answers
        When and how well to answer.
    seed
        Draws which questions are missed or answered wrongly, and how late answers are.

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
        ] = {}  # drawing is slow, and `due` sees an open question again and again

    def due(self, questions: Sequence[Question], position: int) -> list[Named]:
        """Return the answers that have arrived by a position, in the order of their arrival.

        Parameters
        ----------
        questions
            The open ones. None of them may have been answered before.
        position
            Images of the stream that have arrived. Higher makes more answers due.
        """
        times = {q.id: q.position + self._fate(q.id).lateness for q in questions}
        arrived = [q for q in questions if times[q.id] <= position]
        return [self._answer(q) for q in sorted(arrived, key=lambda q: (times[q.id], q.id))]

    def _answer(self, question: Question) -> Named:
        shown = question.representative.id
        if shown not in self._truth:
            raise InputError(
                f"the truth must name every image of the stream; {shown!r} is not in it, so add it"
            )
        name = self._truth[shown]
        slip = self._fate(question.id).slip
        if slip is not None:
            others = [other for other in self._names if other != name]
            name = others[int(slip * len(others))]
        return Named(question.id, name)

    def _fate(self, question_id: QuestionId) -> _Fate:
        if question_id not in self._fates:
            # One draw per setting, so that changing one setting leaves the others' draws alone.
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
    """Hold what is drawn for a question."""

    lateness: float  # images from question to answer; infinite if there is none
    slip: float | None  # 0 to 1, picks a wrong name; None for the true one
