"""Limits on requests: size and time of the body, time of the answer."""

from __future__ import annotations

import asyncio
import time

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from csim.web.limits import Limits
from csim.web.problems import problem

IMAGES_PATH = "/v1/images"
_ENDLESS_PATHS = ("/v1/events", "/live")
_SLOW_PATHS = ("/v1/report", "/v1/exports/")  # as long as the client reads
_DRAINED_BYTES = 4_000_000  # of a body that is too large; a client that still sends sees no answer
_DRAIN_SECONDS = 2.0


class RequestLimits:
    """Bound what a request may use before an app gets it.

    Parameters
    ----------
    app
        The app behind it.
    limits
        The bounds.
    """

    def __init__(self, app: ASGIApp, limits: Limits) -> None:
        self._app = app
        self._limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        path = scope["path"]
        limit = self._limits.body_bytes if path == IMAGES_PATH else self._limits.json_bytes
        if _declared(scope) > limit:
            await _too_large(limit, scope, receive, send)
            return
        body = _Body(receive, limit, self._limits.body_seconds)
        is_long = path in _ENDLESS_PATHS or path.startswith(_SLOW_PATHS)
        answer = _Answer(send)
        try:
            async with asyncio.timeout(None if is_long else self._limits.request_seconds):
                await self._app(scope, body.receive, answer.send)
        except TimeoutError:
            if answer.has_started:
                raise
            await problem(503, "it took too long; if you sent ids, send it again with the same")(
                scope, receive, send
            )


def _declared(scope: Scope) -> int:
    length = Headers(scope=scope).get("content-length", "0")
    return int(length) if length.isascii() and length.isdecimal() else 0


async def _too_large(limit: int, scope: Scope, receive: Receive, send: Send) -> None:
    await _drain(receive)
    await problem(413, _size_text(limit), {"Connection": "close"})(scope, receive, send)


def _size_text(limit: int) -> str:
    return f"the body must have at most {limit:,} bytes; send less at a time"


async def _drain(receive: Receive) -> None:
    """Read what a client still sends and forget it, for a moment and up to a size."""
    left = _DRAINED_BYTES
    try:
        async with asyncio.timeout(_DRAIN_SECONDS):
            while left > 0:
                message = await receive()
                left -= len(message.get("body", b""))
                if not message.get("more_body", False):
                    return
    except TimeoutError:
        return


class _Answer:
    """What an app has sent."""

    def __init__(self, send: Send) -> None:
        self.has_started = False
        self._send = send

    async def send(self, message: Message) -> None:
        self.has_started = True
        await self._send(message)


class _Body:
    """A body that may be neither too long nor too slow."""

    def __init__(self, receive: Receive, most: int, seconds: float) -> None:
        self._receive = receive
        self._left = most
        self._most = most
        self._end = time.monotonic() + seconds
        self._is_complete = False

    async def receive(self) -> Message:
        if self._is_complete:  # now the app waits for the client to leave
            return await self._receive()
        try:
            async with asyncio.timeout(max(0.0, self._end - time.monotonic())):
                message = await self._receive()
        except TimeoutError as error:
            raise HTTPException(
                408, "the request took too long to arrive", {"Connection": "close"}
            ) from error
        self._left -= len(message.get("body", b""))
        self._is_complete = not message.get("more_body", False)
        if self._left < 0:
            if not self._is_complete:
                await _drain(self._receive)
            raise HTTPException(413, _size_text(self._most), {"Connection": "close"})
        return message
