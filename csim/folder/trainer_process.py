"""The trainer process, which trains models beside the stream.

`TrainerProcess` runs `python -m csim.folder.trainer_process DESCRIPTOR`, where the descriptor is
that of the open stream folder. So the process works in its own folder even if somebody moves that.
It reads from its standard input which model versions to train. When a model is written, it says so
on its standard output. It ends with its parent, even if the parent is killed. If it dies alone, the
parent starts it again, twice.
"""

from __future__ import annotations

import errno
import json
import logging
import os
import queue
import select
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

from threadpoolctl import threadpool_limits

from csim.errors import CheckpointError, CsimError, FolderError, StorageError, TrainingError
from csim.folder.jobs import read_model, train
from csim.folder.layout import Layout

_NICE = 5  # classification goes first
_BACK_OFF_SECONDS = (1.0, 10.0)  # before each new start; memory may be free again by then
_POLL_SECONDS = 0.02
_STORAGE_ERRORS = (
    errno.ENOSPC,
    errno.EDQUOT,
    errno.EFBIG,
    errno.EROFS,
    errno.EACCES,
    errno.EPERM,
    errno.EIO,
)

_log = logging.getLogger(__name__)


class TrainerProcess:
    """Train models in a process, which starts with the first model.

    Parameters
    ----------
    layout
        The files of the stream folder.
    """

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._folder = os.open(layout.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self._process: subprocess.Popen[bytes] | None = None
        self._version: int | None = None
        self._outcome: dict[str, object] | None = None  # of the model in training
        self._deaths = 0
        self._start_at: float | None = None  # when to start the process again

    def begin(self, version: int) -> None:
        """Start to train a model from its job file, one at a time."""
        assert self._version is None
        self._version = version
        self._outcome = {"seconds": 0.0} if _has_model(self._layout, version) else None
        self._deaths = 0
        if self._outcome is None:
            self._ask()

    @property
    def is_done(self) -> bool:
        """Return whether `finish` returns, or raises, without waiting.

        If the process has died, this starts it again, after a pause that need not be waited for.
        """
        if self._outcome is None and self._start_at is not None:
            if time.monotonic() < self._start_at:
                return False
            self._start_at = None
            self._ask()
        if self._outcome is None and self._start_at is None:
            self._listen()
        return self._outcome is not None

    def finish(self) -> float:
        """Wait until the model is written; return the seconds that training took."""
        while not self.is_done:
            time.sleep(_POLL_SECONDS)
        version = self._version
        outcome = self._outcome
        self._version = None
        assert outcome is not None
        if "error" not in outcome:
            return float(str(outcome["seconds"]))
        kinds = {
            "storage": (StorageError, "nothing is lost, make room, then run again"),
            "process": (TrainingError, "nothing is lost, free memory, then run again"),
        }
        kind, remedy = kinds.get(
            str(outcome["kind"]), (FolderError, "nothing is lost, run again to try again")
        )
        raise kind(
            f"model {version} must be trained to go on, which failed ({outcome['error']}); {remedy}"
        )

    def stop(self) -> None:
        """End the process; unfinished training can be repeated from its job file."""
        self._end_process()
        os.close(self._folder)

    def _ask(self) -> None:
        """Ask the process for the model, and start the process if it does not run."""
        if self._process is None or self._process.poll() is not None:  # it may have died when idle
            self._end_process()
            self._process = self._start()
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):  # it dies now, which `_listen` notices
            self._process.stdin.write(f"{self._version}\n".encode())

    def _listen(self) -> None:
        """Take the outcome if the process has told one, or note that it died."""
        assert self._process is not None
        assert self._process.stdout is not None
        if not select.select([self._process.stdout], [], [], 0)[0]:
            return
        line = self._process.stdout.readline()
        if not line.endswith(b"\n"):
            self._note_death(_how_it_ended(self._process.wait()))
            return
        outcome = json.loads(line)
        if outcome.get("kind") == "process":
            self._end_process()
            self._note_death(outcome["error"])
        else:
            self._outcome = outcome

    def _note_death(self, reason: str) -> None:
        self._deaths += 1
        if self._deaths > len(_BACK_OFF_SECONDS):
            error = f"the trainer process died {self._deaths} times, at last with {reason}"
            self._outcome = {"kind": "process", "error": error}
            return
        wait = _BACK_OFF_SECONDS[self._deaths - 1]
        self._start_at = time.monotonic() + wait
        _log.warning(
            "the trainer process died with %s; starting it again in %g seconds", reason, wait
        )

    def _start(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(  # noqa: S603
            [sys.executable, "-m", "csim.folder.trainer_process", str(self._folder)],
            bufsize=0,  # nothing is left to be written if the process dies
            stdin=subprocess.PIPE,  # closes when this process dies, which ends the trainer
            stdout=subprocess.PIPE,
            pass_fds=[self._folder],
            start_new_session=True,  # Ctrl-C reaches this process alone
        )

    def _end_process(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


def _has_model(layout: Layout, version: int) -> bool:
    try:
        read_model(layout, version)
    except CheckpointError:
        return False
    return True


def _how_it_ended(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    memory = ", perhaps because memory ran out" if -code == signal.SIGKILL else ""
    return f"signal {-code}{memory}"


def _serve(layout: Layout) -> None:
    """Train the models that the parent asks for."""
    os.nice(_NICE)
    threadpool_limits(limits=1)  # the same sums whenever a job is repeated
    versions: queue.SimpleQueue[int] = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(versions,), daemon=True).start()
    while True:
        outcome = _train(layout, versions.get())
        print(json.dumps(outcome), flush=True)  # noqa: T201


def _train(layout: Layout, version: int) -> dict[str, object]:
    """Train a model; return the seconds that it took, or an error and its kind."""
    start = time.monotonic()
    try:
        train(layout, version)
    except CsimError as error:
        return {"kind": "folder", "error": str(error)}
    except OSError as error:
        is_storage = error.errno in _STORAGE_ERRORS
        return {"kind": "storage" if is_storage else "process", "error": str(error)}
    except Exception as error:  # torch raises RuntimeError, not MemoryError, without memory
        return {"kind": "process", "error": f"{type(error).__name__}: {error}"}
    return {"seconds": time.monotonic() - start}


def _receive(versions: queue.SimpleQueue[int]) -> None:
    """Read versions from the standard input; end the process when the parent is gone."""
    line = b""
    # Unbuffered: a buffered read would hold a lock when the process ends.
    while byte := os.read(sys.stdin.fileno(), 1):
        line += byte
        if byte == b"\n":
            versions.put(int(line))
            line = b""
    os._exit(0)


if __name__ == "__main__":
    os.fchdir(int(sys.argv[1]))
    _serve(Layout(Path()))
