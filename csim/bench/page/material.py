"""Folders for the measurements: many open questions with large groups, and a million images."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from csim.bench.durability.material import as_decoded, make_stream, noisy_digits
from csim.folder.access import WriteAccess
from csim.folder.layout import Layout
from csim.folder.log import LastStep
from csim.folder.reader import Reader
from csim.folder.stream import Stream
from csim.folder.synthetic import add_images
from csim.records import Asked
from csim.settings import Settings

GROUP = 200
# Nearly every image is rejected, and every 200 of them are one group: DBSCAN's radius is that of
# the whole sphere. No answer trains a model, so that the figures are those of the page.
SETTINGS = Settings(
    questions="rejected",
    buffer_size=GROUP,
    eps=2.0,
    keep=1e-6,
    budget=1.0,
    ledger_size=10**6,
    update_labels=0,
    update_size=999,
    epochs=2,
)
_BATCH = 512


def make_questions(root: Path, *, questions: int, seed: int) -> None:
    """Make a folder with open questions whose groups have 200 images.

    Parameters
    ----------
    root
        Its path.
    questions
        At least how many. Higher takes longer, in proportion.
    seed
        Draws the images.
    """
    make_stream(root, SETTINGS, seed)
    with Stream(root, trainer=None) as stream:
        asked = 0
        while asked < questions:
            images, _ = noisy_digits(_BATCH, seed + stream.position)
            batch = [
                as_decoded(f"{number:08d}", image)
                for number, image in enumerate(images, start=stream.position + 1)
            ]
            asked += sum(isinstance(event, Asked) for event in stream.take(batch))


@contextmanager
def long_folder(root: Path, *, images: int, seed: int) -> Iterator[None]:
    """Make a folder with made-up decisions about many images, one each second until now.

    Inside the block this process is its engine: no other can replay what was made up.

    Parameters
    ----------
    root
        Its path.
    images
        At least how many. Higher takes longer, in proportion.
    seed
        Draws the labelled images.
    """
    make_stream(root, SETTINGS, seed)
    with Reader(root) as reader:
        step = reader.history.last_step()
    access = WriteAccess(Layout(root))
    try:
        batches = -(-images // _BATCH)
        start = time.time() - batches * _BATCH
        add_images(access.connection, LastStep(step, "warm-up", 0), batches, start=start)
        yield
    finally:
        access.release()
