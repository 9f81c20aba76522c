"""Training: which model is under way, and when it takes over.

A new model takes over at a position that csim fixes when training begins, `retrain_lag` images
later. So the result does not depend on how fast the machine trains. A live stream switches as soon
as the model is ready instead.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from csim.checkpoint import checksum
from csim.folder.database import translate_errors
from csim.folder.jobs import read_model, write_job
from csim.folder.layout import Config, Layout
from csim.records import Job, Model

_POLL_SECONDS = 0.02


class Trainer(Protocol):
    """Train models from the job files of a stream folder, one at a time."""

    def begin(self, version: int) -> None:
        """Start to train a model from its job file."""
        ...

    @property
    def is_done(self) -> bool:
        """Return whether `finish` returns, or raises, without waiting long."""
        ...

    def finish(self) -> float:
        """Wait until the model file is written; return the seconds that training took."""
        ...

    def stop(self) -> None:
        """Give up unfinished training and release what the trainer holds."""
        ...


@dataclass(frozen=True, slots=True)
class Trained:
    """Hold a trained model, its checksum and the seconds that its training took."""

    model: Model
    sha256: str
    seconds: float


class Training:
    """Have one model at a time trained, and decide when it takes over.

    Parameters
    ----------
    connection
        The one that the engine writes to.
    layout
        The folder's files.
    config
        The folder's configuration.
    trainer
        What trains the models; None leaves models that are due to the next run.
    is_live
        Let a new model take over as soon as it is ready.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        layout: Layout,
        config: Config,
        trainer: Trainer | None,
        *,
        is_live: bool,
    ) -> None:
        self.version: int | None = None  # the model under way
        self._connection = connection
        self._layout = layout
        self._config = config
        self._trainer = trainer
        self._is_live = is_live

    def write_jobs(self, jobs: Sequence[Job], base: int | None) -> None:
        """Write the files of jobs, before the step that made them due is written."""
        with translate_errors(self._connection):
            for job in jobs:
                write_job(self._layout, job, base, self._config.settings)

    def record_jobs(self, jobs: Sequence[Job], base: int | None, position: int) -> None:
        """Write a row for each job, inside a transaction."""
        switch_at = None if self._is_live else position + self._config.retrain_lag
        for job in jobs:
            self._connection.execute(
                "INSERT INTO models (version, base, position, switch_at, images)"
                " VALUES (?, ?, ?, ?, ?)",
                (job.version, base, position, switch_at, len(job.labels)),
            )

    def record_installed(self, trained: Trained) -> None:
        """Write a model's checksum and training time, inside a transaction."""
        self._connection.execute(
            "UPDATE models SET sha256 = ?, seconds = ? WHERE version = ?",
            (trained.sha256, trained.seconds, trained.model.version),
        )

    def begin_due(self) -> None:
        """Have the model trained that is due, unless one is under way."""
        if self._trainer is None or self.version is not None:
            return
        row = self._connection.execute(
            "SELECT version FROM models WHERE installed_at IS NULL"
        ).fetchone()
        if row:
            (self.version,) = row
            self._trainer.begin(row[0])

    @property
    def switch_at(self) -> int | None:
        """Return the position at which the model under way takes over; None if it is not fixed."""
        if self.version is None or self._is_live:
            return None
        row = self._connection.execute(
            "SELECT switch_at FROM models WHERE version = ?", (self.version,)
        ).fetchone()
        return row[0] if row[0] is None else int(row[0])

    def is_due(self, position: int) -> bool:
        """Return whether the model under way takes over now; `finish` may still have to wait."""
        if self._trainer is None or self.version is None:
            return False
        switch_at = self.switch_at
        return self._trainer.is_done if switch_at is None else position >= switch_at

    def is_ready(self, is_stopped: Callable[[], bool]) -> bool:
        """Wait for the model under way; return False if `is_stopped` returns true before."""
        assert self._trainer is not None
        while not self._trainer.is_done:
            if is_stopped():
                return False
            time.sleep(_POLL_SECONDS)
        return True

    def finish(self) -> Trained:
        """Return the model under way; this waits for it."""
        assert self._trainer is not None
        assert self.version is not None
        version = self.version
        self.version = None
        seconds = self._trainer.finish()
        sha256 = checksum(self._layout.model(version))
        return Trained(read_model(self._layout, version), sha256, seconds)

    def stop(self) -> None:
        """Stop the trainer; the next run repeats what was under way."""
        if self._trainer is not None:
            self._trainer.stop()
