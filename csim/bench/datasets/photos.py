"""Photographs by name, from a folder with a subfolder per class or from the authors' archive.

The folder `photos/NAME` in the data folder comes first. If there is none, csim reads the archive of
`eurosat` and `flowers-102`, and downloads it if need be. An archive is read in memory and never
unpacked. The other names have no archive with a published checksum, so they need the folder.

- P. Helber et al., "EuroSAT", IEEE J-STARS 12(7), 2019. A satellite's view of ten kinds of land.
- M.-E. Nilsback and A. Zisserman, "Automated flower classification over a large number of classes",
  ICVGIP 2008. The authors number the 102 kinds of flowers and do not name them in the files.
"""

from __future__ import annotations

import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import BinaryIO

import numpy as np

from csim.bench.datasets import DataSet, custom
from csim.bench.datasets.download import Progress
from csim.bench.datasets.files import DataFolders, RemoteFile
from csim.bench.datasets.published import EUROSAT_FILES, FLOWERS_FILES
from csim.errors import InputError
from csim.sources.arrival import Trouble
from csim.sources.open_picture import open_picture
from csim.sources.resize import min_decoded_side, to_array

_USUAL_SIZE = (64, 64)  # as `csim init` for its own network
_DAMAGED_ARCHIVE_ERRORS = (tarfile.TarError, zipfile.BadZipFile, zlib.error, EOFError, OSError)

Photos = Iterator[tuple[str, bytes]]  # the class name and the content of each file


@dataclass(frozen=True)
class PhotoSet:
    """Describe a set of photographs; without files it has no archive that csim could check."""

    name: str
    count: int
    files: tuple[RemoteFile, ...] = ()
    read: Callable[[Sequence[BinaryIO]], Photos] | None = None


def from_zip_of_folders(files: Sequence[BinaryIO]) -> Photos:
    """Yield the JPEG files of a ZIP archive, in order of their paths; their folder is the class."""
    with zipfile.ZipFile(files[0]) as archive:
        for path in sorted(map(PurePosixPath, archive.namelist())):
            if path.suffix.lower() == ".jpg":
                yield path.parent.name, archive.read(str(path))


def from_flowers(files: Sequence[BinaryIO]) -> Photos:
    """Yield the photographs of `102flowers.tgz`, named by their number in `imagelabels.mat`."""
    from scipy.io import loadmat  # noqa: PLC0415 - memory that few streams need

    pictures, labels = files
    names = loadmat(labels)["labels"].ravel().tolist()
    with tarfile.open(fileobj=pictures, mode="r:gz") as archive:
        for member in archive:
            path = PurePosixPath(member.name)
            if path.suffix == ".jpg" and (stream := archive.extractfile(member)):
                number = int(path.stem.rpartition("_")[2])
                yield str(names[number - 1]), stream.read()


SETS = (
    PhotoSet("groceries", 5421),
    PhotoSet("fruits", 4500),
    PhotoSet("traffic-signs", 4638),
    PhotoSet("eurosat", 27_000, EUROSAT_FILES, from_zip_of_folders),
    PhotoSet("flowers-102", 8189, FLOWERS_FILES, from_flowers),
)
NAMES = tuple(photos.name for photos in SETS)


def load(
    photos: PhotoSet,
    folders: DataFolders,
    size: tuple[int, ...] | None = None,
    *,
    on_progress: Progress | None = None,
) -> DataSet:
    """Return a set of photographs.

    Parameters
    ----------
    photos
        Which set.
    folders
        Where to look for it.
    size
        Height and width to resize to. Higher keeps finer detail but takes longer. None is as for
        `custom.read` if there is a folder, and 64×64 for an archive.
    on_progress
        Called after each image of a folder.
    """
    places = [root / "photos" / photos.name for root in folders.roots]
    if found := next((place for place in places if place.is_dir()), None):
        return custom.read(photos.name, found, size, on_progress=on_progress)
    if photos.read is None:
        searched = " and ".join(map(str, places))
        raise InputError(
            f"the photographs {photos.name} are missing: looked in {searched}; put them there, "
            "with a subfolder per class. They have no archive that csim could check"
        )
    files = [folders.open(photos.name, file) for file in photos.files]
    try:
        return _decoded(photos, photos.read(files), (size or _USUAL_SIZE)[:2])
    except (*_DAMAGED_ARCHIVE_ERRORS, ValueError, LookupError) as error:
        raise InputError(f"{files[0].name} is damaged ({error}); fetch it again") from error
    finally:
        for file in files:
            file.close()


def _decoded(photos: PhotoSet, found: Photos, size: tuple[int, ...]) -> DataSet:
    images = np.empty((photos.count, *size, 3), np.uint8)
    names: list[str] = []
    for name, content in found:
        picture = open_picture(name, content, least=min_decoded_side(size))
        if isinstance(picture, Trouble):
            raise ValueError(f"a picture of {name}: {picture.reason}")
        images[len(names)] = to_array(picture, images.shape[1:])
        names.append(name)
    if len(names) != photos.count:
        raise ValueError(f"{photos.count:,} photographs expected, it holds {len(names):,}")
    return DataSet(photos.name, images, names)
