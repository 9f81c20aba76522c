"""A small real stream folder for tests: scikit-learn's digits as files, three known, the rest appear."""

import io
import shutil

import numpy as np
from digit_stream import SMALL, digit_stream
from PIL import Image

from csim.folder import inbox
from csim.folder.database import open_for_messages, open_for_reading
from csim.folder.layout import Config, Layout
from csim.folder.make import make
from csim.folder.stream import Stream
from csim.records import Named
from csim.settings import Settings
from csim.sources.arrival import Decoded

SETTINGS = Settings(**SMALL | {"update_labels": 4}, budget=0.1)


def png(image):
    file = io.BytesIO()
    Image.fromarray(image).save(file, "PNG")
    return file.getvalue()


def decoded(images, prefix="image"):
    return [
        Decoded(f"{prefix} {place}", image, png(image))
        for place, image in enumerate(images, start=1)
    ]


def make_folder(root, settings=SETTINGS, **config):
    stream = digit_stream()
    images = np.asarray(stream.warm_up, np.uint8)
    make(
        root,
        Config(settings, images.shape[1:], **config),
        decoded(images, "labelled"),
        stream.warm_up_names,
    )
    return root


def copied(folder, target):
    return shutil.copytree(folder, target)


def arrivals(count=None):
    return decoded(np.asarray(digit_stream().images, np.uint8)[:count])


def name_of(item_id):
    """Return the true class of an image of the stream."""
    return digit_stream().names[int(item_id.split()[-1]) - 1]


def rows(folder, query, *values):
    connection = open_for_reading(Layout(folder).database)
    try:
        return connection.execute(query, values).fetchall()
    finally:
        connection.close()


def answer(folder, position, delay=100):
    """Answer truthfully what was asked up to a position, each so many images after it was asked."""
    connection = open_for_messages(Layout(folder).database)
    asked = connection.execute(
        "SELECT q.id, q.position, i.id FROM questions q JOIN items i ON i.place = representative WHERE q.position <= ?",
        (position,),
    ).fetchall()
    for question, at, item_id in asked:
        inbox.post(
            connection,
            [Named(question, name_of(item_id))],
            keys=[f"answer {question}"],
            not_before=at + delay,
        )
    connection.close()


def crash(stream):
    """Leave a stream as a killed process does: nothing more is written."""
    stream._resources.close()


def save(stream):
    """Write a snapshot now."""
    stream._snapshots.save(stream._engine, stream._log.last.number)


def run_through(folder, images, batch=32, **options):
    """Take images with answers that come while they do."""
    with Stream(folder, **options) as stream:
        for start in range(0, len(images), batch):
            stream.take(images[start : start + batch])
            answer(folder, stream.position)
        stream.finish()
