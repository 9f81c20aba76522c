"""A source beside what clients send: a thread reads and decodes it for the engine."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from pathlib import Path

from csim.errors import CsimError
from csim.folder.reader import Reader
from csim.sources.arrival import Arrival, Decoded, Source, Trouble
from csim.sources.prefetch import decoded
from csim.web.engine_thread import EngineThread

_IMAGES_PER_JOB = 64
_LOG = logging.getLogger("csim.web")


class SourceThread:
    """Feed a source to an engine until the source ends or the engine stops.

    Parameters
    ----------
    root
        The stream folder.
    source
        What gives images; csim skips those that came before.
    engine
        What takes them.
    """

    def __init__(self, root: Path, source: Source, engine: EngineThread) -> None:
        self.has_ended = False
        self._root = root
        self._source = source
        self._engine = engine
        self._thread = threading.Thread(target=self._main, name="csim-source", daemon=True)

    def start(self) -> None:
        """Start to read the source."""
        self._thread.start()

    def _main(self) -> None:
        try:
            self._read()
        except CsimError as error:
            _LOG.error("the source has ended: %s", error)
        self.has_ended = True

    def _read(self) -> None:
        images: list[Decoded] = []
        troubles: list[Trouble] = []
        with Reader(self._root) as reader:
            config = reader.config
            for arrival in decoded(self._new(reader), config.image_shape, bits=config.bits):
                if isinstance(arrival, Decoded):
                    images.append(arrival)
                elif isinstance(arrival, Trouble):
                    troubles.append(arrival)
                if arrival is not None and len(images) < _IMAGES_PER_JOB:
                    continue
                if not self._hand_over(images, troubles):
                    return
                images = []
                troubles = []
            self._hand_over(images, troubles)

    def _hand_over(self, images: list[Decoded], troubles: list[Trouble]) -> bool:
        if not images and not troubles:
            return not self._engine.is_stopping
        return self._engine.submit_when_free(images, troubles)

    def _new(self, reader: Reader) -> Iterator[Arrival | Decoded | Trouble | None]:
        """Yield what csim has not taken yet, so that only that is decoded."""
        for arrival in self._source:
            if not isinstance(arrival, Arrival) or arrival.id not in reader.decisions.of(
                [arrival.id]
            ):
                yield arrival
