"""Downloads that resume after an interruption and are checked before the file gets its name.

The bytes received so far are kept in `name.part` beside the target. After a lost connection csim
resumes the download, with growing pauses. If an address fails, csim tries the next one.
"""

from __future__ import annotations

import http.client
import logging
import os
import re
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from io import BufferedRandom
from pathlib import Path
from typing import Protocol

from csim.atomic import move_into_place
from csim.bench.datasets.files import RemoteFile
from csim.errors import InputError

if sys.platform != "win32":
    import fcntl


class Progress(Protocol):
    """Show how far loading is."""

    def __call__(self, name: str, done: int, total: int | None, unit: str = "bytes") -> None:
        """Show how many bytes of a file have come, or how many images of a folder are read."""
        ...


RETRY_PAUSES_SECONDS = (1.0, 4.0, 16.0)
_BLOCK_BYTES = 1 << 16
_TRANSIENT_STATUSES = (408, 425, 429, 500, 502, 503, 504)  # HTTP statuses worth a retry
_LOG = logging.getLogger(__name__)


class _ConnectionLostError(Exception):
    """Report that the connection was lost; the download can be resumed."""


class _AddressFailedError(Exception):
    """Report that an address does not provide the file."""


def download(
    file: RemoteFile,
    target: Path,
    *,
    on_progress: Progress | None = None,
    waits: Sequence[float] = RETRY_PAUSES_SECONDS,
    timeout: float = 30.0,
) -> None:
    """Download a file to `target` and check it, or raise `InputError`.

    An existing file is left unchanged.

    Parameters
    ----------
    file
        The file and its addresses.
    target
        Path of the downloaded file; its folder must exist.
    on_progress
        Called with the file name, the bytes done, and the total if known.
    waits
        Seconds before each retry after a lost connection. They start again whenever a retry got
        further than all before. Higher survives longer interruptions.
    timeout
        Seconds a server may stay silent. Higher tolerates slower servers and notices dead ones
        later.
    """
    part = target.with_name(f"{target.name}.part")
    with _folder_lock(target.parent):
        if target.exists():
            return
        try:
            with part.open("a+b") as content:
                _from_any(_Transfer(file, content, on_progress, timeout), waits)
            move_into_place(part, target)
        except OSError as error:
            raise InputError(
                f"{part} cannot be written ({error.strerror or error}); "
                "free disk space or check its permissions"
            ) from error
        finally:
            if part.is_file() and not part.stat().st_size:
                part.unlink()


@contextmanager
def _folder_lock(folder: Path) -> Iterator[None]:
    """Lock a folder, so that one process at a time downloads into it."""
    if sys.platform == "win32":
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # some network disks do not support locks
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _from_any(transfer: _Transfer, waits: Sequence[float]) -> None:
    """Try the addresses in turn until one provides the right content."""
    failures = []
    for address in transfer.file.addresses:
        try:
            _retry(transfer, address, waits)
            if mismatch := transfer.file.mismatch(transfer.content):
                transfer.restart()
                raise _AddressFailedError(
                    f"the download is not the published file and was deleted: {mismatch}"
                )
        except _AddressFailedError as failure:
            failures.append(f"{address}: {failure}")
            _LOG.info("%s", failures[-1])
        else:
            return
    raise InputError("; ".join(failures))


def _retry(transfer: _Transfer, address: str, waits: Sequence[float]) -> None:
    """Resume a download after every lost connection, as long as pauses are left."""
    best = transfer.done
    pauses = iter(waits)
    while True:
        try:
            return transfer.receive(address)
        except _ConnectionLostError as error:
            if transfer.done > best:
                best = transfer.done
                pauses = iter(waits)
            if (pause := next(pauses, None)) is None:
                raise _AddressFailedError(
                    f"{error}, {transfer.done:,} bytes were received and are kept"
                ) from error
            time.sleep(pause)


