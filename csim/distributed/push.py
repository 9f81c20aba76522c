"""Put images into a Redis stream, and wait while it is full."""

from __future__ import annotations

import hashlib
import io
import os
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from PIL import Image

from csim.distributed.broker import Broker, Disconnected
from csim.distributed.stream_message import add_command
from csim.records import Images
from csim.sources.arrival import Arrival, Source, Trouble
from csim.sources.files import read_file

_SENT_TOGETHER = 64  # messages
_SENT_BYTES = 8_000_000  # in one go, about
_PAUSE_SECONDS = 0.1  # while the stream is full or the server does not answer

Fields = dict[str, str | bytes]


class Pusher:
    """Send images to a stream.

    Parameters
    ----------
    broker
        The server and the stream.
    source_name
        Which camera the images are of; None if there is one.
    files
        Send the path of each file below this folder and its sha256, not its bytes; None sends the
        bytes.
    most
        Messages in the stream beyond which csim waits for its readers. Higher uses more memory of
        the server.
    """

    def __init__(
        self,
        broker: Broker,
        *,
        source_name: str | None = None,
        files: Path | None = None,
        most: int = 10_000,
    ) -> None:
        self.sent = 0
        self._broker = broker
        self._stream = broker.address.stream
        self._source_name = source_name
        self._files = files
        self._most = most

    def push(self, source: Source, on_trouble: Callable[[Trouble], None]) -> None:
        """Send all images of a source; report those that cannot be read."""
        for batch in _batches(self._messages(source, on_trouble)):
            self._send(batch)
            self.sent += len(batch)

    def _messages(self, source: Source, on_trouble: Callable[[Trouble], None]) -> Iterator[Fields]:
        for arrival in source:
            found = self._message(arrival) if isinstance(arrival, Arrival) else arrival
            if isinstance(found, Trouble):
                on_trouble(found)
            elif isinstance(found, dict):
                yield found

    def _message(self, arrival: Arrival) -> Fields | Trouble:
        picture = arrival.picture
        fields: Fields = {"id": arrival.id}
        if self._source_name is not None:
            fields["source"] = self._source_name
        content = read_file(arrival.id, picture) if isinstance(picture, Path) else picture
        if isinstance(content, Trouble):
            return content
        if not isinstance(content, bytes):
            content = _png(content)
        if self._files is None or not isinstance(picture, Path):
            return fields | {"image": content}
        path = picture.resolve()
        if not path.is_relative_to(self._files.resolve()):
            reason = f"a file must lie below {self._files} to be sent by its path, this does not"
            return Trouble(arrival.id, "unreadable", reason)
        relative = os.fsencode(path.relative_to(self._files.resolve()))
        return fields | {"path": relative, "sha256": hashlib.sha256(content).hexdigest()}

    def _send(self, batch: list[Fields]) -> None:
        """Send messages once there is room; repeat it if the connection is lost.

        A message may then come twice. Both name the same image, which csim takes once.
        """
        commands = [add_command(self._stream, fields) for fields in batch]
        while True:
            try:
                if self._broker.call("XLEN", self._stream) < self._most:
                    self._broker.send_all(commands)
                    return
            except Disconnected:
                pass
            time.sleep(_PAUSE_SECONDS)


def _png(image: Images) -> bytes:
    file = io.BytesIO()
    Image.fromarray(image).save(file, "PNG")
    return file.getvalue()


def _batches(messages: Iterable[Fields]) -> Iterator[list[Fields]]:
    batch: list[Fields] = []
    size = 0
    for fields in messages:
        batch.append(fields)
        size += sum(len(value) for value in fields.values())
        if len(batch) >= _SENT_TOGETHER or size >= _SENT_BYTES:
            yield batch
            batch = []
            size = 0
    if batch:
        yield batch
