"""Published files: csim knows their name, size and checksum.

csim searches the data folder and then the cache. The data folder is `CSIM_DATA`, or given, and
holds a folder per data set. A missing file is downloaded into the data folder, or into the cache if
the data folder is not writable. A file is checked whenever it is opened. A damaged file is reported
and never replaced.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from io import BufferedRandom, BufferedReader
from pathlib import Path

from csim.errors import InputError


@dataclass(frozen=True)
class RemoteFile:
    """Describe a file as it was published.

    Parameters
    ----------
    name
        Name of the file, without folders.
    addresses
        Addresses to download it from, the best first; none if there is no public address.
    size
        Size in bytes.
    sha256, md5
        Hexadecimal checksums. csim checks the stronger one. Without a checksum it checks only the
        size.
    """

    name: str
    addresses: tuple[str, ...] = ()
    size: int | None = None
    sha256: str | None = None
    md5: str | None = None

    @property
    def checksum(self) -> tuple[str, str] | None:
        """Return the kind of the stronger checksum and its value."""
        if self.sha256:
            return "sha256", self.sha256
        return ("md5", self.md5) if self.md5 else None

    def describe(self) -> str:
        """Return the expected size and checksum as text."""
        size = f"{self.size:,} bytes" if self.size is not None else ""
        return ", ".join(part for part in (size, " ".join(self.checksum or ())) if part)

    def mismatch(self, content: BufferedReader | BufferedRandom) -> str | None:
        """Return how the content differs from the published file, or None if it does not.

        `content` is then at its beginning.
        """
        found = content.seek(0, os.SEEK_END)
        content.seek(0)
        if self.checksum is None:
            if self.size in (None, found):
                return None
            return f"it must have {self.size:,} bytes, it has {found:,}"
        kind, expected = self.checksum
        digest = hashlib.file_digest(
            content, lambda: hashlib.new(kind, usedforsecurity=False)
        ).hexdigest()
        content.seek(0)
        if digest == expected:
            return None
        return f"its {kind} must be {expected}, found {digest} in {found:,} bytes"


@dataclass(frozen=True)
class DataFolders:
    """Find files in the data folders, and download missing ones into them.

    Parameters
    ----------
    roots
        Folders with a subfolder per data set, in the order of the search. A download goes to the
        first writable one.
    fetch
        Downloads a file to a path, or raises `InputError`.
    """

    roots: tuple[Path, ...]
    fetch: Callable[[RemoteFile, Path], None]

    def find(self, folder: str, file: RemoteFile) -> Path | None:
        """Return the path of a file, or None if it is in none of the folders."""
        paths = (root / folder / file.name for root in self.roots)
        return next((path for path in paths if path.is_file()), None)

    def open(self, folder: str, file: RemoteFile) -> BufferedReader:
        """Open a file and check it. Download it first if it is in none of the folders."""
        path = self.find(folder, file) or self._download(folder, file)
        try:
            content = path.open("rb")
        except OSError as error:
            raise InputError(
                f"{path} cannot be read ({error.strerror}); check its permissions"
            ) from error
        if mismatch := file.mismatch(content):
            content.close()
            advice = "replace it with a complete copy"
            if file.addresses:
                advice = f"delete it, and csim fetches it again from {file.addresses[0]}"
            raise InputError(f"{path} is damaged: {mismatch}; {advice}")
        return content

    def _download(self, folder: str, file: RemoteFile) -> Path:
        if not file.addresses:
            raise InputError(f"{self._missing(folder, file)}; it has no public address")
        target = self._writable(folder) / file.name
        try:
            self.fetch(file, target)
        except InputError as error:
            raise InputError(
                f"{self._missing(folder, file)}; get it from {file.addresses[0]}. "
                f"The download failed: {error}"
            ) from error
        return target

    def _missing(self, folder: str, file: RemoteFile) -> str:
        searched = " and ".join(str(root / folder) for root in self.roots)
        expected = f" ({file.describe()})" if file.describe() else ""
        return (
            f"{file.name} is missing: looked in {searched}; "
            f"put it{expected} in {self.roots[0] / folder}"
        )

    def _writable(self, folder: str) -> Path:
        for root in self.roots:
            try:
                (root / folder).mkdir(parents=True, exist_ok=True)
                with tempfile.TemporaryFile(dir=root / folder):
                    return root / folder
            except OSError:
                continue
        folders = " or ".join(map(str, self.roots))
        raise InputError(
            f"a download needs a writable folder; cannot write in {folders}, make one writable"
        )


def data_folder() -> Path:
    """Return the folder that `CSIM_DATA` names."""
    if not (folder := os.environ.get("CSIM_DATA")):
        raise InputError(
            "csim must know where the data sets are; set CSIM_DATA to their folder, "
            "or pass --data-dir"
        )
    return Path(folder)


def cache_folder() -> Path:
    """Return csim's folder in your cache, which is `XDG_CACHE_HOME` or `~/.cache`."""
    return Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")) / "csim"
