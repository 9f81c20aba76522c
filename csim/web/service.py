"""What all resources of the service share: the folder, the engine, and threads that read."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Annotated, TypeVar

from fastapi import Depends, Request

import csim.records as r
from csim.folder.codec import Message
from csim.folder.database import open_for_messages
from csim.folder.decisions import DecisionRow
from csim.folder.layout import Layout
from csim.folder.reader import Reader
from csim.folder.submit import Result, result, submit
from csim.sources.arrival import Decoded, Source
from csim.web.engine_thread import EngineThread, NotRunningError
from csim.web.limits import Limits
from csim.web.metrics import Metrics
from csim.web.source_thread import SourceThread

T = TypeVar("T")

_READERS = 4  # threads that read the database
_DECODERS = 2  # threads that decode images: a large image needs hundreds of megabytes
_TAKEN_SECONDS = 5.0  # to wait for the engine to take a message that is safe already


class Service:
    """Hold a stream folder's engine and threads, from `start` to `stop`.

    Parameters
    ----------
    root
        The stream folder.
    limits
        What a request may use.
    source
        Images to take beside those that clients send; None for none.
    is_live
        Let a new model take over as soon as it is ready.
    """

    def __init__(
        self, root: Path, limits: Limits, *, source: Source | None = None, is_live: bool = True
    ) -> None:
        self.root = root
        self.limits = limits
        self.metrics = Metrics()
        self.engine = EngineThread(root, limits, is_live=is_live, on_step=self._note)
        self.is_stopping = False
        self._is_started = False
        self.event_streams = 0
        self.heavy = asyncio.Lock()  # one report or export at a time
        self._source = None if source is None else SourceThread(root, source, self.engine)
        self._reading = ThreadPoolExecutor(_READERS, "csim-read")
        self._decoding = ThreadPoolExecutor(_DECODERS, "csim-decode")
        self._slow = ThreadPoolExecutor(1, "csim-slow")

    def start(self) -> None:
        """Run the stream, or wait beside the process that runs it; then start the source.

        A second call does nothing.
        """
        if self._is_started:
            return
        self._is_started = True
        self.engine.start()
        with Reader(self.root) as reader:
            self.config = reader.config
        if self._source is not None:
            self._source.start()

    def begin_stop(self) -> None:
        """Take no new work from now on; event streams end."""
        self.is_stopping = True

    def stop(self) -> None:
        """Finish what was accepted and release the folder; a second call does nothing."""
        self.is_stopping = True
        if self._is_started:
            self.engine.stop()
        for pool in (self._reading, self._decoding, self._slow):
            pool.shutdown(wait=True, cancel_futures=True)

    async def read(self, ask: Callable[[Reader], T]) -> T:
        """Return what a function reads from the folder, in a thread of its own."""
        return await asyncio.get_running_loop().run_in_executor(
            self._reading, self._ask_reader, ask
        )

    async def write(self, act: Callable[[sqlite3.Connection], T]) -> T:
        """Return what a function writes to the inbox or the leases, in a thread of its own."""
        return await asyncio.get_running_loop().run_in_executor(
            self._reading, self._ask_writer, act
        )

    async def decode(self, work: Callable[[], T]) -> T:
        """Return what a function decodes, in one of a few threads."""
        return await asyncio.get_running_loop().run_in_executor(self._decoding, work)

    async def take(self, decode: Callable[[], list[Decoded]]) -> list[DecisionRow]:
        """Return the decisions about the images that a function decodes, once they are durable.

        The thread that decodes them hands them to the engine: each change of threads costs time.
        """
        done: Future[list[DecisionRow]] = Future()
        self._decoding.submit(self._decode_and_submit, decode, done)
        return await asyncio.wrap_future(done)

    async def compute(self, work: Callable[[], T]) -> T:
        """Return what a slow function computes; one runs at a time."""
        return await asyncio.get_running_loop().run_in_executor(self._slow, work)

    async def send(
        self, message: Message, *, key: str | None = None, labeller: str | None = None
    ) -> Result:
        """Write a message to the inbox and return what became of it, if the engine is quick."""
        named = None if key is None else f"http {key}"
        number = await self.write(
            lambda connection: submit(connection, message, key=named, labeller=labeller)
        )
        try:
            done = asyncio.wrap_future(self.engine.attend())
            await asyncio.wait_for(asyncio.shield(done), _TAKEN_SECONDS)
        except (NotRunningError, TimeoutError):
            pass  # it is safe: the process that runs the stream takes it
        return await self.write(lambda connection: result(connection, number))

    def _decode_and_submit(
        self, decode: Callable[[], list[Decoded]], done: Future[list[DecisionRow]]
    ) -> None:
        if not done.set_running_or_notify_cancel():
            return
        try:
            taken = self.engine.submit(decode())
        except Exception as error:  # the request that waits for it gets it
            done.set_exception(error)
            return
        taken.add_done_callback(lambda found: _copy(found, done))

    def _ask_reader(self, ask: Callable[[Reader], T]) -> T:
        with Reader(self.root) as reader:
            return ask(reader)

    def _ask_writer(self, act: Callable[[sqlite3.Connection], T]) -> T:
        with closing(open_for_messages(Layout(self.root).database)) as connection:
            return act(connection)

    def _note(self, events: Sequence[r.Event], seconds: float) -> None:
        self.metrics.note_step(events, seconds)


def _copy(source: Future[T], target: Future[T]) -> None:
    error = source.exception()
    if error is None:
        target.set_result(source.result())
    else:
        target.set_exception(error)


def now() -> float:
    """Return the seconds since 1970, in UTC."""
    return time.time()


async def _service(request: Request) -> Service:  # FastAPI would call a plain one in a thread
    found: Service = request.app.state.service
    return found


TheService = Annotated[Service, Depends(_service)]
