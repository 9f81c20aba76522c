"""`StreamClassifier`, the library interface: all in memory, models are trained when due."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

import csim.checkpoint as checkpoint
import csim.records as r
from csim.ask.catalogue import clean_labels
from csim.ask.entries import Status
from csim.ask.labellers import Labeller
from csim.build import Parts, build, open_frozen
from csim.classes import Classes
from csim.embed.encoder import CheckedEncoder
from csim.embed.gallery import Encoder
from csim.embed.network_trainer import Progress
from csim.engine import Engine
from csim.errors import CheckpointError, InputError, NotFittedError, StorageError
from csim.items import check_ids, free_ids, freeze_items, make_items, resized_shape
from csim.messages import Answer, Correct, Junk, LabelImages, Skip, Split, Undo, name_questions
from csim.metrics.audit import AuditFigures, Sample, estimate
from csim.settings import Settings
from csim.sources.load_images import load_images, load_labelled
from csim.threads import one_at_a_time


class StreamClassifier:
    """Classify a stream of images and learn the classes that appear in it.

    You may call it from several threads. Calls take turns, also with those that train.

    Parameters
    ----------
    settings
        Everything that can be tuned; the default preset if not given.
    encoder
        Any object with `embed(images) -> (n, d)`, used instead of csim's network or of the encoder
        that the settings name. csim calls it once per image and keeps the vector.
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
        encoder: Encoder | None = None,
        on_event: Callable[[r.Event], None] | None = None,
    ) -> None:
        if encoder is not None and not callable(getattr(encoder, "embed", None)):
            raise InputError(
                "an encoder must have a method embed(images) that returns (n, d), "
                f"{type(encoder).__name__} has none; add it"
            )
        self.settings = settings or Settings()
        self.training_seconds = 0.0
        self._lock = threading.RLock()  # `on_event` may call the classifier
        self._given_encoder = encoder
        self._on_event = on_event
        self._parts: Parts | None = None
        self._frozen: CheckedEncoder | None = None
        self._image_shape: tuple[int, ...] = ()

    @one_at_a_time
    def fit(
        self,
        images: object,
        names: Iterable[Any] | None = None,
        *,
        progress: Progress | None = None,
    ) -> StreamClassifier:
        """Learn the first classes; forget everything learned before.

        Parameters
        ----------
        images
            An array (n, h, w) or (n, h, w, 3) with `names`; or a folder with a subfolder per class;
            or a PyTorch `Dataset` or `DataLoader` of (image, label) pairs. If the settings name a
            pretrained encoder, csim resizes images of any size.
        names
            One class name per image. csim turns numbers into text: names are always text.
        progress
            Called after every epoch with its number, the number of epochs and the mean loss.
        """
        frozen = open_frozen(self.settings, self._given_encoder)
        batch, labels = load_labelled(images, names, resize_to=resized_shape(frozen))
        labels = clean_labels(labels)
        ids = [f"warm-up {index}" for index in range(len(batch))]
        items = make_items(ids, [0] * len(batch), batch, frozen)
        parts = self._build(frozen)
        events = self._train(parts, parts.engine.warm_up(items, labels), progress)
        self._parts = parts
        self._frozen = frozen
        self._image_shape = batch.shape[1:]
        self._publish(events)
        return self

    @one_at_a_time
    def observe(self, images: object, ids: Sequence[str] | None = None) -> list[r.Event]:
        """Classify the next images of the stream.

        Parameters
        ----------
        images
            Any number of images of the warm-up's shape: an array, a folder, a `Dataset` or a
            `DataLoader`. Of any size, if the settings name a pretrained encoder.
        ids
            One unique text per image, to find it again in events. If not given, it is the position,
            as in "17", or "17 (2)" if you gave "17" to an earlier image.
        """
        engine = self._engine
        batch = self._load(images)
        first = engine.position + 1
        if ids is None:
            ids = free_ids(first, len(batch), self._holders())
        else:
            check_ids(ids, len(batch), self._holders())
        items = make_items(ids, range(first, first + len(batch)), batch, self._frozen)
        return self._publish(engine.observe(items))

    @one_at_a_time
    def questions(self, status: Status = "open") -> list[r.Question]:
        """Return the questions of a status, oldest first.

        A status is "open", "answered", "skipped", "split" or "undone".
        """
        return self._engine.dialogue.ledger.questions(status)

    @one_at_a_time
    def tell(
        self, question: r.QuestionId | Mapping[r.QuestionId, str], name: str | None = None
    ) -> list[r.Event]:
        """Answer a question, `tell(7, "heron")`, or several, `tell({7: "heron", 9: "crane"})`.

        Several answers at once train at most one model, after the last answer.
        """
        return self._tell(name_questions(question, name))

    @one_at_a_time
    def junk(self, question_id: r.QuestionId) -> list[r.Event]:
        """Say that a group is nothing of interest: it and images like it get no class."""
        return self._tell([Junk(question_id)])

    @one_at_a_time
    def label(self, item_ids: Sequence[r.ItemId], name: str | None) -> list[r.Event]:
        """Say what images are without being asked, `label(["17", "18"], "heron")`; None for junk.

        Each must be recent, stored or shown by a question, and counts as one label. It becomes an
        answered question of its own, so that you can undo or correct it. The events name its id.
        """
        return self._run(lambda engine: engine.edit(LabelImages(tuple(item_ids), name)))

    @one_at_a_time
    def skip(self, question_id: r.QuestionId) -> list[r.Event]:
        """Leave a question unanswered for now; you can still answer it later."""
        return self._tell([Skip(question_id)])

    @one_at_a_time
    def split(
        self, question_id: r.QuestionId, parts: Sequence[Sequence[str]] = ()
    ) -> list[r.Event]:
        """Ask about the parts (item ids) of a mixed group instead; by default, its two halves."""
        return self._tell([Split(question_id, tuple(tuple(part) for part in parts))])

    @one_at_a_time
    def undo(self, question_id: r.QuestionId) -> list[r.Event]:
        """Undo an answer, a skip or a split; a class with no other answer is removed at once."""
        return self._tell([Undo(question_id)])

    @one_at_a_time
    def correct(self, question_id: r.QuestionId, name: str | None) -> list[r.Event]:
        """Replace an answer; all images that it labelled get the new class. None means junk."""
        return self._tell([Correct(question_id, name)])

    @one_at_a_time
    def ask_now(self) -> list[r.Event]:
        """Search for questions now, even if few candidates wait."""
        return self._publish(self._engine.ask_now())

    @one_at_a_time
    def settle(self) -> list[r.Event]:
        """Give images that still wait their best class, without a question; for a stream's end."""
        engine = self._engine
        return self._publish(engine.second_look.settle_all(engine.gallery, engine.position))

    @property
    @one_at_a_time
    def until_search(self) -> int:
        """Return after how many more images csim may search for questions, at the earliest.

        If you observe at most that many images at a time, you can answer every question before the
        next image is classified.
        """
        engine = self._engine
        return engine.discovery.until_due(engine.position, len(engine.dialogue.ledger.open_ids))

    @one_at_a_time
    def answer_with(self, labeller: Labeller) -> list[r.Event]:
        """Let a labeller answer all open questions at once."""
        return self._tell([labeller.answer(question) for question in self.questions()])

    @one_at_a_time
    def predict(self, images: object) -> npt.NDArray[np.object_]:
        """Return a class name per image, None for unknown and for junk; change nothing."""
        engine = self._engine
        names = engine.dialogue.catalogue.names()
        scores = self._scores(images)
        engine.refresh()
        decisions = engine.head.decide(scores)
        given = [d.class_id if d.is_accepted else None for d in decisions]
        return np.array([None if c is None else names.get(c) for c in given], object)

    @one_at_a_time
    def predict_proba(self, images: object) -> r.Floats:
        """Return each class's probability for each image, (n, K), in the order of `classes_`.

        Each class is scored against the rest, so a row need not sum to 1: all may be low.
        """
        class_ids = self._engine.head.class_ids
        return self._scores(images)[:, [class_id != r.JUNK for class_id in class_ids]]

    @one_at_a_time
    def transform(self, images: object) -> r.Floats:
        """Return each image's vector of unit length, (n, d)."""
        gallery = self._engine.gallery
        batch = self._load(images)
        if not len(batch):
            return np.zeros((0, self._model.weights.shape[1]))
        return gallery.embed(batch if self._frozen is None else self._frozen.embed(batch))

    @property
    @one_at_a_time
    def classes_(self) -> npt.NDArray[np.str_]:
        """Return the names of the classes that the model knows, in the order of its columns."""
        names = self._engine.dialogue.catalogue.names()
        return np.array([names[class_id] for class_id in self._engine.head.named_classes], np.str_)

    @property
    def classes(self) -> Classes:
        """Return all classes, learned or not, to list, add, rename, merge and remove."""
        return Classes(
            self._engine, self._lock, lambda change: self._run(lambda engine: engine.edit(change))
        )

    @property
    @one_at_a_time
    def audit(self) -> AuditFigures | None:
        """Return the accuracy estimated from the latest audited images, without the truth.

        None until a question of the audit is answered; the setting `audit` sets how many there are.
        """
        dialogue = self._engine.dialogue
        current = dialogue.catalogue.current
        return estimate(
            Sample(current(event.answer), current(event.at_arrival), current(event.today))
            for event in dialogue.audit.answered()
        )

    @one_at_a_time
    def save(self, path: str | Path) -> None:
        """Write everything to one file, except an encoder of your own."""
        state = self._engine.state() | {"model": checkpoint.model_state(self._model)}
        extra = {
            "settings": self.settings.to_dict(),
            "is_foreign": self._given_encoder is not None,
            "image_shape": self._image_shape,
        }
        if not (folder := Path(path).parent).is_dir():
            raise InputError(f"{folder} must be a folder, it is not; create it, or save elsewhere")
        try:
            checkpoint.write(Path(path), state | extra)
        except OSError as error:
            raise StorageError(
                f"{path} cannot be written ({error.strerror}); make room or choose another path"
            ) from error

    def __reduce__(self) -> NoReturn:
        raise InputError(
            "a StreamClassifier cannot be pickled or copied; write it with save(path) and read it "
            "with StreamClassifier.load(path)"
        )

    @classmethod
    def load(
        cls,
        path: str | Path,
        *,
        encoder: Encoder | None = None,
        on_event: Callable[[r.Event], None] | None = None,
    ) -> StreamClassifier:
        """Return the classifier that `save` wrote; pass the same `encoder` if it had one.

        csim opens an encoder that the settings name, and refuses another one than before.
        """
        state = checkpoint.read(Path(path))
        if "is_foreign" not in state:
            raise CheckpointError(
                f"{path} must be a file that save() wrote, it is a part of a stream folder; "
                "continue the folder with `csim run`, or export its model with `csim export model`"
            )
        if state["is_foreign"] != (encoder is not None):
            wanted = (
                "needs the encoder it was made with"
                if state["is_foreign"]
                else "was made without an encoder"
            )
            raise CheckpointError(f"{path} {wanted}; pass it accordingly: load(path, encoder=…)")
        classifier = cls(Settings.from_dict(state["settings"]), encoder=encoder, on_event=on_event)
        model = checkpoint.model_from(state["model"])
        frozen = open_frozen(classifier.settings, encoder, model.encoder)
        if frozen is not None:
            freeze_items(state, frozen)
        classifier._parts = classifier._build(frozen)
        classifier._frozen = frozen
        classifier._image_shape = tuple(state["image_shape"])
        classifier._parts.engine.restore(state, model)
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

    def _build(self, frozen: CheckedEncoder | None) -> Parts:
        return build(self.settings, frozen)

    def _load(self, images: object) -> r.Images:
        assert self._parts is not None
        return load_images(images, self._image_shape, resize_to=resized_shape(self._frozen))

    def _scores(self, images: object) -> r.Floats:
        vectors = self.transform(images)
        return self._engine.head.scores(vectors)

    def _holders(self) -> list[Set[r.ItemId]]:
        """Return the ids of earlier images, by what holds them."""
        engine, asked = self._engine, self._engine.dialogue
        holders = (engine.discovery.pool, engine.store, asked.ledger.members, asked.audit)
        return [holder.ids for holder in holders]

    def _tell(self, answers: Sequence[Answer]) -> list[r.Event]:
        return self._run(lambda engine: engine.tell(answers))

    def _run(self, act: Callable[[Engine], list[r.Event]]) -> list[r.Event]:
        engine = self._engine
        assert self._parts is not None
        return self._publish(self._train(self._parts, act(engine)))

    def _train(
        self, parts: Parts, events: list[r.Event], progress: Progress | None = None
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
