"""The engine in one thread: it owns the stream, takes what requests bring, and answers them.

Requests put images into a queue. The thread takes what has gathered in one step (a micro-batch).
It answers when the step is durable. Between steps it takes messages from the inbox and new models.
If another process runs the stream, the thread waits and takes over when that process ends.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path

import csim.records as r
from csim.errors import BusyError, CsimError, FolderError, InputError
from csim.folder.decisions import DecisionRow
from csim.folder.reader import Reader
from csim.folder.stream import Stream
from csim.sources.arrival import Decoded, Trouble
from csim.web.limits import Limits

_IDLE_SECONDS = 0.2  # between two looks at the inbox and at the trainer
_RETRY_SECONDS = 1.0  # between two attempts to run a stream that another process runs
_LOG = logging.getLogger("csim.web")

OnStep = Callable[[Sequence[r.Event], float], None]  # what happened, and the seconds it took


class NotRunningError(CsimError):
    """Report that the engine does not run here now, and why."""


class QueueFullError(CsimError):
    """Report that too many images wait; nothing was taken."""


class ConflictError(CsimError):
    """Report that an id belongs to another image; nothing was taken."""


@dataclass
class _Job:
    """Hold what one caller wants done; without images, only messages are taken."""

    images: Sequence[Decoded]
    troubles: Sequence[Trouble] = ()
    done: Future[list[DecisionRow]] = field(default_factory=Future)


class EngineThread:
    """Run a stream folder in a thread, for callers in other threads.

    Parameters
    ----------
    root
        The stream folder.
    limits
        How many images wait, and how many are taken at a time.
    is_live
        Let a new model take over as soon as it is ready.
    on_step
        Called in the engine's thread after every step.
    """

    def __init__(
        self,
        root: Path,
        limits: Limits,
        *,
        is_live: bool = True,
        on_step: OnStep = lambda events, seconds: None,
    ) -> None:
        self.state = "starting"  # running, waiting, failed, broken, stopped
        self.reason = "the engine is starting; try again"  # why it does not run
        self._root = root
        self._limits = limits
        self._is_live = is_live
        self._on_step = on_step
        self._jobs: deque[_Job] = deque()
        self._queued = 0
        self._changed = threading.Condition()
        self._is_stopping = False
        self._first_error: FolderError | None = None
        self._thread = threading.Thread(target=self._main, name="csim-engine", daemon=True)

    def start(self) -> None:
        """Start the thread; return when the stream runs, or another process runs it.

        If the folder cannot be used, this raises the error and nothing runs.
        """
        self._thread.start()
        with self._changed:
            self._changed.wait_for(lambda: self.state != "starting")
        if self._first_error is not None:
            self._thread.join()
            raise self._first_error

    @property
    def queue_length(self) -> int:
        """Return how many images wait."""
        return self._queued

    @property
    def is_stopping(self) -> bool:
        """Return whether the thread takes no new work."""
        return self._is_stopping

    def submit(self, images: Sequence[Decoded]) -> Future[list[DecisionRow]]:
        """Add images to the queue; the result comes when they are durable, in their order."""
        job = _Job(images)
        with self._changed:
            self._check_running()
            if self._queued + len(images) > self._limits.queue_images:
                raise QueueFullError(
                    f"at most {self._limits.queue_images:,} images may wait, {self._queued:,} "
                    "already do; nothing was taken, send the images again later"
                )
            self._put(job)
        return job.done

    def submit_when_free(self, images: Sequence[Decoded], troubles: Sequence[Trouble]) -> bool:
        """Add images of a source as soon as few wait; return whether the engine still runs."""
        job = _Job(images, troubles)
        with self._changed:
            self._changed.wait_for(
                lambda: (
                    self._is_stopping
                    or (self.state == "running" and self._queued < self._limits.batch_images)
                )
            )
            if self._is_stopping:
                return False
            self._put(job)
        return True

    def attend(self) -> Future[list[DecisionRow]]:
        """Ask for the messages of the inbox to be taken; the result comes when they are."""
        job = _Job(())
        with self._changed:
            self._check_running()
            self._put(job)
        return job.done

    def stop(self) -> None:
        """Take no new work, finish what was accepted, close the stream; return when it is done."""
        with self._changed:
            self._is_stopping = True
            self._changed.notify_all()
        self._thread.join()

    def _check_running(self) -> None:
        if self._is_stopping:
            raise NotRunningError("the service is stopping; send it again to the next one")
        if self.state != "running":
            raise NotRunningError(self.reason)

    def _put(self, job: _Job) -> None:
        self._jobs.append(job)
        self._queued += len(job.images)
        self._changed.notify_all()

    def _main(self) -> None:
        while not self._is_stopping:
            is_first = self.state == "starting"
            try:
                self._open_and_run()
            except BusyError as error:
                self._set("waiting", str(error))
            except FolderError as error:
                if is_first and self.state == "starting":
                    self._first_error = error
                    self._is_stopping = True
                self._set("failed", str(error))
            except Exception as error:  # a bug must not leave callers waiting
                _LOG.exception("the engine's thread failed")
                self._set("broken", f"the engine failed: {error}; restart the service")
                return
            with self._changed:
                self._changed.wait_for(lambda: self._is_stopping, _RETRY_SECONDS)
        self._set("stopped", "the service has stopped")

    def _set(self, state: str, reason: str) -> None:
        """Change the state; outside "running", fail those who wait."""
        with self._changed:
            self.state = state
            self.reason = reason
            left = []
            if state != "running":
                left = list(self._jobs)
                self._jobs.clear()
                self._queued = 0
            self._changed.notify_all()
        for job in left:
            _fail([job], NotRunningError(reason))

    def _open_and_run(self) -> None:
        opened = Stream(self._root, is_live=self._is_live, is_stopped=lambda: self._is_stopping)
        with opened as stream, Reader(self._root) as reader:
            for problem in stream.problems:
                _LOG.warning("%s; csim used an older snapshot", problem)
            self._set("running", "")
            while (jobs := self._gather()) is not None:
                self._step(stream, reader, jobs)

    def _gather(self) -> list[_Job] | None:
        """Wait for work and return what one step takes; None when the thread is to end."""
        limits = self._limits
        with self._changed:
            self._changed.wait_for(lambda: self._jobs or self._is_stopping, _IDLE_SECONDS)
            if not self._jobs:
                return None if self._is_stopping else []
            if limits.batch_ms and self._queued:
                self._changed.wait_for(
                    lambda: self._queued >= limits.batch_images or self._is_stopping,
                    limits.batch_ms / 1000,
                )
            jobs = [self._jobs.popleft()]
            size = len(jobs[0].images)
            while self._jobs and size + len(self._jobs[0].images) <= limits.batch_images:
                jobs.append(self._jobs.popleft())
                size += len(jobs[-1].images)
            self._queued -= size
            self._changed.notify_all()
        return [job for job in jobs if job.done.set_running_or_notify_cancel()]

    def _step(self, stream: Stream, reader: Reader, jobs: list[_Job]) -> None:
        start = time.perf_counter()
        try:
            known, accepted, new = _sort(stream, reader, jobs)
            for job in jobs:
                for trouble in job.troubles:
                    stream.note(trouble)
            events = stream.take(new) if new else stream.attend()
            known |= reader.decisions.of([image.id for image in new])
        except InputError as error:
            _fail(jobs, error)
            return
        except BaseException as error:
            reason = f"csim could not take it: {error}"
            _fail(jobs, NotRunningError(reason))
            raise
        for job in accepted:
            found = [known[image.id] for image in job.images if image.id in known]
            if len(found) < len(job.images):  # it was stopped while it waited for a model
                _fail([job], NotRunningError("the service stopped before all was taken; repeat it"))
            else:
                job.done.set_result(found)
        self._on_step(events, time.perf_counter() - start)


def _sort(
    stream: Stream, reader: Reader, jobs: Sequence[_Job]
) -> tuple[dict[r.ItemId, DecisionRow], list[_Job], list[Decoded]]:
    """Return the decisions about known images, the jobs without a conflict, and new images."""
    ids = [image.id for job in jobs for image in job.images]
    known = reader.decisions.of(ids)
    gone = set(stream.known([item_id for item_id in ids if item_id not in known]))
    new: dict[r.ItemId, Decoded] = {}
    accepted = []
    for job in jobs:
        first: dict[r.ItemId, Decoded] = {}
        for image in job.images:
            first.setdefault(image.id, image)
        conflict = next((i for i in job.images if _is_other(i, known, gone, first | new)), None)
        if conflict is not None:
            detail = (
                f"the id {conflict.id!r} belongs to another image; nothing was taken, "
                "use a new id for each image"
            )
            _fail([job], ConflictError(detail))
            continue
        accepted.append(job)
        for item_id, image in first.items():
            if item_id not in known and item_id not in gone:
                new.setdefault(item_id, image)
    return known, accepted, list(new.values())


def _is_other(
    image: Decoded,
    known: dict[r.ItemId, DecisionRow],
    gone: Collection[r.ItemId],
    new: dict[r.ItemId, Decoded],
) -> bool:
    """Return whether a client's image has an id that stands for another image."""
    if image.fingerprint is None:  # of a source, where an id always is the same image
        return False
    if image.id in gone:
        return True
    earlier = known.get(image.id) or new[image.id]
    return earlier.fingerprint != image.fingerprint


def _fail(jobs: Sequence[_Job], error: CsimError) -> None:
    for job in jobs:
        if not job.done.done() and (job.done.running() or job.done.set_running_or_notify_cancel()):
            job.done.set_exception(error)
