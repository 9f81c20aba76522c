"""A stream folder with its engine in memory: only it changes the stream's state.

Every change of the engine is a step: some images, a message, a new model, a search for questions.
csim changes the engine in memory, then writes the step and its events in one transaction. After a
crash it loads the last snapshot and replays the steps after it. The engine is then as it was when
the last step was written.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path

import csim.records as r
from csim.build import build, open_frozen
from csim.engine import Engine
from csim.errors import BusyError, InputError
from csim.folder import inbox
from csim.folder.access import WriteAccess
from csim.folder.database import transaction, translate_errors
from csim.folder.folding import KeptHistory, folded_among
from csim.folder.inputs import new_items
from csim.folder.layout import Config, Layout
from csim.folder.log import Change, Log, Step
from csim.folder.pictures import is_held
from csim.folder.replay import replay
from csim.folder.snapshots import Snapshots, remove_unneeded_files
from csim.folder.trainer_process import TrainerProcess
from csim.folder.training import Trainer, Training
from csim.sources.arrival import Decoded, Trouble

BATCH = 512  # images per transaction: more cost less, but messages wait longer
_MOST_BATCHES = 4  # per transaction, on a fast stream: SQLite takes 2,978 images in one statement
MESSAGES = 1000  # per transaction: more cost less, but a crash repeats more of them


class Stream:
    """Run a stream folder, which this process holds until `close`.

    Only the thread that opened it may use it. Other threads and processes send messages
    (`csim.folder.send.send`) and read (`csim.folder.reader.Reader`).

    Parameters
    ----------
    root
        The folder.
    is_live
        Let a new model take over as soon as it is ready, not at a position fixed in advance.
    trainer
        Returns what trains the models, given the folder's files. With None, models that are due
        wait for the next run.
    is_stopped
        Called while csim waits for a model. If it returns true, `take` and `finish` return with
        what happened until then, and later images are not taken.
    clock
        Returns the seconds since 1970, in UTC. csim records them and never decides by them.
    history
        From now on, how long the folder lists every image; None changes nothing.
    """

    def __init__(
        self,
        root: Path,
        *,
        is_live: bool = False,
        trainer: Callable[[Layout], Trainer] | None = TrainerProcess,
        is_stopped: Callable[[], bool] = lambda: False,
        clock: Callable[[], float] = time.time,
        history: KeptHistory | None = None,
    ) -> None:
        self.layout = Layout(root)
        self._thread = threading.get_ident()
        self._is_stopped = is_stopped
        with ExitStack() as resources:
            self._access = WriteAccess(self.layout)
            resources.callback(self._access.release)
            self._connection = self._access.connection
            with translate_errors(self._connection):
                self.config = _configure(self._connection, history)
                self.batch_size = _batch_size(self.config.settings.ask_every)
                remove_unneeded_files(self._connection, self.layout, with_hidden=True)
                self._frozen = open_frozen(self.config.settings, expected=self.config.encoder)
                self._engine = build(self.config.settings).engine
                self._snapshots = Snapshots(
                    self._connection, self.layout, self.config, self._access.check
                )
                self.problems = self._snapshots.load(self._engine)
                last = replay(
                    self._connection, self.layout, self.config, self._engine, self._snapshots.step
                )
                self._log = Log(self._connection, self.layout, last, clock)
                self._training = Training(
                    self._connection,
                    self.layout,
                    self.config,
                    None if trainer is None else trainer(self.layout),
                    is_live=is_live,
                )
                resources.callback(self._training.stop)
                self._training.begin_due()
            self._resources = resources.pop_all()

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def position(self) -> int:
        """Return how many images have been taken."""
        return self._engine.position

    @property
    def is_training(self) -> bool:
        """Return whether a model is being trained."""
        return self._training.version is not None

    def known(self, item_ids: Sequence[str]) -> dict[str, bytes | None]:
        """Return those ids whose images have been taken, without those that could not be read.

        Each has the sha256 of its picture, or None if the picture is no longer kept.
        """
        marks = ", ".join("?" * len(item_ids))
        query = f"SELECT id, picture FROM items WHERE id IN ({marks})"  # noqa: S608
        with translate_errors(self._connection):
            listed = dict(self._connection.execute(query, item_ids).fetchall())
            others = [item_id for item_id in item_ids if item_id not in listed]
            return listed | dict.fromkeys(folded_among(self._connection, others))

    def scores(self, images: r.Images) -> r.Floats:
        """Return the scores of images under the model in use, (n, K); nothing changes."""
        inputs = images if self._frozen is None else self._frozen.embed(images)
        return self._engine.head.scores(self._engine.gallery.embed(inputs))

    def take(self, arrivals: Sequence[Decoded], views: r.GivenViews = ()) -> list[r.Event]:
        """Classify images and return what happened, in order; when this returns they are safe.

        The events include those of messages and new models that were due before an image.

        Parameters
        ----------
        arrivals
            The images.
        views
            The view of each image, made elsewhere, or None; empty if there are none. csim embeds
            the images that have no view of the model in use.
        """
        if views and len(views) != len(arrivals):
            raise InputError(
                f"views must be one per image or none, got {len(views)} for {len(arrivals)} images"
            )
        _check_thread(self._thread, self.layout)
        _check_new([arrival.id for arrival in arrivals], self.known)
        events: list[r.Event] = []
        while arrivals:
            events += self.attend()
            if self._training.is_due(self.position):  # stopped while csim waited for the model
                return events
            message_at = inbox.next_position(self._connection, self.position)
            batch_end = self.position + self.batch_size - self.position % self.batch_size
            room = _images_until(self.position, batch_end, message_at, self._training.switch_at)
            items = new_items(arrivals[:room], self.position + 1, self._frozen, views[:room])
            # A frozen vector is in its item; its view is made of that.
            given = views[:room] if self._frozen is None else ()
            used = _views_of(self._engine.model, given)
            with self._log.changing():
                happened = self._engine.observe(items, used)
            step = _observe_step(arrivals[:room], items, used, self._engine)
            events += self._write([Change(step, happened)])
            arrivals = arrivals[room:]
            views = views[room:]
        return events

    def attend(self, on_messages: Callable[[int], None] = lambda _: None) -> list[r.Event]:
        """Take the messages that wait, and a new model if it is due; return what happened.

        Parameters
        ----------
        on_messages
            Called after every thousand messages with the number that was taken so far.
        """
        _check_thread(self._thread, self.layout)
        self._access.check()
        self._log.write_troubles()
        events = self._take_messages(on_messages)
        # Without lag, a model can make the next one due at the same position.
        while self._training.is_due(self.position) and self._training.is_ready(self._is_stopped):
            events += self._install()
        return events

    def note(self, trouble: Trouble) -> None:
        """Count an image that cannot be taken; the next `attend`, `take` or `close` writes it."""
        self._log.note(trouble)

    def finish(self, *, ask: bool = True) -> list[r.Event]:
        """Take messages, wait for training and ask, as no image is to come; return what happened.

        Parameters
        ----------
        ask
            Search for questions about the images that wait, and give the others their best class.
        """
        _check_thread(self._thread, self.layout)
        events = self._take_messages()
        while self.is_training:
            if not self._training.is_ready(self._is_stopped):
                return events
            events += self._install()
            events += self._take_messages()
        last = self._log.last
        if ask and (last.kind, last.position) != ("ask", self.position):
            with self._log.changing():
                happened = self._engine.ask_now()
            events += self._write([Change(Step("ask"), happened)])
        return events

    def close(self) -> None:
        """Write a snapshot and release the folder; the next run repeats unfinished training."""
        try:
            self._log.write_troubles()
            if self._log.last.number > self._snapshots.step and not self._log.is_behind:
                self._snapshots.save(self._engine, self._log.last.number)
        finally:
            self._resources.close()

    def _take_messages(self, on_messages: Callable[[int], None] = lambda _: None) -> list[r.Event]:
        """Take messages one by one, so that a refused one does not hold up the others."""
        events: list[r.Event] = []
        waiting = inbox.waiting(self._connection, self.position)
        for start in range(0, len(waiting), MESSAGES):
            with self._log.changing():
                changes = [
                    _take_message(self._engine, self._connection, queued)
                    for queued in waiting[start:][:MESSAGES]
                ]
            events += self._write(changes)
            on_messages(start + len(changes))
        return events

    def _install(self) -> list[r.Event]:
        self._access.check()
        trained = self._training.finish()
        with self._log.changing():
            events = self._engine.install(trained.model)
        record = partial(self._training.record_installed, trained)
        return self._write([Change(Step("install", trained.model.version), events, record)])

    def _write(self, changes: Sequence[Change]) -> list[r.Event]:
        """Write steps, job files first, then the rest in one transaction; return their events."""
        events = [event for change in changes for event in change.events]
        jobs = [event.job for event in events if isinstance(event, r.TrainingDue)]
        base = None if self._engine.model is None else self._engine.model.version
        self._access.check()
        self._training.write_jobs(jobs, base)
        record = partial(self._training.record_jobs, jobs, base, self.position)
        self._log.write(changes, self.position, record)
        self._log.write_troubles()
        self._training.begin_due()
        if self._snapshots.is_due:
            self._snapshots.save(self._engine, self._log.last.number)
        return events


def model_in_use(stream: Stream) -> r.Model:
    """Return the model that a stream decides with now."""
    assert stream._engine.model is not None
    return stream._engine.model


def _check_thread(owner: int, layout: Layout) -> None:
    if threading.get_ident() != owner:
        raise BusyError(
            f"{layout.root} must be run by the thread that opened it, another one calls; "
            "call it there, or send messages with csim.folder.send.send"
        )


def _check_new(item_ids: Sequence[str], known: Callable[[Sequence[str]], Iterable[str]]) -> None:
    """Raise an `InputError` if an image has come before, in this call or an earlier one."""
    seen: set[str] = set()
    for start in range(0, len(item_ids), BATCH):
        seen.update(known(item_ids[start : start + BATCH]))
        for item_id in item_ids[start : start + BATCH]:
            if item_id in seen:
                raise InputError(
                    f"the id {item_id!r} belongs to an earlier image; an id must be unique in the "
                    "stream, so leave out images whose id is in known()"
                )
            seen.add(item_id)


def _take_message(
    engine: Engine, connection: sqlite3.Connection, queued: inbox.QueuedMessage
) -> Change:
    events, refusal = inbox.take(engine, queued.message)
    mark = partial(inbox.mark_taken, connection, queued.number, refusal)
    return Change(Step("inbox", queued.number), events, mark)


def _configure(connection: sqlite3.Connection, history: KeptHistory | None) -> Config:
    """Return the folder's configuration, after changing its history if one is given."""
    config = Config.read(connection)
    if history is None or history == config.history:
        return config
    config = replace(config, history=history)
    with transaction(connection):
        config.write(connection)
    return config


def _batch_size(ask_every: int) -> int:
    """Return how many images share a transaction.

    On a fast stream it is a quarter of those between two searches: a tenth of a second.
    """
    return BATCH * max(1, min(round(ask_every / (4 * BATCH)), _MOST_BATCHES))


def _images_until(position: int, *borders: int | None) -> int:
    """Return how many images come before a batch, a message or a model ends the step."""
    return min(border for border in borders if border is not None) - position


def _views_of(model: r.Model | None, views: r.GivenViews) -> r.GivenViews:
    """Return views with None in place of those of other models."""
    version = None if model is None else model.version
    return [view if view is not None and view.model == version else None for view in views]


def _observe_step(
    arrivals: Sequence[Decoded], items: Sequence[r.Item], views: r.GivenViews, engine: Engine
) -> Step:
    """Return the step of some images that an engine has taken; it says which pictures to keep."""
    return Step(
        "observe",
        len(items),
        items,
        views,
        [arrival.kept if is_held(engine, arrival.id) else None for arrival in arrivals],
        [arrival.fingerprint for arrival in arrivals],
        [arrival.source_name for arrival in arrivals],
    )
