"""`StreamClassifier`, the library interface: all in memory, models are trained when due."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import csim.checkpoint as checkpoint
import csim.records as r
from csim.ask.catalogue import clean_name
from csim.ask.labellers import Labeller
from csim.ask.ledger import Status
from csim.build import Parts, build
from csim.engine import Engine
from csim.errors import CheckpointError, InputError, NotFittedError
from csim.settings import Settings
from csim.sources.load_images import load_images, load_labelled


class StreamClassifier:
    """Classify a stream of images and learn the classes that appear in it.

    Parameters
    ----------
    settings
        Everything that can be tuned; the default preset if not given.
    encoder
        Any object with `embed(images) -> (n, d)`, used instead of csim's network.
    on_event
        Called with every event, those of `fit` included.

    Examples
    --------
    Two kinds of images are known, and a third turns up.

    >>> from sklearn.datasets import load_digits
    >>> digits = load_digits()
    >>> images, names = digits.images * 15, digits.target.astype(str)
    >>> known = np.isin(names, ["0", "1"])
    >>> clf = StreamClassifier(Settings(min_points=2)).fit(images[known][:200], names[known][:200])
    >>> _ = clf.observe(images[names == "4"][:50])
    >>> _ = clf.ask_now()
    >>> question = clf.questions()[0]
    >>> _ = clf.tell(question.id, "four")
    >>> [summary.name for summary in clf.classes]
    ['0', '1', 'four']
    """

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        encoder: r.Encoder | None = None,
        on_event: Callable[[r.Event], None] | None = None,
    ) -> None:
        self.settings = settings or Settings()
        self.training_seconds = 0.0
        self._given_encoder = encoder
        self._on_event = on_event
        self._parts: Parts | None = None

    def fit(
        self,
        images: object,
        names: Iterable[Any] | None = None,
        *,
        progress: r.Progress | None = None,
    ) -> StreamClassifier:
        """Learn the first classes; forget everything learned before.

        Parameters
        ----------
        images
            An array (n, h, w) or (n, h, w, 3) with `names`; or a folder with a subfolder per class;
            or a PyTorch `Dataset` or `DataLoader` of (image, label) pairs.
        names
            One class name per image. csim turns numbers into text: names are always text.
        progress
            Called after every epoch with its number, the number of epochs and the mean loss.
        """
        batch, labels = load_labelled(images, names)
        labels = [clean_name(label) for label in labels]
        items = [r.Item(f"warm-up {index}", 0, image.copy()) for index, image in enumerate(batch)]
        parts = build(self.settings, self._given_encoder)
        events = self._train(parts, parts.engine.warm_up(items, labels), progress)
        self._parts = parts
        self._publish(events)
        return self

    def observe(self, images: object, ids: Sequence[str] | None = None) -> list[r.Event]:
        """Classify the next images of the stream.

        Parameters
        ----------
        images
            Any number of images of the warm-up's shape: an array, a folder, a `Dataset` or a
            `DataLoader`.
        ids
            One unique text per image, to find it again in events; its position if not given.
        """
        engine = self._engine
        batch = load_images(images, self._model.image_shape)
        first = engine.position + 1
        if ids is None:
            ids = [str(first + index) for index in range(len(batch))]
        else:
            self._check_ids(ids, len(batch))
        items = [
            r.Item(ids[index], first + index, image.copy()) for index, image in enumerate(batch)
        ]
        return self._publish(engine.observe(items))

    def questions(self, status: Status = "open") -> list[r.Question]:
        """Return the questions of a status, oldest first.

        A status is "open", "answered", "skipped", "split" or "undone".
        """
        return self._engine.dialogue.ledger.questions(status)

    def tell(
        self, question: r.QuestionId | Mapping[r.QuestionId, str], name: str | None = None
    ) -> list[r.Event]:
        """Answer a question, `tell(7, "heron")`, or several, `tell({7: "heron", 9: "crane"})`.

        Several answers at once train at most one model, after the last answer.
        """
        if isinstance(question, Mapping):
            return self._tell(
                [r.Named(question_id, text) for question_id, text in question.items()]
            )
        if name is None:
            raise InputError(
                f"an answer to question {question} needs a class name; call skip() to leave it open"
            )
        return self._tell([r.Named(question, name)])

    def skip(self, question_id: r.QuestionId) -> list[r.Event]:
        """Leave a question unanswered for now; you can still answer it later."""
        return self._tell([r.Skip(question_id)])

    def split(
        self, question_id: r.QuestionId, parts: Sequence[Sequence[str]] = ()
    ) -> list[r.Event]:
        """Ask about the parts (item ids) of a mixed group instead; by default, its two halves."""
        return self._tell([r.Split(question_id, tuple(tuple(part) for part in parts))])

    def undo(self, question_id: r.QuestionId) -> list[r.Event]:
        """Undo an answer; a class with no other answer is removed immediately."""
        return self._tell([r.Undo(question_id)])

    def correct(self, question_id: r.QuestionId, name: str) -> list[r.Event]:
        """Replace an answer; all images that it labelled get the new class."""
        return self._tell([r.Correct(question_id, name)])

    def ask_now(self) -> list[r.Event]:
        """Search for questions now, even if few candidates wait."""
        return self._publish(self._engine.ask_now())

    def answer_with(self, labeller: Labeller) -> list[r.Event]:
        """Let a labeller answer all open questions at once."""
        return self._tell([labeller.answer(question) for question in self.questions()])

    def predict(self, images: object) -> npt.NDArray[np.object_]:
        """Return a class name per image, None for unknown; change nothing."""
        engine = self._engine
        names = engine.dialogue.catalogue.names()
        scores = self._scores(images)
        engine.refresh()
        decisions = engine.head.decide(scores)
        given = [
            names[d.class_id] if d.is_accepted and d.class_id is not None else None
            for d in decisions
        ]
        return np.array(given, object)

    def predict_proba(self, images: object) -> r.Floats:
        """Return each class's probability for each image, (n, K), in the order of `classes_`.

        Each class is scored against the rest, so a row need not sum to 1: all may be low.
        """
        return self._scores(images)

    def transform(self, images: object) -> r.Floats:
        """Return each image's vector of unit length, (n, d)."""
        batch = load_images(images, self._model.image_shape)
        return (
            self._engine.gallery.embed(batch)
            if len(batch)
            else np.zeros((0, self._model.weights.shape[1]))
        )

    @property
    def classes_(self) -> npt.NDArray[np.str_]:
        """Return the names of the classes that the model knows, in the order of its columns."""
        names = self._engine.dialogue.catalogue.names()
        return np.array([names[class_id] for class_id in self._engine.head.class_ids], np.str_)

    @property
    def classes(self) -> Classes:
        """Return all classes, learned or not, to list, add, rename, merge and remove."""
        return Classes(self._engine, lambda change: self._run(lambda engine: engine.edit(change)))

    def save(self, path: str | Path) -> None:
        """Write everything to one file, except an encoder of your own."""
        state = self._engine.state() | {"model": checkpoint.model_state(self._model)}
        extra = {"settings": self.settings.to_dict(), "is_foreign": self._given_encoder is not None}
        checkpoint.write(Path(path), state | extra)

    @classmethod
    def load(
        cls,
        path: str | Path,
        *,
        encoder: r.Encoder | None = None,
        on_event: Callable[[r.Event], None] | None = None,
    ) -> StreamClassifier:
        """Return the classifier that `save` wrote; pass the same `encoder` if it had one."""
        state = checkpoint.read(Path(path))
        if state["is_foreign"] != (encoder is not None):
            wanted = (
                "needs the encoder it was made with"
                if state["is_foreign"]
                else "was made without an encoder"
            )
            raise CheckpointError(f"{path} {wanted}; pass it accordingly: load(path, encoder=…)")
        classifier = cls(Settings.from_dict(state["settings"]), encoder=encoder, on_event=on_event)
        classifier._parts = build(classifier.settings, encoder)
        classifier._parts.engine.restore(state, checkpoint.model_from(state["model"]))
        return classifier

    @property
    def _engine(self) -> Engine:
        if self._parts is None:
            raise NotFittedError(
                "the classifier knows no class yet; call fit() with labelled images first"
            )
        return self._parts.engine

    @property
    def _model(self) -> r.Model:
        model = self._engine.model
        assert model is not None
        return model

    def _scores(self, images: object) -> r.Floats:
        vectors = self.transform(images)
        return self._engine.head.scores(vectors)

    def _check_ids(self, ids: Sequence[str], count: int) -> None:
        engine = self._engine
        if (
            len(ids) != count
            or len(set(ids)) != count
            or not all(isinstance(item_id, str) for item_id in ids)
        ):
            raise InputError(
                f"ids must be unique texts, one per image; got {len(ids)} for {count} images"
            )
        held = (engine.store, engine.discovery.pool, engine.dialogue.ledger)
        if taken := next(
            (item_id for item_id in ids if any(item_id in part for part in held)), None
        ):
            raise InputError(
                f"the id {taken!r} belongs to an earlier image; an id must be unique in the stream"
            )

    def _tell(self, answers: Sequence[r.Answer]) -> list[r.Event]:
        return self._run(lambda engine: engine.tell(answers))

    def _run(self, act: Callable[[Engine], list[r.Event]]) -> list[r.Event]:
        engine = self._engine
        assert self._parts is not None
        return self._publish(self._train(self._parts, act(engine)))

    def _train(
        self, parts: Parts, events: list[r.Event], progress: r.Progress | None = None
    ) -> list[r.Event]:
        """Do the training that is due; `TrainingDue` itself is not passed on."""
        while events and isinstance(due := events[-1], r.TrainingDue):
            start = time.perf_counter()
            try:
                model = parts.trainer.train(due.job, parts.engine.model, progress)
            except BaseException:
                parts.engine.schedule.give_up()  # interrupted
                raise
            self.training_seconds += time.perf_counter() - start
            events = events[:-1] + parts.engine.install(model)
        return events

    def _publish(self, events: list[r.Event]) -> list[r.Event]:
        if self._on_event:
            for event in events:
                self._on_event(event)
        return events


