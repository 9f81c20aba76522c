"""Downloads that survive a bad line: resumed where they broke off, checked before the file gets its name.

What has come so far is kept in `name.part` beside the target. A cut connection is taken up again after a growing pause;
an address that cannot help gives way to the next one.
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
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from io import BufferedRandom
from pathlib import Path

from csim.atomic import move_into_place
from csim.bench.datasets.files import RemoteFile
from csim.errors import InputError

if sys.platform != "win32":
    import fcntl

Progress = Callable[[str, int, int | None], None]  # file name, bytes done, bytes in all if known

WAITS = (1.0, 4.0, 16.0)  # seconds
_BLOCK = 1 << 16
_PASSING = (408, 425, 429, 500, 502, 503, 504)  # HTTP states that may be over in a moment
_LOG = logging.getLogger(__name__)


class _Cut(Exception):
    """The connection broke; it can be taken up again."""


class _Useless(Exception):
    """The address cannot give this file."""


def download(
    file: RemoteFile,
    target: Path,
    *,
    on_progress: Progress | None = None,
    waits: Sequence[float] = WAITS,
    timeout: float = 30.0,
) -> None:
    """Bring a file to `target`, whole and checked, or raise `InputError`; one that is there stays as it is.

    Parameters
    ----------
    file
        What is wanted, and from where.
    target
        Where it goes; its folder must be there.
    on_progress
        Called with the file's name, the bytes done and the bytes in all, if known.
    waits
        Seconds before each new try after a cut; they start anew when a try got further than all before. Longer ones
        outlast longer interruptions.
    timeout
        Seconds a server may stay silent. Raising it bears slower servers and notices dead ones later.
    """
    part = target.with_name(f"{target.name}.part")
    with _alone(target.parent):
        if target.exists():
            return
        try:
            with part.open("a+b") as content:
                _from_any(_Transfer(file, content, on_progress, timeout), waits)
            move_into_place(part, target)
        except OSError as error:
            raise InputError(
                f"{part} cannot be written ({error.strerror or error}); make room or mend that"
            ) from error
        finally:
            if part.is_file() and not part.stat().st_size:
                part.unlink()


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Let one process at a time download into a folder; others wait for it."""
    if sys.platform == "win32":
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # some network disks have no locks
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _from_any(transfer: _Transfer, waits: Sequence[float]) -> None:
    """Try the addresses in turn until one has given the right content."""
    failures = []
    for address in transfer.file.addresses:
        try:
            _persist(transfer, address, waits)
            if complaint := transfer.file.complaint(transfer.content):
                transfer.restart()
                raise _Useless(f"what came is not the file and was deleted: {complaint}")
        except _Useless as failure:
            failures.append(f"{address}: {failure}")
            _LOG.info("%s", failures[-1])
        else:
            return
    raise InputError("; ".join(failures))


def _persist(transfer: _Transfer, address: str, waits: Sequence[float]) -> None:
    """Take up a cut connection again, as long as pauses are left."""
    best, pauses = transfer.done, iter(waits)
    while True:
        try:
            return transfer.pull(address)
        except _Cut as cut:
            if transfer.done > best:
                best, pauses = transfer.done, iter(waits)
            if (pause := next(pauses, None)) is None:
                raise _Useless(f"{cut}, {transfer.done:,} bytes have come and are kept") from cut
            time.sleep(pause)


class _Transfer:
    """One file on its way into `content`, over one or more connections."""

    def __init__(
        self,
        file: RemoteFile,
        content: BufferedRandom,
        on_progress: Progress | None,
        timeout: float,
    ) -> None:
        self.file, self.content = file, content
        self._on_progress, self._timeout = on_progress, timeout
        self.done = content.seek(0, os.SEEK_END)

    def restart(self) -> None:
        """Forget what has come."""
        self.content.truncate(0)
        self.done = self.content.seek(0)

    def pull(self, address: str) -> None:
        """Receive what is missing; raise `_Cut` if the connection breaks."""
        if self.file.size is not None and self.done > self.file.size:
            self.restart()
        if self.done and self.done == self.file.size:
            return
        with self._connect(address) as response:
            self._receive(response)

    def _connect(self, address: str) -> http.client.HTTPResponse:
        if not address.startswith(("http://", "https://")):
            raise _Useless("only http and https addresses are fetched")
        headers = {"User-Agent": "csim", "Accept-Encoding": "identity"}
        if self.done:
            headers["Range"] = f"bytes={self.done}-"
        request = urllib.request.Request(address, headers=headers)  # noqa: S310 - the scheme was looked at
        try:
            response: http.client.HTTPResponse = _opener().open(request, timeout=self._timeout)
        except urllib.error.HTTPError as error:
            return self._after_refusal(address, error)
        except urllib.error.URLError as error:
            # A name that is not found or a closed port will not mend in seconds, a connection reset may.
            kind = (
                _Cut if isinstance(error.reason, ConnectionResetError | TimeoutError) else _Useless
            )
            raise kind(f"no connection ({error.reason})") from error
        except (http.client.HTTPException, OSError) as error:
            raise _Cut(f"no answer ({error})") from error
        return response

    def _after_refusal(
        self, address: str, error: urllib.error.HTTPError
    ) -> http.client.HTTPResponse:
        error.close()
        if error.code == http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE and self.done:
            self.restart()  # the file is not longer than what has come: begin again, without a range
            return self._connect(address)
        kind = _Cut if error.code in _PASSING else _Useless
        raise kind(f"the server answers {error.code} {error.reason}") from error

    def _receive(self, response: http.client.HTTPResponse) -> None:
        is_rest = (
            response.status == http.HTTPStatus.PARTIAL_CONTENT and _start(response) == self.done
        )
        if not is_rest and response.status != http.HTTPStatus.OK:
            self.restart()
            raise _Cut(f"the server answers {response.status} with another part than was asked for")
        total = self._total(response, self.done if is_rest else 0)
        if not is_rest:
            self.restart()
        for block in _blocks(response):
            self.done += len(block)
            if total is not None and self.done > total:
                self.restart()
                raise _Useless(f"the file must have {total:,} bytes, more come")
            self.content.write(block)
            if self._on_progress:
                self._on_progress(self.file.name, self.done, total)
        if total is not None and self.done < total:
            raise _Cut(f"the connection was cut after {self.done:,} of {total:,} bytes")

    def _total(self, response: http.client.HTTPResponse, before: int) -> int | None:
        """Return how many bytes the file has; refuse an answer that will end with another number."""
        size, announced = (
            self.file.size,
            None if response.length is None else before + response.length,
        )
        if size is not None and announced is not None and announced != size:
            raise _Useless(f"the file must have {size:,} bytes, the server gives {announced:,}")
        return announced if size is None else size


def _blocks(response: http.client.HTTPResponse) -> Iterator[bytes]:
    try:
        while block := response.read1(_BLOCK):
            yield block
    except (http.client.HTTPException, OSError) as error:
        raise _Cut(f"the connection broke ({error})") from error


def _start(response: http.client.HTTPResponse) -> int | None:
    found = re.match(r"bytes (\d+)-", response.headers.get("Content-Range", ""))
    return int(found[1]) if found else None


def _opener() -> urllib.request.OpenerDirector:
    """Return what opens http and https addresses and, after a redirect too, nothing else."""
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
