"""Check that a stream that is killed again and again ends like one that never was.

The undisturbed stream runs first, in this process. Its questions get true answers, a fixed number
of images after each was asked. The other stream gets the same answers at the same positions. It
runs as `csim run` in a process that is killed with SIGKILL at random moments: while it starts,
classifies, asks, takes answers, waits for training or writes files.
"""

from __future__ import annotations

import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from csim.bench.durability.material import make_stream, noisy_digits, write_files
from csim.errors import CsimError
from csim.folder import inbox
from csim.folder.audit import differing_tables
from csim.folder.database import open_for_messages
from csim.folder.history import MessageRow
from csim.folder.layout import Layout
from csim.folder.output import Output
from csim.folder.reader import Reader
from csim.folder.run import run
from csim.folder.stream import Stream
from csim.records import Named
from csim.settings import Settings
from csim.sources.directory import Directory

SETTINGS = Settings(
    ask_every=50, recent=500, budget=0.03, update_labels=10, update_steps=30, epochs=6, seed=0
)
_RETRAIN_LAG = 200  # images between the answer that makes a model due and its installation
_ANSWER_DELAY = 600  # images between question and answer: more than a batch, to be posted in time
_EARLY_KILL_SHARE = 0.2  # come at any time after the start; others while the stream observes
_EARLY_KILL_SECONDS = 3.0  # after the start, at most
_KILL_SECONDS = 1.2  # after the first step, at most


@dataclass(frozen=True)
class Outcome:
    """Report what was done to a stream, and how it differs from the undisturbed one."""

    images: int
    kills: int
    answers: int
    models: int
    differing: tuple[str, ...]  # table names, and "predictions" if the files differ


def kill(
    work: Path,
    *,
    images: int,
    kills: int,
    seed: int,
    on_kill: Callable[[int], None] = lambda _: None,
) -> Outcome:
    """Run a stream undisturbed, then with kills; return the differences.

    Parameters
    ----------
    work
        An empty folder.
    images
        The length of the stream. Higher takes longer.
    kills
        How often to kill. Higher takes longer; a stream that ends before starts again.
    seed
        Draws the images and the moments.
    on_kill
        Called with the number of kills so far.
    """
    files = work / "files"
    base = work / "base"
    calm = work / "calm"
    pixels, names = noisy_digits(images, seed)
    write_files(files, pixels)
    make_stream(base, SETTINGS, seed, retrain_lag=_RETRAIN_LAG)
    shutil.copytree(base, calm)
    _run_calmly(calm, files, work / "calm.jsonl", names)
    with Reader(calm) as reader:
        answers = reader.history.messages()
        models = len(reader.models.all())
    rng = random.Random(seed)  # noqa: S311
    done = 0
    differing: set[str] = set()
    while done < kills:
        troubled = work / f"troubled-{done}"
        output = work / f"troubled-{done}.jsonl"
        shutil.copytree(base, troubled)
        _post(troubled, answers)
        while not _is_finished(troubled, files, output, _Killer(rng) if done < kills else None):
            done += 1
            on_kill(done)
        differing |= differing_tables(calm, troubled)
        if output.read_bytes() != (work / "calm.jsonl").read_bytes():
            differing.add("predictions")
    return Outcome(images, done, len(answers), models, tuple(sorted(differing)))


class _Killer:
    """Choose when a process is killed."""

    def __init__(self, rng: random.Random) -> None:
        self._is_early = rng.random() < _EARLY_KILL_SHARE
        self._wait = rng.uniform(0, _EARLY_KILL_SECONDS if self._is_early else _KILL_SECONDS)

    def end(self, process: subprocess.Popen[bytes], folder: Path) -> None:
        """Kill a process at the chosen moment, unless it ends before."""
        before = _last_step(folder)
        while not self._is_early and process.poll() is None and _last_step(folder) == before:
            time.sleep(0.02)
        try:
            process.wait(self._wait)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)


def _is_finished(folder: Path, files: Path, output: Path, killer: _Killer | None) -> bool:
    """Run a stream as a user does; return whether it reached its end."""
    command = [sys.executable, "-m", "csim", "run", str(folder), str(files), "--out", str(output)]
    process = subprocess.Popen(  # noqa: S603
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    if killer is not None:
        killer.end(process, folder)
    stderr = process.communicate()[1].decode(errors="replace")
    if process.returncode not in (0, -signal.SIGKILL):
        raise CsimError(
            f"a killed stream must continue, it ended with {process.returncode}: {stderr}"
        )
    return process.returncode == 0


def _run_calmly(folder: Path, files: Path, output: Path, names: list[str]) -> None:
    """Run a stream undisturbed and answer its questions."""
    with Stream(folder) as stream:
        out = Output(stream.layout.database, output, sys.stdout.buffer)

        def follow(_: object) -> None:
            _answer(folder, names)
            out.catch_up()

        run(stream, Directory(files), on_batch=follow)
        stream.finish()
        out.catch_up()
        out.close()


def _answer(folder: Path, names: list[str]) -> None:
    with Reader(folder) as reader:
        answered = {row.key for row in reader.history.messages()}
        questions = [
            question for question in reader.questions(None) if str(question.id) not in answered
        ]
    with closing(open_for_messages(Layout(folder).database)) as connection:
        for question in questions:
            inbox.post(
                connection,
                [Named(question.id, names[question.representative - 1])],
                keys=[str(question.id)],
                not_before=question.position + _ANSWER_DELAY,
            )


def _post(folder: Path, answers: Sequence[MessageRow]) -> None:
    with closing(open_for_messages(Layout(folder).database)) as connection:
        for row in answers:
            inbox.post(connection, [row.message], keys=[row.key], not_before=row.not_before)


def _last_step(folder: Path) -> int:
    with Reader(folder) as reader:
        return reader.history.last_step()
