"""Kept pictures as an ImageFolder, `root/class name/file`, which most tools for training take.

Beside the folder lies a table of the same name, `root.csv`, which says of every file which image it is, its class and
who decided that: names of files and folders may have been changed to be safe (`file_names`), those in the table never
are. The folder itself holds nothing but classes, since many programs list it to learn them.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path

from csim.export.file_names import folder_names, safe_name
from csim.export.labels import decided_by
from csim.export.rows import Follow
from csim.export.whole import whole
from csim.folder.reader import ItemRow, Reader
from csim.sources.directory import SUFFIXES
from csim.sources.open_picture import format_of

FIELDS = ("file", "item", "class", "decided_by", "position")
_ENDINGS = {"JPEG": ".jpg", "PNG": ".png", "WebP": ".webp", "BMP": ".bmp", "TIFF": ".tif"}


@dataclass
class Copied:
    """What was copied, and what could not be."""

    images: int = 0
    classes: int = 0
    gone: int = 0  # the picture is no longer kept
    unnamed: int = 0  # the image has no class


def write_images(
    reader: Reader, root: Path, *, every: bool = False, follow: Follow = lambda _: None
) -> Copied:
    """Copy pictures into a new folder, sorted by class.

    Parameters
    ----------
    reader
        Of a stream folder.
    root
        Where; there must be nothing yet, and no `root.csv`.
    every
        Take every image that has a class and whose picture is still kept, not only those that a person has named.
    follow
        Called with the number of images copied so far.
    """
    copied, outside = Copied(), reader.layout.root
    with (
        reader.transaction(),
        whole(root, outside=outside) as beside,
        whole(table_of(root), outside=outside) as table,
        table.open("x", encoding="utf-8", newline="") as file,
    ):
        beside.mkdir()
        folders = folder_names(own.name for own in reader.classes())
        writer = csv.writer(file)
        writer.writerow(FIELDS)
        for item, picture in _pictures(reader, every, copied):
            assert item.name is not None
            path = _put(beside / folders[item.name], item, picture).relative_to(beside)
            writer.writerow(
                (path.as_posix(), item.id, item.name, decided_by(item), max(item.place, 0))
            )
            copied.images += 1
            follow(copied.images)
        copied.classes = sum(1 for _ in beside.iterdir())
    return copied


def table_of(root: Path) -> Path:
    """Return where the table of a folder of images lies."""
    return root.with_name(f"{root.name}.csv")


def _pictures(reader: Reader, every: bool, copied: Copied) -> Iterator[tuple[ItemRow, bytes]]:
    """Yield the images to copy with their files, and count those that cannot be."""
    for item in reader.items():
        if not (every or item.is_told):
            continue
        if item.name is None:
            copied.unnamed += 1
            continue
        picture = reader.picture(item.place) if item.has_picture else None
        if picture is None or format_of(picture) not in _ENDINGS:
            copied.gone += 1
        else:
            yield item, picture


def _put(folder: Path, item: ItemRow, picture: bytes) -> Path:
    """Write a file under the image's id, with the image's place behind it if there is such a file already."""
    folder.mkdir(exist_ok=True)
    stem, ending = safe_name(_without_ending(item.id)), _ENDINGS[str(format_of(picture))]
    # The third and later: an id may read like another image's id and place.
    for extra in chain(("", f"~{item.place}"), (f"~{item.place}~{number}" for number in count(2))):
        path = folder / f"{stem}{extra}{ending}"
        try:
            with path.open("xb") as file:
                file.write(picture)
        except FileExistsError:
            continue
        return path
    raise AssertionError("there is always a further number")


def _without_ending(item_id: str) -> str:
    return next(
        (item_id[: -len(known)] for known in SUFFIXES if item_id.lower().endswith(known)), item_id
    )
