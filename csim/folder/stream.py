"""A stream folder with its engine in memory: the one place that changes the stream's state.

Everything that changes the engine is a step: some images, a message, a new model, a request to ask. A step is done in
memory, then written in one transaction with all that came of it. After a crash the last snapshot is loaded and the
steps after it are done again: the engine is then where it was when the last of them was written.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from threadpoolctl import threadpool_limits

import csim.records as r
from csim.build import build
from csim.checkpoint import checksum
from csim.errors import CsimError, FolderError
from csim.folder import inbox, snapshots
from csim.folder.codec import Message
from csim.folder.database import check, open_for_engine, transaction, translate_errors
from csim.folder.layout import Config, Layout
from csim.folder.lock import Lock
from csim.folder.log import Step, write
from csim.folder.replay import replay
from csim.folder.trainer_process import TrainerProcess, read_model, write_job
from csim.sources.arrival import Decoded, Trouble

BATCH = 512  # images per transaction: more cost less, and let messages wait longer
_WORTH = 20  # times what it costs is done between two snapshots


class Stream:
    """A stream folder, held by this process until `close`.

    Parameters
    ----------
    root
        The folder.
    is_live
        Let a new model take over as soon as it is ready, instead of at a place that is fixed when its training begins.
    trains
        Whether models that are due are trained; otherwise they wait for whoever runs the stream next.
    """

    def __init__(self, root: Path, *, is_live: bool = False, trains: bool = True) -> None:
        self.layout = Layout(root)
        check(self.layout.database)
        self._lock = Lock(self.layout.lock)
        self._is_live, self._trains = is_live, trains
        self._trainer = TrainerProcess(self.layout)
        self._troubles: list[Trouble] = []
        self._is_ahead = False  # the engine knows what is not yet written
        self._threads = threadpool_limits(limits=1)  # the same sums when a step is done again
        try:
            self._connection = open_for_engine(self.layout.database)
        except BaseException:
            self._lock.release()
            self._threads.restore_original_limits()
            raise
        try:
            self._restore()
        except BaseException:
            self._release()
            raise

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def position(self) -> int:
        """How many images have been taken."""
        return self._engine.position

    @property
    def is_training(self) -> bool:
        """Whether a model is under way."""
        return self._trainer.version is not None

    def known(self, item_ids: Sequence[str]) -> set[str]:
        """Return those ids whose images have been taken; one that could not be read may have been mended."""
        query = f"SELECT id FROM items WHERE id IN ({', '.join('?' * len(item_ids))})"  # noqa: S608
        with translate_errors(self._connection):
            return {item_id for (item_id,) in self._connection.execute(query, item_ids)}

    def scores(self, images: r.Images) -> r.Floats:
        """Return what the model in use makes of images, (n, K); nothing changes."""
        return self._engine.head.scores(self._engine.gallery.embed(images))

    def take(self, arrivals: Sequence[Decoded]) -> None:
        """Classify images; when this returns they are safe."""
        while arrivals:
            self.attend()
            room = self._room()
            self._observe(arrivals[:room])
            arrivals = arrivals[room:]

    def attend(self) -> None:
        """Take the messages that have come, and the new model if it is its turn."""
        self._hear()
        while self._is_turn():  # without any lag, one model may make the next due at the same place
            self._install()

    def note(self, trouble: Trouble) -> None:
        """Count an image that cannot be taken; it is written with the next step."""
        self._troubles.append(trouble)

    def finish(self, *, ask: bool = True) -> None:
        """Do all that is left when no image is to come: messages, training, and questions about what waits."""
        self._hear()
        while self._trainer.version is not None:
            self._install()
            self._hear()
        if ask and self._last != ("ask", self.position):
            with self._changing():
                self._commit(Step("ask", self.position, None, self._engine.ask_now()))

    def close(self) -> None:
        """Write a snapshot and let the folder go; training that is under way starts anew next time."""
        try:
            self._write_troubles()
            if self._step > self._saved and not self._is_ahead:
                self._save()
        finally:
            self._release()

    def _restore(self) -> None:
        with translate_errors(self._connection):
            self.config = Config.read(self._connection)
            snapshots.sweep(self._connection, self.layout, is_start=True)
            self._engine = build(self.config.settings).engine
            self._saved, self.problems = snapshots.load(self._connection, self.layout, self._engine)
            self._step, self._last = replay(
                self._connection, self.layout, self._engine, self._saved
            )
            self._begin_training()
        self._cost, self._since = 0.0, time.monotonic()

    def _release(self) -> None:
        self._trainer.stop()
        self._connection.close()
        self._lock.release()
        self._threads.restore_original_limits()

    def _hear(self) -> None:
        """Take messages, each on its own: one that must be refused does not hold up the others."""
        for letter in inbox.waiting(self._connection, self.position):
            with self._changing():
                events, refusal = self._heard(letter.message)
                row = (refusal, letter.number)
                self._commit(
                    Step("inbox", self.position, letter.number, events),
                    (
                        "UPDATE inbox SET step = (SELECT max(step) FROM steps), refusal = ? WHERE number = ?",
                        row,
                    ),
                )

    def _heard(self, message: Message) -> tuple[list[r.Event], str | None]:
        """Return what happened by a message, or why it is refused; the engine is then as it was."""
        try:
            if isinstance(message, r.Answer):
                return self._engine.tell([message]), None
            return self._engine.edit(message), None
        except CsimError as error:
            return [], str(error)

    def _observe(self, arrivals: Sequence[Decoded]) -> None:
        first = self.position + 1
        items = [
            r.Item(arrival.id, first + place, arrival.image)
            for place, arrival in enumerate(arrivals)
        ]
        kept = {arrival.id: arrival.kept for arrival in arrivals}
        with self._changing():
            events = self._engine.observe(items)
            self._commit(Step("observe", self.position, len(items), events, items, kept))

    def _room(self) -> int:
        """Return how many images may come before the next border: of a batch, a message or a new model."""
        query = "SELECT min(not_before) FROM inbox WHERE step IS NULL AND not_before > ?"
        with translate_errors(self._connection):
            (due,) = self._connection.execute(query, (self.position,)).fetchone()
        borders = [self.position + BATCH - self.position % BATCH, due, self._switch_at]
        return int(min(border for border in borders if border is not None)) - self.position

    @property
    def _switch_at(self) -> int | None:
        """Where the model under way takes over, if that is fixed."""
        if self._trainer.version is None or self._is_live:
            return None
        query = "SELECT switch_at FROM models WHERE version = ?"
        (switch_at,) = self._connection.execute(query, (self._trainer.version,)).fetchone()
        return switch_at if switch_at is None else int(switch_at)

    def _is_turn(self) -> bool:
        """Tell whether a new model takes over now; the stream waits for one whose place it has reached."""
        if self._trainer.version is None:
            return False
        switch_at = self._switch_at
        return self._trainer.is_done if switch_at is None else self.position >= switch_at

    def _install(self) -> None:
        version = self._trainer.version
        assert version is not None
        seconds = self._trainer.finish()
        model, sha256 = read_model(self.layout, version), checksum(self.layout.model(version))
        with self._changing():
            self._commit(
                Step("install", self.position, version, self._engine.install(model)),
                (
                    "UPDATE models SET sha256 = ?, seconds = ? WHERE version = ?",
                    (sha256, seconds, version),
                ),
            )

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Hold on to the fact that the engine is ahead of the log until what it did is written."""
        if self._is_ahead:
            raise FolderError(
                f"{self.layout.root} could not be written before; open the folder anew to go on"
            )
        self._is_ahead = True
        yield
        self._is_ahead = False

    def _commit(self, step: Step, *also: tuple[str, tuple[object, ...]]) -> None:
        """Write a step; files first, then everything else at once."""
        due = [event for event in step.events if isinstance(event, r.TrainingDue)]
        base = None if self._engine.model is None else self._engine.model.version
        with translate_errors(self._connection):
            for event in due:
                write_job(self.layout, event.job, base, self.config.settings)
        with transaction(self._connection):
            number = write(self._connection, step)
            for statement, values in also:
                self._connection.execute(statement, values)
            for event in due:
                switch_at = None if self._is_live else step.position + self.config.retrain_lag
                self._connection.execute(
                    "INSERT INTO models (version, base, position, switch_at, images) VALUES (?, ?, ?, ?, ?)",
                    (event.job.version, base, step.position, switch_at, len(event.job.labels)),
                )
        self._step, self._last = number, (step.kind, step.position)
        self._write_troubles()
        self._begin_training()
        if time.monotonic() - self._since > max(1.0, _WORTH * self._cost):
            self._save()

    def _write_troubles(self) -> None:
        if self._troubles:
            rows = [(trouble.id, trouble.kind, trouble.reason) for trouble in self._troubles]
            with transaction(self._connection):
                self._connection.executemany(
                    "INSERT OR REPLACE INTO troubles VALUES (?, ?, ?)", rows
                )
            self._troubles = []

    def _begin_training(self) -> None:
        if self._trains and self._trainer.version is None:
            row = self._connection.execute(
                "SELECT version FROM models WHERE installed_at IS NULL"
            ).fetchone()
            if row:
                self._trainer.begin(row[0])

    def _save(self) -> None:
        start = time.monotonic()
        with translate_errors(self._connection):
            snapshots.save(
                self._connection, self.layout, self._engine, self._step, self.config.picture_room
            )
        self._saved, self._since = self._step, time.monotonic()
        self._cost = self._since - start
