"""Copy pictures into an ImageFolder, `root/class name/file`, which most training tools read.

The table `root.csv` beside the folder lists every file with its image's id, its class and who
decided it. Names of files and folders may have been changed to be safe (`file_names`); those in
the table never are. The folder holds class folders only, because many tools list it to find the
classes.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path

from csim.export.destination import atomic_output
from csim.export.file_names import folder_names, safe_name
from csim.export.labels import decided_by
from csim.export.rows import Follow
from csim.folder.reader import ItemRow, Reader
from csim.sources.directory import SUFFIXES
from csim.sources.open_picture import format_of

FIELDS = ("file", "item", "class", "decided_by", "position")
_EXTENSIONS = {"JPEG": ".jpg", "PNG": ".png", "WebP": ".webp", "BMP": ".bmp", "TIFF": ".tif"}


@dataclass
class Copied:
    """Count what was copied, and what could not be."""

    images: int = 0
    classes: int = 0
    gone: int = 0  # images whose picture is no longer kept
    unnamed: int = 0  # images without a class
    junk: int = 0  # images that a person calls junk, or that look like it


def write_images(
    reader: Reader,
    root: Path,
    *,
    every: bool = False,
    source: str | None = None,
    follow: Follow = lambda _: None,
) -> Copied:
    """Copy pictures into a new folder, sorted by class.

    Parameters
    ----------
    reader
        Of a stream folder.
    root
        The new folder; neither it nor `root.csv` may exist yet.
    every
        Copy every image that has a class and a picture, not only those that a person labelled.
    source
        Copy only images of this camera; None copies all.
    follow
        Called with the number of images copied so far.
    """
    copied = Copied()
    outside = reader.layout.root
    with (
        reader.transaction(),
        atomic_output(root, outside=outside) as temporary,
        atomic_output(table_of(root), outside=outside) as table,
        table.open("x", encoding="utf-8", newline="") as file,
    ):
        temporary.mkdir()
        folders = folder_names(row.name for row in reader.classes())
        writer = csv.writer(file)
        writer.writerow(FIELDS)
        for item, picture in _pictures(reader, every, source, copied):
            assert item.name is not None
            path = _put(temporary / folders[item.name], item, picture).relative_to(temporary)
            writer.writerow(
                (path.as_posix(), item.id, item.name, decided_by(item), max(item.place, 0))
            )
            copied.images += 1
            follow(copied.images)
        copied.classes = sum(1 for _ in temporary.iterdir())
    return copied


def table_of(root: Path) -> Path:
    """Return the path of an image folder's table."""
    return root.with_name(f"{root.name}.csv")


def _pictures(
    reader: Reader, every: bool, source: str | None, copied: Copied
) -> Iterator[tuple[ItemRow, bytes]]:
    """Yield the images to copy with their files; count those that cannot be copied."""
    for item in reader.items(source):
        if not (every or item.is_told):
            continue
        if item.is_junk:
            copied.junk += 1
            continue
        if item.name is None:
            copied.unnamed += 1
            continue
        picture = reader.picture(item.place) if item.has_picture else None
        if picture is None or format_of(picture) not in _EXTENSIONS:
            copied.gone += 1
        else:
            yield item, picture


def _put(folder: Path, item: ItemRow, picture: bytes) -> Path:
    """Write a file named by the image's id, followed by its place if the name is taken."""
    folder.mkdir(exist_ok=True)
    stem = safe_name(_without_extension(item.id))
    extension = _EXTENSIONS[str(format_of(picture))]
    # A third try may be needed: an id may look like another image's id and place.
    for extra in chain(("", f"~{item.place}"), (f"~{item.place}~{number}" for number in count(2))):
        path = folder / f"{stem}{extra}{extension}"
        try:
            with path.open("xb") as file:
                file.write(picture)
        except FileExistsError:
            continue
        return path
    raise AssertionError("count() never ends")


def _without_extension(item_id: str) -> str:
    return next(
        (item_id[: -len(known)] for known in SUFFIXES if item_id.lower().endswith(known)), item_id
    )
