"""The values that pass between the stages.

An `Item` enters and csim makes a `Decision` about it. Candidates become a `Group`, a group becomes
a `Question`, and a person gives an `Answer`. Labelled items become a `Job`, and a job becomes a
`Model`. What happened is reported as events, named in the past tense.

`Item` has no label, so nothing that receives items can see the truth.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from csim.light_record import light_record

Images = npt.NDArray[np.uint8]  # (n, h, w) or (n, h, w, 3); one image lacks the first axis
Floats = npt.NDArray[np.floating[Any]]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
State = dict[str, Any]  # plain values, lists, dicts and arrays: what checkpoint.py can write

ClassId = int  # never changes, never given twice
ItemId = str
QuestionId = int
Guesses = tuple[tuple[ClassId, float], ...]  # best first

# What a person calls junk has this id in place of a class. It is no class and has no name, so a
# class that somebody calls "junk" is another thing. -1 stands for "no class" in arrays and sums.
JUNK: ClassId = -2


@light_record
class Item:
    """Hold one image; warm-up images have position 0, the stream starts at 1.

    With a frozen encoder, `frozen` is the vector that it made of the image, (d,). The engine then
    needs no pixels, and `image` is for people to look at.
    """

    id: ItemId
    position: int
    image: Images = field(compare=False, repr=False)
    frozen: Floats | None = field(default=None, compare=False, repr=False)

    @property
    def content(self) -> Images | Floats:
        """Return what models see of the image: its frozen vector, or its pixels."""
        return self.image if self.frozen is None else self.frozen


class Decision(NamedTuple):
    """Hold the class of highest score, and whether any class passed its threshold.

    `class_id` is None only when there is no class at all. It is `JUNK` if the image looks most like
    junk: if it is accepted as such, it waits for no class, but it has none either.
    """

    class_id: ClassId | None
    score: float
    is_accepted: bool

    @property
    def named_class(self) -> ClassId | None:
        """Return the class that the item gets, None if it is rejected or junk."""
        return self.class_id if self.is_accepted and self.class_id != JUNK else None


@dataclass(frozen=True, slots=True)
class Group:
    """Hold items that one answer would label, and the one to show, with its vector."""

    members: tuple[Item, ...]
    representative: Item
    vector: Floats = field(compare=False, repr=False)  # (d,), the representative's


@dataclass(frozen=True, slots=True)
class Question:
    """Ask a person "what is this?" about a representative; the answer labels all members.

    `guesses` are the model's best classes for the representative with their scores, best first.
    An audit's question has none: they could sway the answer. If `is_given`, csim did not ask: a
    person chose this image and said what it is.
    """

    id: QuestionId
    position: int
    representative: Item
    members: tuple[Item, ...]
    guesses: Guesses = field(default=(), compare=False)
    is_audit: bool = False
    is_given: bool = False


@dataclass(frozen=True, slots=True)
class EncoderId:
    """Name a pretrained encoder and the sha256 of its weights; `revision` if it has one.

    A revision is that of a hub's model, or of what csim makes of the weights.
    """

    name: str
    sha256: str
    revision: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """Hold an item's vector and features under one model version, to hand it to the engine."""

    vector: Floats  # (d,), unit length
    features: Floats  # (f,), which training did not pull onto the known classes
    model: int


GivenViews = Sequence[View | None]  # one per item, None where there is none; or empty


@dataclass(frozen=True, slots=True)
class Views:
    """Hold the views of several items under one model."""

    vectors: Floats  # (n, d), unit length
    features: Floats  # (n, f)


@dataclass(frozen=True, slots=True)
class Job:
    """Hold all that a training run needs; wherever it runs, it gives the same model."""

    version: int
    seed: int
    # (n, h, w) or (n, h, w, 3); with a frozen encoder its vectors, (n, d)
    images: Images | Floats = field(compare=False, repr=False)
    labels: Ints = field(compare=False, repr=False)  # (n,), a class id each
    is_told: Bools = field(compare=False, repr=False)  # (n,), whether a person saw this very image


@dataclass(frozen=True, slots=True)
class Model:
    """Hold a trained model as plain arrays, so that it can be saved and sent.

    `network` holds every weight by name. `weights` (K, d) and `bias` (K,) are its one-vs-rest
    layer, a row per class. `held_out` are vectors of told images that no training saw. `trained`
    (n, d) and `trained_ids` (n,) are the images it was trained on, if thresholds need them.
    `image_shape` is that of what it was trained on: of images, or of frozen vectors, (d,).
    `encoder` made these vectors; None if it is csim's own network or yours. `network` may be the
    mean of weights that move: `in_training` are those that the next training starts from, and
    empty if these are `network` itself. `expected` (K, m) are the scores that new images of each
    class can expect, if the model needs no held-out images to know them.
    """

    version: int
    class_ids: tuple[ClassId, ...]
    image_shape: tuple[int, ...]
    network: Mapping[str, Floats] = field(compare=False, repr=False)
    weights: Floats = field(compare=False, repr=False)
    bias: Floats = field(compare=False, repr=False)
    held_out: Floats = field(compare=False, repr=False)  # (m, d)
    trained: Floats = field(default_factory=lambda: np.zeros(0), compare=False, repr=False)
    trained_ids: Ints = field(default_factory=lambda: np.zeros(0, int), compare=False, repr=False)
    encoder: EncoderId | None = None
    in_training: Mapping[str, Floats] = field(default_factory=dict, compare=False, repr=False)
    expected: Floats = field(default_factory=lambda: np.zeros((0, 0)), compare=False, repr=False)


