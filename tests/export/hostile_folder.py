"""A real stream folder with awkward ids and class names, and pictures of several formats."""

import functools
import io
import shutil
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

import numpy as np
from digit_folder import SETTINGS
from digit_stream import digit_stream
from PIL import Image

from csim.folder.layout import Config, Layout
from csim.folder.make import make
from csim.folder.reader import Reader
from csim.folder.send import send
from csim.folder.stream import Stream
from csim.messages import Correct, Named, Skip, Undo
from csim.settings import Settings
from csim.sources.arrival import Decoded

NAMES = dict(
    zip(
        "0123456789",
        [
            "grey heron",
            "..",
            "a/b",
            "a_b",
            "=1+1",
            "CON",
            "Grey Heron",
            "鷺" * 150,
            'say "hi", ok',
            "images.csv",
        ],
        strict=True,
    )
)

IDS = (
    "../../etc/passwd", "/abs/x.png", "a/b.png", "a_b.png", "a_b", "a\nb", 'x\r\ny,"q"', "CON",
    "nul.png", ".hidden.png", "caf\u00e9", "cafe\u0301", "\U0001f4a5\u202egpj.exe", "x" * 400,
    "鷺" * 200, "=cmd|' /C calc'!A0", "@sum", "-1", "17", "17.png", "17.JPG", "..", ".", " ",
    "trailing. ", "a\\b", "\u2028line", "50%",
    "~1", "a_b~5.png",
)  # fmt: skip

FORMATS = ("PNG", "JPEG", "WEBP", "BMP")
_KNOWN = 90  # labelled images
_FIRST = 150  # images before the answers
_TAKEN = 230  # images in all


def picture(image, kind="PNG"):
    file = io.BytesIO()
    Image.fromarray(image).save(file, kind)
    return file.getvalue()


def truth(place):
    """Return the class name of an image of the stream."""
    return NAMES[digit_stream().names[place - 1]]


@functools.cache
def _home():
    return tempfile.TemporaryDirectory(prefix="csim-export-")  # gone with the process


@functools.cache
def fresh():
    """Return a folder that has seen no image of a stream; read-only."""
    root = Path(_home().name) / "fresh"
    images = np.asarray(digit_stream().warm_up, np.uint8)[:_KNOWN]
    names = [NAMES[digit] for digit in digit_stream().warm_up_names[:_KNOWN]]
    labelled = [
        Decoded(f"labelled/{name}/{place}.png", image, picture(image))
        for place, (name, image) in enumerate(zip(names, images, strict=True))
    ]
    settings = Settings.from_dict(
        SETTINGS.to_dict() | {"update_labels": 8}
    )  # one training is enough here
    make(root, Config(settings, images.shape[1:], retrain_lag=30), labelled, names)
    return root


def arrivals():
    """Return images of the stream under the awkward ids, and then under plain ones."""
    images = np.asarray(digit_stream().images, np.uint8)[:_TAKEN]
    ids = [*IDS, *(f"cam 1/{place}.png" for place in range(len(IDS) + 1, _TAKEN + 1))]
    return [
        Decoded(item_id, image, picture(image, FORMATS[place % len(FORMATS)]))
        for place, (item_id, image) in enumerate(zip(ids, images, strict=True))
    ]


@functools.cache
def lived():
    """Return a folder with answers, a skip, an undo, a correction and open questions; read-only."""
    root = shutil.copytree(fresh(), Path(_home().name) / "lived")
    images = arrivals()
    with Stream(root) as stream:
        stream.take(images[:_FIRST])
        stream.finish()
    with Reader(root) as reader:
        asked = reader.questions()
    answers = [Named(question.id, truth(question.representative)) for question in asked[:-3]]
    send(
        root,
        [
            *answers,
            Skip(asked[-3].id),
            Undo(answers[0].question_id),
            Correct(answers[1].question_id, "@crane"),
        ],
    )
    with Stream(root) as stream:
        stream.take(images[_FIRST:])
        stream.finish()
    return root


def change(folder, statement, *values):
    """Change a folder's database behind its back."""
    with closing(sqlite3.connect(Layout(folder).database)) as connection, connection:
        connection.execute(statement, values)
