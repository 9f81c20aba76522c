"""The trainer process, which trains models beside the stream.

`TrainerProcess` runs `python -m csim.folder.trainer_process ROOT`. That process reads from its
standard input which model versions to train. When a model is written, it says so on its standard
output. It ends with its parent, even if the parent is killed.
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

from csim.errors import CheckpointError, CsimError, FolderError
from csim.folder.jobs import read_model, train
from csim.folder.layout import Layout

_NICE = 5  # classification goes first


class TrainerProcess:
    """Train models in a process, which starts with the first model.

    Parameters
    ----------
    layout
        The files of the stream folder.
    """

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._process: subprocess.Popen[bytes] | None = None
        self._version: int | None = None
        self._is_trained = False  # an earlier process wrote the model

    def begin(self, version: int) -> None:
        """Start to train a model from its job file, one at a time."""
        assert self._version is None
        self._version = version
        self._is_trained = _has_model(self._layout, version)
        if self._is_trained:
            return
        if self._process is None or self._process.poll() is not None:  # it may have died when idle
            self._process = self._start()
        assert self._process.stdin is not None
        self._process.stdin.write(f"{version}\n".encode())
        self._process.stdin.flush()

    @property
    def is_done(self) -> bool:
        """Return whether `finish` returns, or raises, without waiting."""
        if self._is_trained or self._process is None:
            return True
        assert self._process.stdout is not None
        return bool(select.select([self._process.stdout], [], [], 0)[0])

    def finish(self) -> float:
        """Wait until the model is written; return the seconds that training took."""
        version = self._version
        self._version = None
        if self._is_trained:
            return 0.0
        assert self._process is not None
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        outcome = (
            json.loads(line) if line else {"error": f"it ended with code {self._process.wait()}"}
        )
        if "error" in outcome:
            raise FolderError(
                f"model {version} must be trained to go on, which failed ({outcome['error']}); "
                "nothing is lost, run again to try again"
            )
        return float(outcome["seconds"])

    def stop(self) -> None:
        """End the process; unfinished training can be repeated from its job file."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()

    def _start(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(  # noqa: S603
            [sys.executable, "-m", "csim.folder.trainer_process", str(self._layout.root)],
            stdin=subprocess.PIPE,  # closes when this process dies, which ends the trainer
            stdout=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C reaches this process alone
        )


def _has_model(layout: Layout, version: int) -> bool:
    try:
        read_model(layout, version)
    except CheckpointError:
        return False
    return True


def _serve(layout: Layout) -> None:
    """Train the models that the parent asks for."""
    os.nice(_NICE)
    threadpool_limits(limits=1)  # the same sums whenever a job is repeated
    versions: queue.SimpleQueue[int] = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(versions,), daemon=True).start()
    while True:
        version = versions.get()
        start = time.monotonic()
        try:
            train(layout, version)
            outcome: dict[str, object] = {"seconds": time.monotonic() - start}
        except (CsimError, OSError, MemoryError) as error:
            outcome = {"error": str(error) or type(error).__name__}
        print(json.dumps(outcome), flush=True)  # noqa: T201


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
    _serve(Layout(Path(sys.argv[1])))
