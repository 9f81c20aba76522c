"""Published files: known by name, size and checksum, looked for in the data folder and then in the cache.

The data folder is `CSIM_DATA` or given; a data set is a folder of its name in it. What is missing is downloaded into
the data folder, or into the cache if the data folder cannot be written. A file is checked whenever it is opened; one
that is damaged is reported and never replaced.
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
    """A file as it was published.

    Parameters
    ----------
    name
        Of the file, without folders.
    addresses
        Where it can be had, the best first; none if it is not on the network.
    size
        In bytes.
    sha256, md5
        Hexadecimal checksums. The stronger one is checked; without both any content passes.
    """

    name: str
    addresses: tuple[str, ...] = ()
    size: int | None = None
    sha256: str | None = None
    md5: str | None = None

    @property
    def checksum(self) -> tuple[str, str] | None:
        """The kind of the stronger checksum and its value."""
        if self.sha256:
            return "sha256", self.sha256
        return ("md5", self.md5) if self.md5 else None

    def describe(self) -> str:
        """Return what is expected of the content, in words."""
        size = f"{self.size:,} bytes" if self.size is not None else ""
        return ", ".join(part for part in (size, " ".join(self.checksum or ())) if part)

    def complaint(self, content: BufferedReader | BufferedRandom) -> str | None:
        """Return what is wrong with the content, None if nothing is; `content` is left at its beginning."""
        found = content.seek(0, os.SEEK_END)
        content.seek(0)
        if self.checksum is None:
            return (
                None
                if self.size in (None, found)
                else f"it must have {self.size:,} bytes, it has {found:,}"
            )
        kind, expected = self.checksum
        digest = hashlib.file_digest(
            content, lambda: hashlib.new(kind, usedforsecurity=False)
        ).hexdigest()
        content.seek(0)
        if digest == expected:
            return None
        return f"its {kind} must be {expected}, found {digest} in {found:,} bytes"


@dataclass(frozen=True)
class Places:
    """Where files are looked for, and where they are put.

    Parameters
    ----------
    roots
        Folders with a subfolder per data set, in the order of looking. A download goes to the first that can be
        written.
    fetch
        Downloads a file to a path, or raises `InputError`.
    """

    roots: tuple[Path, ...]
    fetch: Callable[[RemoteFile, Path], None]

    def find(self, folder: str, file: RemoteFile) -> Path | None:
        """Return where a file is, None if it is nowhere."""
        paths = (root / folder / file.name for root in self.roots)
        return next((path for path in paths if path.is_file()), None)

    def open(self, folder: str, file: RemoteFile) -> BufferedReader:
        """Return a file, checked and open at its beginning; download it if it is nowhere."""
        path = self.find(folder, file) or self._download(folder, file)
        try:
            content = path.open("rb")
        except OSError as error:
            raise InputError(
                f"{path} cannot be read ({error.strerror}); see to its permissions"
            ) from error
        if complaint := file.complaint(content):
            content.close()
            again = (
                f"it is then fetched again from {file.addresses[0]}"
                if file.addresses
                else "put a whole copy there"
            )
            raise InputError(f"{path} is damaged: {complaint}; delete it, {again}")
        return content

    def _download(self, folder: str, file: RemoteFile) -> Path:
        if not file.addresses:
            raise InputError(f"{self._missing(folder, file)}; it has no public address")
        target = self._writable(folder) / file.name
        try:
            self.fetch(file, target)
        except InputError as error:
            raise InputError(
                f"{self._missing(folder, file)}; get it from {file.addresses[0]}. The download failed: {error}"
            ) from error
        return target

    def _missing(self, folder: str, file: RemoteFile) -> str:
        looked = " and ".join(str(root / folder) for root in self.roots)
        expected = f" ({file.describe()})" if file.describe() else ""
        return f"{file.name} is missing: looked in {looked}; put it{expected} in {self.roots[0] / folder}"

    def _writable(self, folder: str) -> Path:
        for root in self.roots:
            try:
                (root / folder).mkdir(parents=True, exist_ok=True)
                with tempfile.TemporaryFile(dir=root / folder):
                    return root / folder
            except OSError:
                continue
        raise InputError(
            f"a download needs a folder to write to; cannot write in {' or '.join(map(str, self.roots))}"
        )


def data_folder() -> Path:
    """Return the folder that `CSIM_DATA` names."""
    if not (folder := os.environ.get("CSIM_DATA")):
        raise InputError(
            "where the data sets are is not known; set CSIM_DATA to their folder, or pass --data-dir"
        )
    return Path(folder)


def cache_folder() -> Path:
    """Return csim's folder in the user's cache: `XDG_CACHE_HOME`, or `~/.cache`."""
    return Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")) / "csim"
