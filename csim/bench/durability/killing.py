"""Check that a stream that is killed again and again ends like one that never was.

The undisturbed stream runs first, in this process. Its questions get true answers, a fixed number
of images after each was asked. The other stream gets the same answers at the same positions. It
runs as `csim run`. In turn SIGKILL ends that process, its trainer process, and both at once, at
random moments: while they start, classify, ask, take answers, train or write files.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from csim.bench.durability.material import make_stream, noisy_digits, write_files
from csim.errors import CsimError
from csim.folder import inbox
from csim.folder.audit import differing_tables
from csim.folder.database import open_for_messages
from csim.folder.folding import KeptHistory
from csim.folder.history import MessageRow
from csim.folder.layout import Layout
from csim.folder.output import Output
from csim.folder.reader import Reader
from csim.folder.run import run
from csim.folder.stream import Stream
from csim.messages import Named
from csim.settings import Settings
from csim.sources.directory import Directory

SETTINGS = Settings(
    ask_every=50, recent=500, budget=0.03, update_labels=10, update_steps=30, epochs=6, seed=0
)
_RETRAIN_LAG = 200  # images between the answer that makes a model due and its installation
_ANSWER_DELAY = 600  # images between question and answer: more than a batch, to be posted in time
_HISTORY = KeptHistory(images=1500)  # so that killed streams also fold, and the calm one does not
_VICTIMS = ("engine", "trainer", "both")  # in turn; a stream goes on without its trainer
_EARLY_KILL_SHARE = 0.2  # come at any time after the start; others while the stream observes
_EARLY_KILL_SECONDS = 3.0  # after the start, at most
_KILL_SECONDS = 1.2  # after the first step, at most


@dataclass(frozen=True)
class Outcome:
    """Report what was done to a stream, and how it differs from the undisturbed one."""

    images: int
    kills: dict[str, int]  # of the engine, of the trainer, of both at once
    answers: int
    models: int
    folded: int  # images that became counts in the killed streams
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
    killed: Counter[str] = Counter()
    folded = 0
    differing: set[str] = set()
    while killed.total() < kills:
        troubled = work / f"troubled-{killed.total()}"
        output = work / f"troubled-{killed.total()}.jsonl"
        shutil.copytree(base, troubled)
        Stream(troubled, trainer=None, history=_HISTORY).close()
        _post(troubled, answers)
        while not _is_finished(
            troubled, files, output, _Killer(rng, killed) if killed.total() < kills else None
        ):
            on_kill(killed.total())
        differing |= differing_tables(calm, troubled)
        with Reader(troubled) as reader:
            folded += images - reader.counts.images()
        if _predictions(output) != _predictions(work / "calm.jsonl"):
            differing.add("predictions")
    return Outcome(images, dict(killed), len(answers), models, folded, tuple(sorted(differing)))


def _predictions(file: Path) -> list[dict[str, object]]:
    """Return the lines of a file without their times."""
    found = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return [{**line, "time": None} for line in found]


class _Killer:
    """Kill the processes of a run, and count the kills by victim."""

    def __init__(self, rng: random.Random, killed: Counter[str]) -> None:
        self._rng = rng
        self._killed = killed

    def end(self, process: subprocess.Popen[bytes], folder: Path) -> None:
        """Kill what is next in turn until the engine is dead, unless it ends before."""
        is_killed = False
        while process.poll() is None and not is_killed:
            victim = _VICTIMS[self._killed.total() % len(_VICTIMS)]
            if self._await(process, folder, victim):
                is_killed = self._kill(process, victim)

    def _await(self, process: subprocess.Popen[bytes], folder: Path, victim: str) -> bool:
        """Wait for the moment of a kill; return whether the process still runs."""
        is_early = victim == "engine" and self._rng.random() < _EARLY_KILL_SHARE
        before = _last_step(folder)
        while not is_early and process.poll() is None:
            has_observed = _last_step(folder) != before
            if has_observed if victim == "engine" else _trainer(process):
                break
            time.sleep(0.02)
        try:
            process.wait(self._rng.uniform(0, _EARLY_KILL_SECONDS if is_early else _KILL_SECONDS))
        except subprocess.TimeoutExpired:
            return True
        return False

    def _kill(self, process: subprocess.Popen[bytes], victim: str) -> bool:
        """Kill a victim if it is still there; return whether the engine is dead."""
        if victim != "engine":
            trainer = _trainer(process)
            if trainer is None:
                return False
            os.kill(trainer, signal.SIGKILL)
        if victim != "trainer":
            process.send_signal(signal.SIGKILL)
            process.wait()
        self._killed[victim] += 1
        return victim != "trainer"


def _trainer(process: subprocess.Popen[bytes]) -> int | None:
    """Return the trainer process of an engine, its only child; None if there is none alive."""
    try:
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        alive = [child for child in children if Path(f"/proc/{child}/cmdline").read_bytes()]
    except OSError:  # one of them has just ended
        return None
    return int(alive[0]) if alive else None


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