@dataclass(frozen=True)
class ClassSummary:
    """Describe a class; `images` is the number of images stored for it."""

    id: r.ClassId
    name: str
    images: int
    is_learned: bool


class Classes:
    """List and edit the classes of a stream; name a class by its name or its id."""

    def __init__(self, engine: Engine, edit: Callable[[r.Edit], list[r.Event]]) -> None:
        self._engine = engine
        self._edit = edit

    def __iter__(self) -> Iterator[ClassSummary]:
        return iter(self.list())

    def list(self) -> list[ClassSummary]:
        """Return all classes in order of id."""
        learned = self._engine.head.class_ids
        store = self._engine.store
        names = self._engine.dialogue.catalogue.names()
        return [ClassSummary(c, name, store.count(c), c in learned) for c, name in names.items()]

    def name(self, class_id: r.ClassId) -> str | None:
        """Return the current name of a class id; None if the class was removed."""
        current = self._engine.dialogue.catalogue.current(class_id)
        return None if current is None else self._engine.dialogue.catalogue.names()[current]

    def add(self, name: str) -> r.ClassId:
        """Add a class before its first image; return its id."""
        self._edit(r.AddClass(name))
        return self._id(name)

    def rename(self, which: str | r.ClassId, name: str) -> None:
        """Give a class another name; its id stays the same."""
        self._edit(r.RenameClass(self._id(which), name))

    def merge(self, source: str | r.ClassId, into: str | r.ClassId) -> None:
        """Merge the class `source` into the class `into`."""
        self._edit(r.MergeClasses(self._id(source), self._id(into)))

    def remove(self, which: str | r.ClassId) -> None:
        """Remove a class and its stored images."""
        self._edit(r.RemoveClass(self._id(which)))

    def _id(self, which: str | r.ClassId) -> r.ClassId:
        return self._engine.dialogue.class_id(which) if isinstance(which, str) else which
