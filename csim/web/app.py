"""The app: all resources behind the checks and limits, for any ASGI server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

from fastapi import FastAPI
from starlette.types import ASGIApp

from csim import __version__
from csim.web import (
    answers,
    classes,
    events,
    exports,
    health,
    image_labels,
    images,
    pictures,
    questions,
    session,
    stream_state,
)
from csim.web.access_log import AccessLog
from csim.web.page import router as page
from csim.web.page.fresh_guesses import FreshGuesses
from csim.web.page.projection import MapThread
from csim.web.problems import add_handlers
from csim.web.request_limits import RequestLimits
from csim.web.request_rate import RequestRate
from csim.web.security import Guard, Token
from csim.web.service import Service

_DESCRIPTION = """\
Send images and get decisions, answer questions, edit classes, follow events.

Every refusal is JSON with one field, `detail`. Writes are safe to repeat: images by their id,
answers and edits by the header `Idempotency-Key`.
"""


def make_app(
    service: Service,
    *,
    token: Token | None = None,
    hosts: Iterable[str] = (),
    logs_requests: bool = False,
) -> ASGIApp:
    """Return an ASGI app that serves a stream folder; it starts and stops the service.

    Parameters
    ----------
    service
        What it serves.
    token
        What requests must show; None lets everybody in who can connect.
    hosts
        Names and addresses that requests may name, besides loopback.
    logs_requests
        Write a line per request to the log `csim.access`.
    """
    app = FastAPI(
        title="csim",
        version=__version__,
        description=_DESCRIPTION,
        openapi_url="/v1/openapi.json",
        docs_url=None,  # these two would load scripts from other sites
        redoc_url=None,
        lifespan=_lifespan,
    )
    app.state.service = service
    app.state.token = token
    app.state.map = MapThread(service.root)
    app.state.guesses = FreshGuesses()
    add_handlers(app)
    for resource in (
        images, image_labels, pictures, questions, answers, classes, events, stream_state, exports,
        session, health, page,
    ):  # fmt: skip
        app.include_router(resource.router)
    limited = RequestLimits(app, service.limits)
    rate = RequestRate(service.limits.requests_per_second)
    guarded = Guard(limited, hosts=hosts, token=token, rate=rate)
    return AccessLog(guarded, service.metrics, logs_requests=logs_requests)


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    service: Service = app.state.service
    await asyncio.to_thread(service.start)
    yield
    await asyncio.to_thread(app.state.map.stop)
    await asyncio.to_thread(service.stop)
