"""The one evaluation loop: warm up, show the stream, answer questions from the truth, keep the log.

The model never sees the truth: a simulated person names a question's representative, and the
metrics read the log afterwards. Every method goes through this loop, csim's and the baselines.

Answers come in rounds, `_BATCH` images apart. A method that says when it may ask gets the images of
several rounds at once if no question can come before: nothing else changes. The paper's method is
run as its algorithms are written: every answer comes before the next image, and nothing is asked at
the stream's end.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from csim.bench.answers import Answers, Person
from csim.bench.scenario import Stream
from csim.errors import InputError
from csim.records import Event, Floats, Images, ItemId, Question

_BATCH = 16  # images between two rounds of answers: an answer is late by this many at most
_LARGEST_BATCH = 64 * _BATCH  # images at a time: bounds memory


class Method(Protocol):
    """Offer what the loop needs: learn first classes, classify images, ask, and take answers.

    Events name an image of the stream by its position, from 1, as text. `training_seconds` is the
    time that all training has taken so far.
    """

    training_seconds: float

    def fit(self, images: Images, names: Sequence[str], /) -> object:
        """Learn the first classes."""
        ...

    def observe(self, images: Images, /) -> list[Event]:
        """Classify the next images."""
        ...

    def ask_now(self) -> list[Event]:
        """Ask about the waiting candidates, however few."""
        ...

    def questions(self) -> list[Question]:
        """Return the open questions."""
        ...

    def tell(self, answers: dict[int, str], /) -> list[Event]:
        """Learn the names of questions' representatives."""
        ...

    def predict_proba(self, images: Images, /) -> Floats:
        """Return a score per class of `classes_` for each image."""
        ...

    @property
    def classes_(self) -> npt.NDArray[np.str_]:
        """Return the names of the classes that the method can output."""
        ...


@runtime_checkable
class PromptMethod(Method, Protocol):
    """Offer what the loop needs to answer every question before the next image."""

    @property
    def until_search(self) -> int:
        """Return after how many more images the method may ask, at the earliest."""
        ...

    def settle(self) -> list[Event]:
        """Give waiting images their best class, without a question."""
        ...


# Called with a function that takes every event; returns the method.
OpenMethod = Callable[[Callable[[Event], None]], Method]


@dataclass(frozen=True)
class Run:
    """Hold the events of a run, the truth, and what the run cost.

    `remembered` is the accuracy in percent, among the first classes only, of the first and of the
    last model on the same held-out images: the difference is what was forgotten. It is None if none
    were held out. `seconds_first_training` is the time of the first model, on the warm-up.
    `forward_per_second` counts the images that the last model scores per second, without the rest
    of the engine.
    """

    events: list[Event]
    truth: dict[ItemId, str]
    seconds: float
    seconds_training: float
    seconds_first_training: float
    remembered: tuple[float, float] | None
    forward_per_second: float

    @property
    def forgetting(self) -> float | None:
        """Return the points of accuracy lost on the first classes; None if it was not measured."""
        return self.remembered[0] - self.remembered[1] if self.remembered else None


def run(
    stream: Stream,
    open_method: OpenMethod,
    *,
    answers: Answers | None = None,
    seed: int = 0,
    at_once: bool = False,
    ask_at_end: bool = True,
    on_events: Callable[[list[Event], int], None] | None = None,
    on_model: Callable[[Any], None] | None = None,
) -> Run:
    """Run a stream to its end.

    Parameters
    ----------
    stream
        Images in order, and the truth.
    open_method
        Called with a function that takes every event; returns the method.
    answers
        How the simulated person answers; at once and correctly if not given.
    seed
        Draws the person's delays and mistakes.
    at_once
        Answer every question before the next image, not in rounds; for a `PromptMethod`.
    ask_at_end
        Ask about the images that still wait at the end. Otherwise they get their best class; for a
        `PromptMethod`.
    on_events
        Called after every batch with its events and the position reached, for progress.
    on_model
        Called with the method after the warm-up and at the end, to inspect its vectors.
    """
    start = time.perf_counter()
    events: list[Event] = []
    truth = {str(position): name for position, name in enumerate(stream.names, start=1)}
    person = Person(
        truth, sorted({*stream.warm_up_names, *stream.names}), answers or Answers(), seed
    )
    method = open_method(events.append)
    method.fit(stream.warm_up, stream.warm_up_names)
    seconds_first = method.training_seconds
    first = _recall(method, stream)
    prompt = _prompt(method) if at_once or isinstance(method, PromptMethod) else None
    if on_model:
        on_model(method)
    position = 0
    while position < len(stream.images):
        batch = stream.images[position:][: _images_until_answers(method, prompt, at_once=at_once)]
        position += len(batch)
        new = method.observe(batch)
        if position == len(stream.images):
            new += method.ask_now() if ask_at_end else _prompt(method).settle()
        answers_due = person.due(method.questions(), position)
        new += method.tell({answer.question_id: str(answer.name) for answer in answers_due})
        if on_events:
            on_events(new, position)
    seconds = time.perf_counter() - start
    if on_model:
        on_model(method)
    last = _recall(method, stream)
    return Run(
        events,
        truth,
        seconds,
        method.training_seconds,
        seconds_first,
        None if first is None or last is None else (first, last),
        _forward_rate(method, stream),
    )


def _images_until_answers(method: Method, prompt: PromptMethod | None, *, at_once: bool) -> int:
    """Return how many images to show at a time: those up to the search, or to the round after it.

    `prompt` is the method if it says when it may ask.
    """
    if prompt is None or method.questions():  # open ones wait for a late answer
        return _BATCH
    rounds = -(-prompt.until_search // _BATCH)
    return min(_LARGEST_BATCH, prompt.until_search if at_once else rounds * _BATCH)


def _prompt(method: Method) -> PromptMethod:
    if not isinstance(method, PromptMethod):
        raise InputError(
            f"a method must have until_search and settle() to be answered at once, "
            f"{type(method).__name__} lacks one; let it answer in rounds"
        )
    return method


def _recall(method: Method, stream: Stream) -> float | None:
    """Return the accuracy on held-out images in percent, among the warm-up classes only.

    None if no image was held out.
    """
    names = np.array(stream.held_out_names)
    first = set(stream.warm_up_names)
    columns = [index for index, name in enumerate(method.classes_) if name in first]
    if not len(names):
        return None
    if not columns:
        return 0.0
    best = method.predict_proba(stream.held_out)[:, columns].argmax(axis=1)
    return 100 * float(np.mean(np.asarray(method.classes_)[columns][best] == names))


def _forward_rate(method: Method, stream: Stream, most: int = 2000) -> float:
    sample = stream.images[-most:]
    method.predict_proba(sample[:_BATCH])  # the first call allocates memory
    start = time.perf_counter()
    method.predict_proba(sample)
    return len(sample) / (time.perf_counter() - start)
