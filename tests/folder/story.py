"""A stream with every kind of message, each at a fixed position, so that it can be repeated."""

from contextlib import closing

import numpy as np
from digit_folder import arrivals, name_of, rows
from digit_stream import digit_stream
from folder.in_process import InProcessTrainer

from csim.folder import inbox
from csim.folder.codec import message_from_text
from csim.folder.database import open_for_messages
from csim.folder.layout import Layout
from csim.folder.stream import Stream
from csim.messages import (
    AddClass,
    Correct,
    MergeClasses,
    Named,
    RemoveClass,
    RenameClass,
    RestoreClass,
    Skip,
    Split,
    Undo,
)

IMAGES = 420

EDITS = {
    90: AddClass("owl"),
    110: RemoveClass(99),  # refused: there is none
    170: RenameClass(0, "naught"),
    240: RenameClass(1, "naught"),  # refused: the name is taken
    300: MergeClasses(2, 1),
    330: RemoveClass(4),
    335: RestoreClass(4),
    350: RemoveClass(4),
}


def tell(folder, messages, **options):
    """Post messages."""
    with closing(open_for_messages(Layout(folder).database)) as connection:
        return inbox.post(connection, messages, **options)


def name_given(item_id):
    """Return what a person calls an image: a known class, or one of two new classes."""
    name = name_of(item_id)
    return name if name in digit_stream().warm_up_names else "low" if name < "5" else "high"


def replies(question, name):
    """Yield a person's messages about a question, and how many images later each comes."""
    match question % 6:
        case 1:
            yield from ((40, Skip(question)), (60, Named(question, name)))
        case 2:
            yield from ((40, Named(question, "owl")), (80, Correct(question, name)))
        case 3:
            yield from (
                (40, Named(question, name)),
                (60, Undo(question)),
                (70, Named(question, name)),
            )
        case 4:
            yield from (
                (40, Split(question)),
                (60, Named(question, name)),
            )  # one of the two is refused
        case _:
            yield 50, Named(question, name)


def run_reference(folder, trainer=InProcessTrainer):
    """Take the images in small batches; post every answer long before its position."""
    for position, edit in EDITS.items():
        tell(folder, [edit], keys=[f"edit at {position}"], not_before=position)
    with Stream(folder, trainer=trainer) as stream:
        for start in range(0, IMAGES, 30):
            stream.take(arrivals(IMAGES)[start : start + 30])
            reply(folder)
        stream.finish()
    return folder


def reply(folder):
    """Post the messages about every question so far, each once."""
    asked = (
        "SELECT q.id, q.position, i.id FROM questions q JOIN items i ON i.place = representative"
    )
    for question, position, item_id in rows(folder, asked):
        for index, (delay, message) in enumerate(replies(question, name_given(item_id))):
            key = f"question {question}, {index}"
            tell(folder, [message], keys=[key], not_before=position + delay)


def retell(reference, folder):
    """Post all messages of the reference to a new folder."""
    for key, not_before, *text in rows(
        reference, "SELECT key, not_before, kind, body FROM inbox ORDER BY number"
    ):
        tell(folder, [message_from_text(*text)], keys=[key], not_before=not_before)
    return folder


def knowledge(stream):
    """Return all that a stream's engine knows, in a form that can be compared."""
    return _plain(stream._engine.state())


def _plain(value):
    if isinstance(value, np.ndarray):
        return value.shape, str(value.dtype), value.tobytes()
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items()}
    return [_plain(entry) for entry in value] if isinstance(value, list | tuple) else value
