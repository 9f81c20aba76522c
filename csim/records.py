"""The values that pass between the stages.

An `Item` goes in; a `Decision` is made about it; candidates become a `Group`, a group becomes a
`Question`, a person's words are an `Answer`; labelled images become a `Job`, a job becomes a `Model`.
What happened on the way comes back as events, named in the past tense.

`Item` has no label: nothing that receives items can look at the truth.
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
    """An image in the stream; warm-up images stand at position 0, the stream starts at 1."""

    id: ItemId
    position: int
    image: Images = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Decision:
    """The class of highest score, and whether any class found its own score high enough.

    `class_id` is None only when there is no class at all.
    """

    class_id: ClassId | None
    score: float
    is_accepted: bool


@dataclass(frozen=True, slots=True)
class Group:
    """Candidates thought alike, the one that will stand for them, and where that one lies."""

    members: tuple[Item, ...]
    representative: Item
    vector: Floats = field(compare=False, repr=False)  # (d,), the representative's


@dataclass(frozen=True, slots=True)
class Question:
    """A group put to a person: "what is this?", asked of the representative, answered for all members.

    `guesses` are the model's own best classes for the representative, best first, with their scores.
    """

    id: QuestionId
    position: int
    representative: Item
    members: tuple[Item, ...]
    guesses: Guesses = field(default=(), compare=False)


class Encoder(Protocol):
    """Anything that turns images into vectors."""

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
    """All that one training run needs, so that it can happen anywhere and give the same model."""

    version: int
    seed: int
    images: Images = field(compare=False, repr=False)  # (n, h, w) or (n, h, w, 3)
    labels: Ints = field(compare=False, repr=False)  # (n,), a class id each
    is_told: Bools = field(compare=False, repr=False)  # (n,), whether a person saw this very image


@dataclass(frozen=True, slots=True)
class Model:
    """A trained model as plain arrays, so that it can be saved and sent.

    `network` holds every weight by name. `weights` (K, d) and `bias` (K,) are its one-vs-rest layer, a
    row per class. `held_out` are vectors of told images that no training saw.
    """

    version: int
    class_ids: tuple[ClassId, ...]
    image_shape: tuple[int, ...]
    network: Mapping[str, Floats] = field(compare=False, repr=False)
    weights: Floats = field(compare=False, repr=False)
    bias: Floats = field(compare=False, repr=False)
    held_out: Floats = field(compare=False, repr=False)  # (m, d)


Progress = Callable[[int, int, float], None]  # epoch, epochs, mean loss


# What a person says of a question.
@dataclass(frozen=True, slots=True)
class Named:
    """The whole group is of this class."""

    question_id: QuestionId
    name: str


@dataclass(frozen=True, slots=True)
class Skip:
    """Cannot tell, or not now; it may still be answered later."""

    question_id: QuestionId


@dataclass(frozen=True, slots=True)
class Split:
    """The group is mixed: ask about its parts instead.

    Without `parts` (item ids, part by part) the group is halved where its vectors lie farthest apart.
    """

    question_id: QuestionId
    parts: tuple[tuple[ItemId, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Undo:
    """Take back the answer to a question; it may then be answered again."""

    question_id: QuestionId


@dataclass(frozen=True, slots=True)
class Correct:
    """Replace the answer to a question by another class."""

    question_id: QuestionId
    name: str


# What a person says of a class.
@dataclass(frozen=True, slots=True)
class AddClass:
    """Make a class known by name before its first image."""

    name: str


@dataclass(frozen=True, slots=True)
class RenameClass:
    """Give a class another name; its id stays."""

    class_id: ClassId
    name: str


@dataclass(frozen=True, slots=True)
class MergeClasses:
    """Make one class out of two: `source` goes up in `target`."""

    source: ClassId
    target: ClassId


@dataclass(frozen=True, slots=True)
class RemoveClass:
    """Forget a class and its stored images."""

    class_id: ClassId


Answer = Named | Skip | Split | Undo | Correct
Edit = AddClass | RenameClass | MergeClasses | RemoveClass


# What happened.
@dataclass(frozen=True, slots=True)
class Accepted:
    """An image was given a class at arrival."""

    position: int
    item_id: ItemId
    class_id: ClassId
    score: float
    model: int


@dataclass(frozen=True, slots=True)
class Rejected:
    """An image fitted no class and waits as a candidate; `nearest` is the class that came closest."""

    position: int
    item_id: ItemId
    nearest: ClassId | None
    score: float
    model: int


@dataclass(frozen=True, slots=True)
class Asked:
    """A question was opened."""

    position: int
    question: Question


@dataclass(frozen=True, slots=True)
class Joined:
    """Images that came later became members of an open question, instead of raising another."""

    position: int
    question_id: QuestionId
    item_ids: tuple[ItemId, ...]


@dataclass(frozen=True, slots=True)
class Left:
    """Images are no longer members of an open question: another has taken them."""

    position: int
    question_id: QuestionId
    item_ids: tuple[ItemId, ...]


@dataclass(frozen=True, slots=True)
class Labelled:
    """An image got its class from an answer; `is_told` if a person saw this very image."""

    position: int
    item_id: ItemId
    class_id: ClassId
    question_id: QuestionId
    is_told: bool


@dataclass(frozen=True, slots=True)
class Told:
    """A person told an image's class to a method that had answered for it already: it learns, its answer stands."""

    position: int
    item_id: ItemId
    class_id: ClassId
    question_id: QuestionId


@dataclass(frozen=True, slots=True)
class Revised:
    """An image's class changed after the fact; None stands for no class."""

    position: int
    item_id: ItemId
    before: ClassId | None
    after: ClassId | None


@dataclass(frozen=True, slots=True)
class Skipped:
    """A question was put aside."""

    position: int
    question_id: QuestionId


@dataclass(frozen=True, slots=True)
class Divided:
    """A question was split; its parts are asked on their own."""

    position: int
    question_id: QuestionId
    into: tuple[QuestionId, ...]


@dataclass(frozen=True, slots=True)
class Undone:
    """The answer to a question was taken back."""

    position: int
    question_id: QuestionId


@dataclass(frozen=True, slots=True)
class Corrected:
    """The answer to a question was replaced by another class."""

    position: int
    question_id: QuestionId
    class_id: ClassId


@dataclass(frozen=True, slots=True)
class Expired:
    """A question waited so long that its images were given up to keep memory bounded."""

    position: int
    question_id: QuestionId


@dataclass(frozen=True, slots=True)
class ClassAdded:
    """A class got its id."""

    position: int
    class_id: ClassId
    name: str


@dataclass(frozen=True, slots=True)
class ClassRenamed:
    """A class got another name."""

    position: int
    class_id: ClassId
    name: str


@dataclass(frozen=True, slots=True)
class ClassesMerged:
    """A class went up in another."""

    position: int
    source: ClassId
    target: ClassId


@dataclass(frozen=True, slots=True)
class ClassRemoved:
    """A class is no longer given to any image."""

    position: int
    class_id: ClassId


@dataclass(frozen=True, slots=True)
class TrainingDue:
    """A new model should be trained; whoever drives the engine does it and calls `install`."""

    position: int
    job: Job


@dataclass(frozen=True, slots=True)
class Retrained:
    """A new model is in use."""

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
