"""A stream folder with its engine in memory: only it changes the stream's state.

Every change of the engine is a step: some images, a message, a new model, a search for questions.
csim changes the engine in memory, then writes the step and its events in one transaction. After a
crash it loads the last snapshot and replays the steps after it. The engine is then as it was when
the last step was written.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import csim.records as r
from csim.build import build
from csim.errors import InputError
from csim.folder import inbox
from csim.folder.access import WriteAccess
from csim.folder.database import translate_errors
from csim.folder.layout import Config, Layout
from csim.folder.log import Log, Step
from csim.folder.replay import replay
from csim.folder.snapshots import Snapshots, remove_unneeded_files
from csim.folder.trainer_process import TrainerProcess
from csim.folder.training import Trainer, Training
from csim.sources.arrival import Decoded, Trouble

BATCH = 512  # images per transaction: more cost less, but messages wait longer


class Stream:
    """Run a stream folder, which this process holds until `close`.

    Parameters
    ----------
    root
        The folder.
    is_live
        Let a new model take over as soon as it is ready, not at a position fixed in advance.
    trainer
        Returns what trains the models, given the folder's files. With None, models that are due
        wait for the next run.
    """

    def __init__(
        self,
        root: Path,
        *,
        is_live: bool = False,
        trainer: Callable[[Layout], Trainer] | None = TrainerProcess,
    ) -> None:
        self.layout = Layout(root)
        with ExitStack() as resources:
            access = WriteAccess(self.layout)
            resources.callback(access.release)
            self._connection = access.connection
            with translate_errors(self._connection):
                self.config = Config.read(self._connection)
                remove_unneeded_files(self._connection, self.layout, with_hidden=True)
                self._engine = build(self.config.settings).engine
                self._snapshots = Snapshots(self._connection, self.layout, self.config.picture_room)
                self.problems = self._snapshots.load(self._engine)
                last = replay(
                    self._connection, self.layout, self.config, self._engine, self._snapshots.step
                )
                self._log = Log(self._connection, self.layout, last)
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

    def known(self, item_ids: Sequence[str]) -> set[str]:
        """Return those ids whose images have been taken, without those that could not be read."""
        marks = ", ".join("?" * len(item_ids))
        query = f"SELECT id FROM items WHERE id IN ({marks})"  # noqa: S608
        with translate_errors(self._connection):
            return {item_id for (item_id,) in self._connection.execute(query, item_ids)}

    def scores(self, images: r.Images) -> r.Floats:
        """Return the scores of images under the model in use, (n, K); nothing changes."""
        return self._engine.head.scores(self._engine.gallery.embed(images))

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
        events: list[r.Event] = []
        while arrivals:
            events += self.attend()
            message_at = inbox.next_position(self._connection, self.position)
            room = _images_until(self.position, message_at, self._training.switch_at)
            step = _observe_step(
                arrivals[:room], views[:room], self.position + 1, self._engine.model
            )
            with self._log.changing():
                happened = self._engine.observe(step.items, step.views)
            events += self._write(step, happened)
            arrivals = arrivals[room:]
            views = views[room:]
        return events

    def attend(self) -> list[r.Event]:
        """Take the messages that wait, and a new model if it is due; return what happened."""
        events = self._take_messages()
        while self._training.is_due(self.position):  # without lag, one can make the next due here
            events += self._install()
        return events

    def note(self, trouble: Trouble) -> None:
        """Count an image that cannot be taken; csim writes it with the next step."""
        self._log.note(trouble)

    def finish(self, *, ask: bool = True) -> list[r.Event]:
        """Take messages, wait for training and ask, as no image is to come; return what happened.

        Parameters
        ----------
        ask
            Search for questions about the images that wait, and give the others their best class.
        """
        events = self._take_messages()
        while self.is_training:
            events += self._install()
            events += self._take_messages()
        last = self._log.last
        if ask and (last.kind, last.position) != ("ask", self.position):
            with self._log.changing():
                happened = self._engine.ask_now()
            events += self._write(Step("ask"), happened)
        return events

    def close(self) -> None:
        """Write a snapshot and release the folder; the next run repeats unfinished training."""
        try:
            self._log.write_troubles()
            if self._log.last.number > self._snapshots.step and not self._log.is_behind:
                self._snapshots.save(self._engine, self._log.last.number)
        finally:
            self._resources.close()

    def _take_messages(self) -> list[r.Event]:
        """Take messages one by one, so that a refused one does not hold up the others."""
        events: list[r.Event] = []
        for queued in inbox.waiting(self._connection, self.position):
            with self._log.changing():
                happened, refusal = inbox.take(self._engine, queued.message)
            mark = partial(inbox.mark_taken, self._connection, queued.number, refusal)
            events += self._write(Step("inbox", queued.number), happened, mark)
        return events

    def _install(self) -> list[r.Event]:
        trained = self._training.finish()
        with self._log.changing():
            events = self._engine.install(trained.model)
        record = partial(self._training.record_installed, trained)
        return self._write(Step("install", trained.model.version), events, record)

    def _write(self, step: Step, events: list[r.Event], *more: Callable[[], None]) -> list[r.Event]:
        """Write a step, job files first, then the rest in one transaction; return its events."""
        jobs = [event.job for event in events if isinstance(event, r.TrainingDue)]
        base = None if self._engine.model is None else self._engine.model.version
        self._training.write_jobs(jobs, base)
        record = partial(self._training.record_jobs, jobs, base, self.position)
        self._log.write(step, self.position, events, *more, record)
        self._log.write_troubles()
        self._training.begin_due()
        if self._snapshots.is_due:
            self._snapshots.save(self._engine, self._log.last.number)
        return events


def _images_until(position: int, *borders: int | None) -> int:
    """Return how many images come before a batch, a message or a model ends the step."""
    batch_end = position + BATCH - position % BATCH
    return min(border for border in (batch_end, *borders) if border is not None) - position


def _observe_step(
    arrivals: Sequence[Decoded], views: r.GivenViews, first: int, model: r.Model | None
) -> Step:
    """Return the step of images that begin at a position, without views of other models."""
    items = [
        r.Item(arrival.id, position, arrival.image)
        for position, arrival in enumerate(arrivals, start=first)
    ]
    version = None if model is None else model.version
    used = [view if view is not None and view.model == version else None for view in views]
    files = {arrival.id: arrival.kept for arrival in arrivals}
    return Step("observe", len(items), items, files, used)
