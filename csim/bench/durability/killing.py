"""A stream that is killed again and again, with SIGKILL, must come to the very end of one that never was.

The one that is never killed runs first, in this process, and its questions are answered truthfully so many images
after each was asked. The other gets the same answers, each for the same place, and runs as `csim run` in a process of
its own, which is killed at random moments: while it starts, classifies, asks, hears, waits for training, writes files.
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
_LAG = 200  # images between an answer that makes a new model due and its taking over
_DELAY = 600  # images between a question and its answer: more than a batch, so that it is written before its place
_EARLY = 0.2  # share of kills that come at any moment after the start, the others come while the stream moves
_MOMENT = 1.2  # seconds of movement within which those others come


@dataclass(frozen=True)
class Outcome:
    """What was done to a stream, and what of it differs from the one that was left alone."""

    images: int
    kills: int
    answers: int
    models: int
    differing: tuple[str, ...]  # tables, and "predictions" if the files differ


def kill(
    work: Path,
    *,
    images: int,
    kills: int,
    seed: int,
    on_kill: Callable[[int], None] = lambda _: None,
) -> Outcome:
    """Run a stream undisturbed, then with kills; return what differs.

    Parameters
    ----------
    work
        An empty folder.
    images
        Of the stream.
    kills
        How often; a stream that comes to its end before is begun again.
    seed
        Draws the images and the moments.
    on_kill
        Called with the number of kills so far.
    """
    files, base, calm = work / "files", work / "base", work / "calm"
    pixels, names = noisy_digits(images, seed)
    write_files(files, pixels)
    make_stream(base, SETTINGS, seed, retrain_lag=_LAG)
    shutil.copytree(base, calm)
    _run_calmly(calm, files, work / "calm.jsonl", names)
    with Reader(calm) as reader:
        answers = reader.history.messages()
        models = len(reader.models.all())
    rng, done = random.Random(seed), 0  # noqa: S311
    differing: set[str] = set()
    while done < kills:
        troubled, output = work / f"troubled-{done}", work / f"troubled-{done}.jsonl"
        shutil.copytree(base, troubled)
        _post(troubled, answers)
        while not _is_through(troubled, files, output, _Killer(rng) if done < kills else None):
            done += 1
            on_kill(done)
        differing |= differing_tables(calm, troubled)
        if output.read_bytes() != (work / "calm.jsonl").read_bytes():
            differing.add("predictions")
    return Outcome(images, done, len(answers), models, tuple(sorted(differing)))


class _Killer:
    """Chooses when a process is killed."""

    def __init__(self, rng: random.Random) -> None:
        self._is_early = rng.random() < _EARLY
        self._wait = rng.uniform(0, 3.0 if self._is_early else _MOMENT)

    def end(self, process: subprocess.Popen[bytes], folder: Path) -> None:
        """Kill a process at the chosen moment, unless it ends before."""
        before = _last_step(folder)
        while not self._is_early and process.poll() is None and _last_step(folder) == before:
            time.sleep(0.02)
        try:
            process.wait(self._wait)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)


def _is_through(folder: Path, files: Path, output: Path, killer: _Killer | None) -> bool:
    """Run a stream as a user does, perhaps not to its end."""
    command = [sys.executable, "-m", "csim", "run", str(folder), str(files), "--out", str(output)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)  # noqa: S603
    if killer is not None:
        killer.end(process, folder)
    words = process.communicate()[1].decode(errors="replace")
    if process.returncode not in (0, -signal.SIGKILL):
        raise CsimError(
            f"a stream must go on after it was killed; it ended with {process.returncode}: {words}"
        )
    return process.returncode == 0


def _run_calmly(folder: Path, files: Path, output: Path, names: list[str]) -> None:
    """Run a stream undisturbed and answer what it asks."""
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
                not_before=question.position + _DELAY,
            )


def _post(folder: Path, answers: Sequence[MessageRow]) -> None:
    with closing(open_for_messages(Layout(folder).database)) as connection:
        for row in answers:
            inbox.post(connection, [row.message], keys=[row.key], not_before=row.not_before)


def _last_step(folder: Path) -> int:
    with Reader(folder) as reader:
        return reader.history.last_step()