class _Transfer:
    """Receive one file into `content`, over one or more connections."""

    def __init__(
        self,
        file: RemoteFile,
        content: BufferedRandom,
        on_progress: Progress | None,
        timeout: float,
    ) -> None:
        self.file = file
        self.content = content
        self._on_progress = on_progress
        self._timeout = timeout
        self.done = content.seek(0, os.SEEK_END)

    def restart(self) -> None:
        """Delete what was received."""
        self.content.truncate(0)
        self.done = self.content.seek(0)

    def receive(self, address: str) -> None:
        """Receive the missing bytes. Raise `_ConnectionLostError` if the connection breaks."""
        if self.file.size is not None and self.done > self.file.size:
            self.restart()
        if self.done and self.done == self.file.size:
            return
        with self._connect(address) as response:
            self._read(response)

    def _connect(self, address: str) -> http.client.HTTPResponse:
        if not address.startswith(("http://", "https://")):
            raise _AddressFailedError("only http and https addresses are fetched")
        headers = {"User-Agent": "csim", "Accept-Encoding": "identity"}
        if self.done:
            headers["Range"] = f"bytes={self.done}-"
        request = urllib.request.Request(address, headers=headers)  # noqa: S310 - scheme is checked
        try:
            response: http.client.HTTPResponse = _opener().open(request, timeout=self._timeout)
        except urllib.error.HTTPError as error:
            return self._after_refusal(address, error)
        except urllib.error.URLError as error:
            # A retry may help after a reset or a timeout, not for an unknown name or a closed port.
            is_transient = isinstance(error.reason, ConnectionResetError | TimeoutError)
            kind = _ConnectionLostError if is_transient else _AddressFailedError
            raise kind(f"no connection ({error.reason})") from error
        except (http.client.HTTPException, OSError) as error:
            raise _ConnectionLostError(f"no answer ({error})") from error
        return response

    def _after_refusal(
        self, address: str, error: urllib.error.HTTPError
    ) -> http.client.HTTPResponse:
        error.close()
        if error.code == http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE and self.done:
            self.restart()  # the file is no longer than what was received: start without a range
            return self._connect(address)
        is_transient = error.code in _TRANSIENT_STATUSES
        kind = _ConnectionLostError if is_transient else _AddressFailedError
        raise kind(f"the server answers {error.code} {error.reason}") from error

    def _read(self, response: http.client.HTTPResponse) -> None:
        is_rest = (
            response.status == http.HTTPStatus.PARTIAL_CONTENT
            and _range_start(response) == self.done
        )
        if not is_rest and response.status != http.HTTPStatus.OK:
            self.restart()
            raise _ConnectionLostError(
                f"the server answers {response.status} with another part than requested"
            )
        total = self._total(response, self.done if is_rest else 0)
        if not is_rest:
            self.restart()
        for block in _blocks(response):
            self.done += len(block)
            if total is not None and self.done > total:
                self.restart()
                raise _AddressFailedError(
                    f"the file must have {total:,} bytes, the server sends more"
                )
            self.content.write(block)
            if self._on_progress:
                self._on_progress(self.file.name, self.done, total)
        if total is not None and self.done < total:
            raise _ConnectionLostError(
                f"the connection was lost after {self.done:,} of {total:,} bytes"
            )

    def _total(self, response: http.client.HTTPResponse, before: int) -> int | None:
        """Return the size of the file; refuse a response that announces another size."""
        size = self.file.size
        announced = None if response.length is None else before + response.length
        if size is not None and announced is not None and announced != size:
            raise _AddressFailedError(
                f"the file must have {size:,} bytes, the server gives {announced:,}"
            )
        return announced if size is None else size


def _blocks(response: http.client.HTTPResponse) -> Iterator[bytes]:
    try:
        while block := response.read1(_BLOCK_BYTES):
            yield block
    except (http.client.HTTPException, OSError) as error:
        raise _ConnectionLostError(f"the connection broke ({error})") from error


def _range_start(response: http.client.HTTPResponse) -> int | None:
    found = re.match(r"bytes (\d+)-", response.headers.get("Content-Range", ""))
    return int(found[1]) if found else None


def _opener() -> urllib.request.OpenerDirector:
    """Return an opener of http and https addresses only, also after a redirect."""
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler(),
        urllib.request.HTTPHandler(),
        urllib.request.HTTPSHandler(),
        urllib.request.HTTPRedirectHandler(),
        urllib.request.HTTPDefaultErrorHandler(),
        urllib.request.HTTPErrorProcessor(),
        urllib.request.UnknownHandler(),
    ):
        opener.add_handler(handler)
    return opener