# What happened.
@light_record
class Accepted:
    """Report that csim gave an image a class at arrival."""

    position: int
    item_id: ItemId
    class_id: ClassId
    score: float
    model: int


@light_record
class Rejected:
    """Report that an image fitted no class; `nearest` is the class of highest score, or `JUNK`."""

    position: int
    item_id: ItemId
    nearest: ClassId | None
    score: float
    model: int


@dataclass(frozen=True, slots=True)
class Asked:
    """Report that csim opened a question."""

    position: int
    question: Question


@dataclass(frozen=True, slots=True)
class Joined:
    """Report that later images became members of an open question."""

    position: int
    question_id: QuestionId
    item_ids: tuple[ItemId, ...]


@dataclass(frozen=True, slots=True)
class Left:
    """Report that images left an open question for another one."""

    position: int
    question_id: QuestionId
    item_ids: tuple[ItemId, ...]


@dataclass(frozen=True, slots=True)
class Labelled:
    """Report that an answer gave an image its class, or `JUNK`.

    `is_told` if a person saw this image.
    """

    position: int
    item_id: ItemId
    class_id: ClassId
    question_id: QuestionId
    is_told: bool


@dataclass(frozen=True, slots=True)
class Told:
    """Report a label for an image that a method had already decided; the decision stays."""

    position: int
    item_id: ItemId
    class_id: ClassId
    question_id: QuestionId


@dataclass(frozen=True, slots=True)
class Revised:
    """Report that an image's class changed later; None means no class, `JUNK` that it is junk."""

    position: int
    item_id: ItemId
    before: ClassId | None
    after: ClassId | None


@dataclass(frozen=True, slots=True)
class Skipped:
    """Report that a person skipped a question."""

    position: int
    question_id: QuestionId


@dataclass(frozen=True, slots=True)
class Divided:
    """Report that a question was split; its parts are questions of their own."""

    position: int
    question_id: QuestionId
    into: tuple[QuestionId, ...]


@dataclass(frozen=True, slots=True)
class Undone:
    """Report that an answer, a skip or a split was undone."""

    position: int
    question_id: QuestionId


@dataclass(frozen=True, slots=True)
class Corrected:
    """Report that an answer was replaced by another class."""

    position: int
    question_id: QuestionId
    class_id: ClassId


@dataclass(frozen=True, slots=True)
class Audited:
    """Report the answer about an image that the audit drew; `today` is its class without it."""

    position: int
    item_id: ItemId
    question_id: QuestionId
    at_arrival: ClassId | None
    today: ClassId | None
    answer: ClassId | None  # None once the answer is undone


@dataclass(frozen=True, slots=True)
class Expired:
    """Report that csim forgot a question: to keep memory bounded, or its split was undone."""

    position: int
    question_id: QuestionId


@dataclass(frozen=True, slots=True)
class ClassAdded:
    """Report that a class was added and got its id."""

    position: int
    class_id: ClassId
    name: str


@dataclass(frozen=True, slots=True)
class ClassRenamed:
    """Report that a class was renamed."""

    position: int
    class_id: ClassId
    name: str


@dataclass(frozen=True, slots=True)
class ClassesMerged:
    """Report that one class was merged into another."""

    position: int
    source: ClassId
    target: ClassId


@dataclass(frozen=True, slots=True)
class ClassRemoved:
    """Report that a class was removed; csim gives it to no image any more."""

    position: int
    class_id: ClassId


@dataclass(frozen=True, slots=True)
class ClassRestored:
    """Report that a removed class is back; `merged` are the ids of classes merged into it."""

    position: int
    class_id: ClassId
    name: str
    merged: tuple[ClassId, ...]


@dataclass(frozen=True, slots=True)
class TrainingDue:
    """Report that a model should be trained; the engine's caller does it and calls `install`."""

    position: int
    job: Job


@dataclass(frozen=True, slots=True)
class Retrained:
    """Report that a new model is in use."""

    position: int
    model: int
    class_ids: tuple[ClassId, ...]


Event = (
    Accepted | Rejected | Asked | Joined | Left | Labelled | Told | Revised | Skipped
    | Divided | Undone | Corrected | Audited | Expired | ClassAdded | ClassRenamed | ClassesMerged
    | ClassRemoved | ClassRestored | TrainingDue | Retrained
)  # fmt: skip


def arrivals(items: Sequence[Item], decisions: Sequence[Decision], model: int) -> list[Event]:
    """Return what to report of items that a model decided at arrival.

    Junk is rejected as any image without a class, and then revised to be junk.
    """
    events: list[Event] = []
    for item, (class_id, score, is_accepted) in zip(items, decisions, strict=True):
        if is_accepted and class_id is not None and class_id != JUNK:
            events.append(Accepted(item.position, item.id, class_id, score, model))
            continue
        events.append(Rejected(item.position, item.id, class_id, score, model))
        if is_accepted and class_id == JUNK:
            events.append(Revised(item.position, item.id, None, JUNK))
    return events


def stack(items: Sequence[Item]) -> Images | Floats:
    """Return what models see of items, (n, …): their images, or their frozen vectors."""
    contents: list[npt.NDArray[Any]] = [item.content for item in items]
    if not contents:
        return np.zeros((0, 0, 0), np.uint8)
    return np.concatenate(contents).reshape(-1, *contents[0].shape)  # faster than np.stack
