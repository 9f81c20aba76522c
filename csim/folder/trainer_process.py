"""Training beside the stream, in a process of its own: `python -m csim.folder.trainer_process FOLDER`.

The job is a file before training starts, so that a training run that dies can be done again and comes to the same
model. The model is a file before anybody is told of it. The process reads from its standard input which models to
train, tells on its standard output when each is there, and ends with its parent, even one that was killed.
"""

from __future__ import annotations

import json
import os
import queue
import select
import subprocess
import sys
import threading
import time
from pathlib import Path

from threadpoolctl import threadpool_limits

from csim import checkpoint
from csim.build import build
from csim.errors import CheckpointError, CsimError, FolderError
from csim.folder.layout import Layout
from csim.records import Job, Model
from csim.settings import Settings

_NICE = 5  # classification goes first


def write_job(layout: Layout, job: Job, base: int | None, settings: Settings) -> None:
    """Write what a model is to be trained on, and which model it goes on from."""
    values = {name: getattr(job, name) for name in Job.__slots__}
    checkpoint.write(
        layout.job(job.version), values | {"base": base, "settings": settings.to_dict()}
    )


def read_model(layout: Layout, version: int) -> Model:
    """Return a trained model, checked against its checksum."""
    return checkpoint.model_from(checkpoint.read(layout.model(version)))


class TrainerProcess:
    """The process that trains, started when there is something to do."""

    def __init__(self, layout: Layout) -> None:
        self.version: int | None = None  # the model under way
        self._layout = layout
        self._process: subprocess.Popen[bytes] | None = None
        self._is_there = False  # left by an earlier process

    def begin(self, version: int) -> None:
        """Have a model trained; one at a time."""
        assert self.version is None
        self.version, self._is_there = version, self._is_trained(version)
        if not self._is_there:
            if (
                self._process is None or self._process.poll() is not None
            ):  # none yet, or it died when it was idle
                self._process = self._start()
            assert self._process.stdin is not None
            self._process.stdin.write(f"{version}\n".encode())
            self._process.stdin.flush()

    @property
    def is_done(self) -> bool:
        """Whether the model is there, or will never be."""
        if self._is_there or self._process is None:
            return True
        assert self._process.stdout is not None
        return bool(select.select([self._process.stdout], [], [], 0)[0])

    def finish(self) -> float:
        """Wait for the model; return how many seconds training took."""
        version, self.version = self.version, None
        if self._is_there:
            return 0.0
        assert self._process is not None
        assert self._process.stdout is not None
        words = self._process.stdout.readline()
        outcome = (
            json.loads(words) if words else {"error": f"it ended with code {self._process.wait()}"}
        )
        if "error" in outcome:
            raise FolderError(
                f"model {version} must be trained to go on, which failed ({outcome['error']}); nothing is lost, "
                "run again to try again"
            )
        return float(outcome["seconds"])

    def stop(self) -> None:
        """End the process; what is under way can be done again from its file."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()

    def _is_trained(self, version: int) -> bool:
        try:
            read_model(self._layout, version)
        except CheckpointError:
            return False
        return True

    def _start(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(  # noqa: S603
            [sys.executable, "-m", "csim.folder.trainer_process", str(self._layout.root)],
            stdin=subprocess.PIPE,  # closes when we die, which ends it
            stdout=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is ours to hear
        )


def train(layout: Layout, version: int) -> None:
    """Do a job."""
    state = checkpoint.read(layout.job(version))
    base = None if state["base"] is None else read_model(layout, state["base"])
    job = Job(**{name: state[name] for name in Job.__slots__})
    model = build(Settings.from_dict(state["settings"])).trainer.train(job, base)
    checkpoint.write(layout.model(version), checkpoint.model_state(model))


def _serve(layout: Layout) -> None:
    """Train what is asked for until nobody asks any more."""
    os.nice(_NICE)
    threadpool_limits(limits=1)  # the same sums whenever a job is done again
    wanted: queue.SimpleQueue[int] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(wanted,), daemon=True).start()
    while True:
        version, start = wanted.get(), time.monotonic()
        try:
            train(layout, version)
            outcome: dict[str, object] = {"seconds": time.monotonic() - start}
        except (CsimError, OSError, MemoryError) as problem:
            outcome = {"error": str(problem) or type(problem).__name__}
        print(json.dumps(outcome), flush=True)  # noqa: T201


def _listen(wanted: queue.SimpleQueue[int]) -> None:
    """Hear what to train; end the process when the parent is gone."""
    words = b""
    while byte := os.read(
        sys.stdin.fileno(), 1
    ):  # unbuffered: nothing is locked when the process ends
        words += byte
        if byte == b"\n":
            wanted.put(int(words))
            words = b""
    os._exit(0)


if __name__ == "__main__":
    _serve(Layout(Path(sys.argv[1])))
