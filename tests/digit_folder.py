"""A small real stream folder for tests: scikit-learn's digits, three known, the rest appear."""

import io

import numpy as np
from digit_stream import SMALL, digit_stream
from PIL import Image

from csim.folder.database import open_for_reading
from csim.folder.layout import Config, Layout
from csim.folder.make import make
from csim.settings import Settings
from csim.sources.arrival import Decoded

SETTINGS = Settings(**SMALL | {"update_labels": 4}, budget=0.1)


def png(image):
    file = io.BytesIO()
    Image.fromarray(image).save(file, "PNG")
    return file.getvalue()


def decoded(images, prefix="image"):
    return [
        Decoded(f"{prefix} {number}", image, png(image))
        for number, image in enumerate(images, start=1)
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


def crash(stream):
    """Leave a stream as a killed process does: nothing more is written."""
    stream._resources.close()


def save(stream):
    """Write a snapshot now."""
    stream._snapshots.save(stream._engine, stream._log.last.number)
