"""The message that carries what a worker made of an image: pixels and view, or a trouble.

`entry` is the number of the image's own message, by which `csim run` puts results in order.
"""

from __future__ import annotations

import numpy as np

from csim.distributed.consumer_group import Entry
from csim.distributed.image_message import image_id
from csim.distributed.stream_message import Number, parse_number
from csim.records import View
from csim.sources.arrival import Decoded, Trouble

Fields = dict[bytes, str | bytes | int]


def to_fields(entry: Entry, found: Decoded | Trouble) -> Fields:
    """Return the fields of the message about an image.

    Parameters
    ----------
    entry
        The message that the image came with. That of a trouble is kept, for the dead letters.
    found
        What the worker made of it.
    """
    fields: Fields = {b"entry": entry.id, b"id": found.id}
    if isinstance(found, Trouble):
        return dict(entry.fields) | fields | {b"kind": found.kind, b"reason": found.reason}
    assert found.view is not None
    if found.source_name is not None:
        fields[b"source"] = found.source_name
    return fields | {
        b"pixels": found.image.tobytes(),
        b"kept": found.kept,
        b"vector": np.asarray(found.view.vector, np.float32).tobytes(),
        b"features": found.view.features.tobytes(),
        b"precision": found.view.features.dtype.str,  # frozen vectors have half of it
        b"model": found.view.model,
    }


def from_fields(entry: Entry, shape: tuple[int, ...]) -> Decoded | Trouble:
    """Return what `to_fields` wrote about an image whose pixels have a shape."""
    fields = entry.fields
    item_id = image_id(entry)
    if b"kind" in fields:
        return Trouble(item_id, fields[b"kind"].decode(), fields[b"reason"].decode())
    try:
        source = fields.get(b"source")
        return Decoded(
            item_id,
            np.frombuffer(fields[b"pixels"], np.uint8).reshape(shape),
            fields[b"kept"],
            source_name=None if source is None else source.decode(),
            view=View(
                np.frombuffer(fields[b"vector"], np.float32),
                np.frombuffer(fields[b"features"], fields[b"precision"].decode()),
                int(fields[b"model"]),
            ),
        )
    except (KeyError, TypeError, ValueError) as error:
        reason = f"the message of a worker must hold an image of shape {shape}, got {error!r}"
        return Trouble(item_id, "no-image", reason)


def origin(entry: Entry) -> Number:
    """Return the number of the image's own message, in the order of the stream."""
    return parse_number(entry.fields.get(b"entry", b"0-0"))
