"""Many at once: people who answer while the stream runs, and a model that is trained meanwhile."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np

from csim.bench.durability.material import endless, make_stream
from csim.folder import inbox
from csim.folder.database import open_for_messages, open_for_reading
from csim.folder.layout import Layout
from csim.folder.run import run
from csim.folder.stream import Stream
from csim.records import Named
from csim.settings import Settings
from csim.sources.arrival import Decoded, Trouble
from csim.sources.decode import decode

_CALL = 125  # images per call: one look in each
_PAUSE = 5  # calls between two models at least


@dataclass(frozen=True)
class Crowd:
    """What became of messages that several processes wrote while the stream ran."""

    images: int
    sent: int
    taken: int
    refused: int  # a question that another had answered before
    lost: int
    complaints: int  # processes that were shown an error


def answer_at_once(
    work: Path, *, seconds: float, writers: int, settings: Settings, seed: int
) -> Crowd:
    """Run a stream while several processes answer its questions; return what became of the answers.

    Parameters
    ----------
    work
        An empty folder.
    seconds
        How long they write.
    writers
        Processes.
    settings
        Of the stream.
    seed
        Draws images and answers.
    """
    folder = work / "stream"
    make_stream(folder, settings, seed)
    commands = [
        [
            sys.executable,
            "-m",
            "csim.bench.durability.crowd",
            str(folder),
            str(seconds),
            str(seed + writer),
        ]
        for writer in range(writers)
    ]
    people = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # noqa: S603
        for command in commands
    ]
    with Stream(folder) as stream:
        run(
            stream,
            endless(seed),
            is_stopped=lambda: all(person.poll() is not None for person in people),
        )
        stream.attend()
        images = stream.position
    words = [person.communicate() for person in people]
    sent = [key for said, _ in words for key in json.loads(said or b"[]")]
    connection = open_for_reading(Layout(folder).database)
    rows = dict(
        connection.execute(
            "SELECT key, iif(step IS NULL, 'lost', coalesce(refusal, '')) FROM inbox"
        )
    )
    connection.close()
    found = [rows.get(key, "lost") for key in sent]
    return Crowd(
        images=images,
        sent=len(sent),
        taken=found.count(""),
        refused=sum(word not in ("", "lost") for word in found),
        lost=found.count("lost"),
        complaints=sum(bool(complaint) for _, complaint in words),
    )


def race_training(
    work: Path, *, calls: int, settings: Settings, seed: int
) -> tuple[float, float, int]:
    """Return the p99 of classification calls while a model is trained, the median of those without, and how many.

    Parameters
    ----------
    work
        An empty folder.
    calls
        How many at least with a model under way; between two models there are as many without as they took.
    settings
        Of the stream.
    seed
        Draws images and answers.
    """
    make_stream(work / "stream", settings, seed)
    calm: list[float] = []
    busy: list[float] = []
    images = (decode(arrival, (8, 8)) for arrival in endless(seed))
    with Stream(work / "stream", is_live=True) as stream:
        while len(busy) < calls:
            begun = len(busy)
            while stream.is_training:
                busy.append(_call(stream, images))
            for _ in range(max(_PAUSE, len(busy) - begun)):
                calm.append(_call(stream, images))
            _answer_all(work / "stream", seed)
            stream.attend()
    return float(np.quantile(busy, 0.99)), float(np.median(calm)), len(busy)


def _call(stream: Stream, images: Iterator[Decoded | Trouble]) -> float:
    some = [image for image in islice(images, _CALL) if isinstance(image, Decoded)]
    start = time.perf_counter()
    stream.take(some)
    return time.perf_counter() - start


def _answer_all(folder: Path, seed: int) -> None:
    rng, connection = random.Random(seed), open_for_messages(Layout(folder).database)  # noqa: S311
    rows = connection.execute("SELECT id FROM questions WHERE status = 'open'").fetchall()
    inbox.post(connection, [Named(question, str(rng.randrange(10))) for (question,) in rows])
    connection.close()


def _write(folder: Path, seconds: float, seed: int) -> list[str]:
    """Answer open questions for some seconds, as fast as they come; return the keys of all answers."""
    rng, connection = random.Random(seed), open_for_messages(Layout(folder).database)  # noqa: S311
    sent: list[str] = []
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        rows = connection.execute(
            "SELECT id FROM questions WHERE status IN ('open', 'undone')"
        ).fetchall()
        for (question,) in rng.sample(rows, min(3, len(rows))):
            key = f"{seed} {len(sent)}"
            inbox.post(connection, [Named(question, str(rng.randrange(10)))], keys=[key])
            sent.append(key)
        time.sleep(rng.uniform(0, 0.05))
    connection.close()
    return sent


if __name__ == "__main__":
    print(json.dumps(_write(Path(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]))))  # noqa: T201
