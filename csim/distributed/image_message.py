"""The message that carries an image.

| field | holds |
|---|---|
| `image` | the bytes of an image file |
| `path`, `sha256` | instead of `image`: a file on a disk that csim can read, and its checksum |
| `id` | the permanent id of the image; by default that of the message |
| `source` | which camera the image is of; may be missing |

A path is relative to a folder that the operator of csim names. It cannot lead out of that folder.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from csim.distributed.consumer_group import Entry
from csim.sources.arrival import Arrival, Trouble
from csim.sources.files import MAX_FILE_BYTES, read_file

_NO_FOLDER = (
    "a message that names a file can be read only if csim knows the folder of the files; "
    "run csim with --files FOLDER"
)


def image_id(entry: Entry) -> str:
    """Return the id of a message's image."""
    return entry.fields.get(b"id", b"").decode(errors="backslashreplace") or entry.id


def read_message(entry: Entry, files: Path | None) -> Arrival | Trouble:
    """Return the image of a message, or why there is none.

    Parameters
    ----------
    entry
        The message.
    files
        The folder of the files that messages may name; None if they may name none.
    """
    item_id = image_id(entry)
    content = entry.fields.get(b"image")
    if content is None:
        found = _read_reference(item_id, entry, files)
        if isinstance(found, Trouble):
            return found
        content = found
    if len(content) > MAX_FILE_BYTES:
        limit = f"{MAX_FILE_BYTES:,} bytes"
        return Trouble(
            item_id, "too-large", f"an image must have at most {limit}, got {len(content):,}"
        )
    source = entry.fields.get(b"source")
    source_name = None if source is None else source.decode(errors="backslashreplace")
    return Arrival(item_id, content, is_fresh=True, source_name=source_name)


def may_come_later(found: Arrival | Trouble) -> bool:
    """Tell whether a file could not be read that may be on its way, as on a network drive."""
    return isinstance(found, Trouble) and found.kind in ("vanished", "unreadable")


def _read_reference(item_id: str, entry: Entry, files: Path | None) -> bytes | Trouble:
    path = entry.fields.get(b"path")
    if path is None:
        found = ", ".join(sorted(name.decode(errors="replace") for name in entry.fields))
        reason = f"a message must have a field `image` or `path`; this one has: {found or 'none'}"
        return Trouble(item_id, "no-image", reason)
    if files is None:
        return Trouble(item_id, "no-image", _NO_FOLDER)
    file = files / path.decode(errors="surrogateescape")
    if not _is_inside(file, files):
        reason = "a path must stay inside the folder of --files, this one leads out of it"
        return Trouble(item_id, "no-image", reason)
    content = read_file(item_id, file)
    if isinstance(content, Trouble):
        return content
    wanted = entry.fields.get(b"sha256", b"").decode(errors="replace").lower()
    if hashlib.sha256(content).hexdigest() != wanted:
        reason = f"a file must have the sha256 of its message, {wanted or 'which has none'}; "
        return Trouble(item_id, "no-image", reason + "it was changed, or written only in part")
    return content


def _is_inside(file: Path, folder: Path) -> bool:
    try:
        return file.resolve().is_relative_to(folder.resolve())
    except ValueError:  # the path holds a zero byte
        return False
