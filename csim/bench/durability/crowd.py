"""Measure concurrency: processes that answer while the stream runs, and a model in training."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np

from csim.bench.durability.material import endless, make_stream
from csim.folder import inbox
from csim.folder.database import open_for_messages
from csim.folder.layout import Layout
from csim.folder.reader import Reader
from csim.folder.run import run
from csim.folder.stream import Stream
from csim.messages import Named
from csim.settings import Settings
from csim.sources.arrival import Decoded, Trouble
from csim.sources.decode import decode

_IMAGES_PER_CALL = 125  # one search for questions in each
_FEWEST_CALM_CALLS = 5  # between two models


@dataclass(frozen=True)
class Crowd:
    """Count the outcomes of messages that several processes wrote while the stream ran."""

    images: int
    sent: int
    taken: int
    refused: int  # because another process had answered the question before
    lost: int
    complaints: int  # processes that printed an error


def answer_at_once(
    work: Path, *, seconds: float, writers: int, settings: Settings, seed: int
) -> Crowd:
    """Run a stream while several processes answer its questions; count the outcomes.

    Parameters
    ----------
    work
        An empty folder.
    seconds
        How long the processes write. Higher sends more answers.
    writers
        How many processes write. Higher sends more answers at the same time.
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
    outputs = [person.communicate() for person in people]
    sent = [key for stdout, _ in outputs for key in json.loads(stdout or b"[]")]
    with Reader(folder) as reader:
        taken = {row.key: row for row in reader.history.messages() if row.is_taken}
    refused = sum(key in taken and taken[key].refusal is not None for key in sent)
    lost = sum(key not in taken for key in sent)
    return Crowd(
        images=images,
        sent=len(sent),
        taken=len(sent) - refused - lost,
        refused=refused,
        lost=lost,
        complaints=sum(bool(stderr) for _, stderr in outputs),
    )


def race_training(
    work: Path, *, calls: int, settings: Settings, seed: int
) -> tuple[float, float, int]:
    """Time classification calls while a model is in training and while none is.

    Return the 99th percentile with training and the median without, in seconds, and the number of
    calls with training.

    Parameters
    ----------
    work
        An empty folder.
    calls
        How many calls to time with training, at least. Higher steadies the figures. After each
        model, as many calls follow without training.
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
            for _ in range(max(_FEWEST_CALM_CALLS, len(busy) - begun)):
                calm.append(_call(stream, images))
            _answer_all(work / "stream", seed)
            stream.attend()
    return float(np.quantile(busy, 0.99)), float(np.median(calm)), len(busy)


def _call(stream: Stream, images: Iterator[Decoded | Trouble]) -> float:
    some = [image for image in islice(images, _IMAGES_PER_CALL) if isinstance(image, Decoded)]
    start = time.perf_counter()
    stream.take(some)
    return time.perf_counter() - start


def _answer_all(folder: Path, seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311
    with Reader(folder) as reader:
        answers = [Named(question.id, str(rng.randrange(10))) for question in reader.questions()]
    with closing(open_for_messages(Layout(folder).database)) as connection:
        inbox.post(connection, answers)


def _write(folder: Path, seconds: float, seed: int) -> list[str]:
    """Answer open questions for some seconds; return the keys of all answers."""
    rng = random.Random(seed)  # noqa: S311
    sent: list[str] = []
    until = time.monotonic() + seconds
    with Reader(folder) as reader, closing(open_for_messages(reader.layout.database)) as connection:
        while time.monotonic() < until:
            questions = reader.questions("open") + reader.questions("undone")
            for question in rng.sample(questions, min(3, len(questions))):
                key = f"{seed} {len(sent)}"
                inbox.post(connection, [Named(question.id, str(rng.randrange(10)))], keys=[key])
                sent.append(key)
            time.sleep(rng.uniform(0, 0.05))
    return sent


if __name__ == "__main__":
    print(json.dumps(_write(Path(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]))))  # noqa: T201
