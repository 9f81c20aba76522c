"""What a stream of photographs costs beside its encoder: time, memory and disk space."""

from __future__ import annotations

import gc
import time
import tracemalloc
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from PIL import Image

from csim.bench.run import run
from csim.bench.scenario import Stream
from csim.build import open_frozen
from csim.classifier import StreamClassifier
from csim.embed.encoder import CheckedEncoder
from csim.folder.layout import Config
from csim.folder.make import make
from csim.folder.reader import Reader
from csim.folder.run import run as run_folder
from csim.folder.stream import Stream as FolderStream
from csim.records import EncoderId, Floats, Images
from csim.settings import Settings
from csim.sources.arrival import Arrival, Decoded
from csim.sources.decode import decode
from csim.sources.directory import Directory
from csim.sources.resize import thumbnail

SETTINGS = Settings.photographs()
# Asks nothing, and has a small window: what questions, answers and the window hold has a bound. In
# between, the database keeps room for the next pictures, which is no growth either.
_FOLDER_SETTINGS = Settings(encoder="lite0", recent=200, budget=0.0)


@dataclass(frozen=True)
class Pace:
    """Hold the seconds of a stream and those of its encoder, and the passes per image."""

    stream: float
    encoder: float
    passes: float


class TimedEncoder:
    """Count what an encoder embeds, and how long it takes."""

    def __init__(self, encoder: CheckedEncoder) -> None:
        self.identity: EncoderId | None = encoder.identity
        self.image_shape = encoder.image_shape
        self.images = 0
        self.seconds = 0.0
        self._encoder = encoder

    def embed(self, images: Images) -> Floats:
        """Return one vector per image, (n, d)."""
        start = time.perf_counter()
        vectors = self._encoder.embed(images)
        self.seconds += time.perf_counter() - start
        self.images += len(images)
        return vectors


def time_stream(stream: Stream) -> Pace:
    """Return the pace of a stream after its warm-up; all questions are answered at once."""
    encoder = _open()
    marks: list[tuple[float, float, int]] = []

    def mark(_: object) -> None:
        marks.append((time.perf_counter(), encoder.seconds, encoder.images))

    run(
        stream,
        lambda on_event: StreamClassifier(SETTINGS, encoder=encoder, on_event=on_event),
        on_model=mark,  # after the warm-up, and at the end
    )
    (start, seconds_before, images_before), (end, seconds, images) = marks
    return Pace(
        end - start, seconds - seconds_before, (images - images_before) / len(stream.images)
    )


def memory_per_image(stream: Stream, images: int) -> float:
    """Return the bytes that a classifier takes per remembered image, beside its thumbnail.

    Parameters
    ----------
    stream
        Has the photographs.
    images
        How many to remember, at most the recent window. More steadies the figure.
    """
    classifier = StreamClassifier(SETTINGS, encoder=_open())
    classifier.fit(stream.warm_up, stream.warm_up_names)
    batch = stream.images[:images]
    tracemalloc.start()
    classifier.observe(batch)
    gc.collect()
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return (taken - sum(thumbnail(image).nbytes for image in batch)) / images


def folder_growth(stream: Stream, work: Path, marks: tuple[int, int]) -> float:
    """Return the bytes by which a stream folder grows per image, beside kept pictures.

    Parameters
    ----------
    stream
        Has the photographs. csim asks nothing about them.
    work
        An empty folder.
    marks
        From how many images to how many. The recent window, which snapshots hold, must be full at
        the first.
    """
    assert marks[0] >= _FOLDER_SETTINGS.recent
    shape = stream.images.shape[1:]
    arrivals = [
        decode(Arrival(f"known/{index}", image), shape)
        for index, image in enumerate(stream.warm_up)
    ]
    labelled = [arrival for arrival in arrivals if isinstance(arrival, Decoded)]
    make(work / "stream", Config(_FOLDER_SETTINGS, shape), labelled, stream.warm_up_names)
    sizes = []
    for start, end in pairwise((0, *marks)):
        files = work / f"from-{start}"
        files.mkdir()
        for index, image in enumerate(stream.images[start:end], start=start):
            Image.fromarray(image).save(files / f"{index:05d}.jpg")
        with FolderStream(work / "stream") as folder:
            run_folder(folder, Directory(files))
        sizes.append(_size(work / "stream"))
    return (sizes[1] - sizes[0]) / (marks[1] - marks[0])


def _open() -> TimedEncoder:
    encoder = open_frozen(SETTINGS)
    assert encoder is not None
    return TimedEncoder(encoder)


def _size(root: Path) -> int:
    """Return the bytes of all files of a stream folder, beside kept pictures."""
    with Reader(root) as reader:
        pictures = reader.counts.picture_bytes()
    return sum(path.stat().st_size for path in root.rglob("*") if path.is_file()) - pictures
