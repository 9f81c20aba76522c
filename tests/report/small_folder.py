"""A real stream folder of digits, small enough for tests, in which everything happened once.

Digits 0 and 1 are known, 1 under a nasty name. 3s and 4s appear among 160 images, whose ids are
nasty too. One answer is taken back and one question is skipped. 3 gets two names, which are
merged. A class is renamed, another is removed, and models are trained. Then 60 more images arrive,
and some questions stay open.
"""

from __future__ import annotations

import functools
import shutil
import tempfile
from pathlib import Path

from csim.bench.datasets.digits import digits
from csim.folder.layout import Config
from csim.folder.make import make
from csim.folder.reader import Reader
from csim.folder.send import send
from csim.folder.stream import Stream
from csim.messages import (
    AddClass,
    Correct,
    MergeClasses,
    Named,
    RemoveClass,
    RenameClass,
    Skip,
    Undo,
)
from csim.settings import Settings
from csim.sources.arrival import Arrival, Decoded, Trouble
from csim.sources.decode import decode

NASTY = '<b>one&"'
NASTY_ID = "<i>'\"&{}.png"
SETTINGS = Settings(
    epochs=4,
    hidden_units=32,
    embedding_size=16,
    channels=4,
    update_steps=10,
    keep=0.8,
    ask_every=20,
    recent=200,
    budget=0.2,
    update_labels=1000,
)
_BEFORE = 160  # images before the answers
_AFTER = 60  # images after them
_TEMPORARY = tempfile.TemporaryDirectory()
_NAMES = {"0": "zero", "1": NASTY, "3": "three", "4": "four"}


def _split() -> tuple[list[Decoded], list[str], list[Decoded], dict[str, str]]:
    """Return labelled images with their names, the images of the stream, and what those are."""
    data = digits()
    places = [place for place, name in enumerate(data.names) if name in _NAMES]
    known = [place for place in places if data.names[place] in "01"][:40]
    rest = [place for place in places if place not in known][: _BEFORE + _AFTER]
    labelled = [decode(Arrival(f"labelled/{place}", data.images[place]), (8, 8)) for place in known]
    stream = [decode(Arrival(NASTY_ID.format(place), data.images[place]), (8, 8)) for place in rest]
    truth = {NASTY_ID.format(place): _NAMES[data.names[place]] for place in rest}
    return labelled, [_NAMES[data.names[place]] for place in known], stream, truth


def new_folder(root: Path, **changes) -> Path:
    """Return a folder that no image has come to yet."""
    labelled, names, _, _ = _split()
    settings = Settings.from_dict(SETTINGS.to_dict() | changes)
    make(root, Config(settings, (8, 8), retrain_lag=0), labelled, names)
    return root


def arrivals() -> list[Decoded]:
    return _split()[2]


def truth() -> dict[str, str]:
    return _split()[3]


@functools.cache
def small_folder() -> Path:
    """Return the folder; whoever changes it takes a copy."""
    root = new_folder(Path(_TEMPORARY.name) / "small & <i>nasty")
    _, _, stream, what = _split()
    with Stream(root, trainer=None) as engine:
        engine.take(stream[:_BEFORE])
    with Reader(root) as reader:
        asked = [
            (question.id, what[reader.item(question.representative).id])
            for question in reader.questions()
        ]
    assert len({name for _, name in asked}) == 4
    assert len(asked) > 10
    messages: list = [Skip(asked[0][0])]
    threes = [question_id for question_id, name in asked[1:] if name == "three"]
    messages += [Named(threes[0], "drei")]
    messages += [
        Named(question_id, name) for question_id, name in asked[1:] if question_id != threes[0]
    ]
    messages += [
        Undo(asked[-1][0]),
        Correct(asked[-2][0], "odd one"),
        Correct(asked[-2][0], asked[-2][1]),
    ]
    messages += [MergeClasses(_class_of("drei", messages), _class_of("three", messages))]
    messages += [AddClass("nothing"), AddClass("never seen")]
    assert all(outcome.refusal is None for outcome in send(root, messages)), send(root, [])
    with Reader(root) as reader:
        gone = next(row.id for row in reader.classes() if row.name == "nothing")
        four = next(row.id for row in reader.classes() if row.name == "four")
    send(root, [RemoveClass(gone), RenameClass(four, "FOUR")])
    with Stream(root) as engine:
        engine.take(stream[_BEFORE:])
        engine.note(Trouble("<script>.png", "damaged", "a PNG must be whole, this <one> is not"))
        engine.note(Trouble("empty.png", "empty", "a file must hold an image"))
        engine.attend()
    return root


def _class_of(name: str, messages: list) -> int:
    """Return the id that a new class gets: ids follow those of the two known ones, in order."""
    known = ["", ""]
    for message in messages:
        if isinstance(message, Named | Correct) and message.name not in (*known, "zero", NASTY):
            known.append(message.name)
    return known.index(name)


def copy_of(tmp_path: Path) -> Path:
    return Path(shutil.copytree(small_folder(), tmp_path / "copy"))
