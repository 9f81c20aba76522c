"""The values that pass between the stages.

An `Item` enters and csim makes a `Decision` about it. Candidates become a `Group`, a group becomes
a `Question`, and a person gives an `Answer`. Labelled items become a `Job`, and a job becomes a
`Model`. What happened is reported as events, named in the past tense.

`Item` has no label, so nothing that receives items can see the truth.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

Images = npt.NDArray[np.uint8]  # (n, h, w) or (n, h, w, 3); one image lacks the first axis
Floats = npt.NDArray[np.floating[Any]]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
State = dict[str, Any]  # plain values, lists, dicts and arrays: what checkpoint.py can write

ClassId = int  # never changes, never given twice
ItemId = str
QuestionId = int
Guesses = tuple[tuple[ClassId, float], ...]  # best first


@dataclass(frozen=True, slots=True)
class Item:
    """Hold one image; warm-up images have position 0, the stream starts at 1."""

    id: ItemId
    position: int
    image: Images = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Decision:
    """Hold the class of highest score, and whether any class passed its threshold.

    `class_id` is None only when there is no class at all.
    """

    class_id: ClassId | None
    score: float
    is_accepted: bool


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
    """

    id: QuestionId
    position: int
    representative: Item
    members: tuple[Item, ...]
    guesses: Guesses = field(default=(), compare=False)


class Encoder(Protocol):
    """Turn images into vectors."""

    def embed(self, images: Images) -> Floats:
        """Return one vector per image, (n, d)."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """Hold an item's vector and features under one model version, to hand it to the engine."""

    vector: Floats  # (d,), unit length
    features: Floats  # (f,), which training did not pull onto the known classes
    model: int


GivenViews = Sequence[
    View | None
]  # one per item, None where there is none; empty if there are none


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
    images: Images = field(compare=False, repr=False)  # (n, h, w) or (n, h, w, 3)
    labels: Ints = field(compare=False, repr=False)  # (n,), a class id each
    is_told: Bools = field(compare=False, repr=False)  # (n,), whether a person saw this very image


@dataclass(frozen=True, slots=True)
class Model:
    """Hold a trained model as plain arrays, so that it can be saved and sent.

    `network` holds every weight by name. `weights` (K, d) and `bias` (K,) are its one-vs-rest
    layer, a row per class. `held_out` are vectors of told images that no training saw. `trained`
    (n, d) and `trained_ids` (n,) are the images it was trained on, if thresholds need them.
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


Progress = Callable[[int, int, float], None]  # epoch, epochs, mean loss


# What a person answers to a question.
@dataclass(frozen=True, slots=True)
class Named:
    """Give the whole group this class."""

    question_id: QuestionId
    name: str


@dataclass(frozen=True, slots=True)
class Skip:
    """Leave a question unanswered for now; it can still be answered later."""

    question_id: QuestionId


@dataclass(frozen=True, slots=True)
class Split:
    """Ask about the parts of a mixed group instead.

    Without `parts` (item ids, part by part) csim halves the group where its vectors differ most.
    """

    question_id: QuestionId
    parts: tuple[tuple[ItemId, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Undo:
    """Undo the answer to a question; it can then be answered again."""

    question_id: QuestionId


@dataclass(frozen=True, slots=True)
class Correct:
    """Replace the answer to a question by another class."""

    question_id: QuestionId
    name: str


# What a person changes about a class.
@dataclass(frozen=True, slots=True)
class AddClass:
    """Add a class before its first image."""

    name: str


@dataclass(frozen=True, slots=True)
class RenameClass:
    """Give a class another name; its id stays the same."""

    class_id: ClassId
    name: str


@dataclass(frozen=True, slots=True)
class MergeClasses:
    """Merge the class `source` into `target`."""

    source: ClassId
    target: ClassId


@dataclass(frozen=True, slots=True)
class RemoveClass:
    """Remove a class and its stored images."""

    class_id: ClassId


Answer = Named | Skip | Split | Undo | Correct
Edit = AddClass | RenameClass | MergeClasses | RemoveClass


# What happened.
@dataclass(frozen=True, slots=True)
class Accepted:
    """Report that csim gave an image a class at arrival."""

    position: int
    item_id: ItemId
    class_id: ClassId
    score: float
    model: int


@dataclass(frozen=True, slots=True)
class Rejected:
    """Report that an image fitted no class; `nearest` is the class of highest score."""

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
    """Report that an answer gave an image its class; `is_told` if a person saw this image."""

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
    """Report that an image's class changed later; None means no class."""

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
    """Report that an answer was undone."""

    position: int
    question_id: QuestionId


@dataclass(frozen=True, slots=True)
class Corrected:
    """Report that an answer was replaced by another class."""

    position: int
    question_id: QuestionId
    class_id: ClassId


@dataclass(frozen=True, slots=True)
class Expired:
    """Report that csim forgot an unanswered question to keep memory bounded."""

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
    | Divided | Undone | Corrected | Expired | ClassAdded | ClassRenamed | ClassesMerged
    | ClassRemoved | TrainingDue | Retrained
)  # fmt: skip


def stack(items: Sequence[Item]) -> Images:
    """Return the items' images as one array, (n, h, w) or (n, h, w, 3)."""
    return np.stack([item.image for item in items]) if items else np.zeros((0, 0, 0), np.uint8)
