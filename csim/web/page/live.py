"""Live figures for open pages: server-sent events, one whenever a figure changes."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator

from fastapi import APIRouter
from fastapi.responses import StreamingResponse
from starlette.exceptions import HTTPException

from csim.folder.reader import Reader
from csim.web.page.activity import activity
from csim.web.page.question import read_progress
from csim.web.service import Service, TheService

router = APIRouter()

_PAUSE_SECONDS = 1.0


@router.get("/live")
async def follow_figures(service: TheService) -> StreamingResponse:
    """Follow the figures that pages show; a browser connects again by itself."""
    if service.event_streams >= service.limits.event_streams:
        raise HTTPException(429, "too many pages follow the figures; close some")
    return StreamingResponse(_follow(service), media_type="text/event-stream")


async def _follow(service: Service) -> AsyncIterator[str]:
    service.event_streams += 1
    last = ""
    sent = time.monotonic()
    try:
        yield "retry: 1000\n\n"
        while not service.is_stopping:
            text = json.dumps(await service.read(lambda reader: _figures(reader, service)))
            if text != last:
                yield f"data: {text}\n\n"
                last = text
                sent = time.monotonic()
            elif time.monotonic() - sent > service.limits.heartbeat_seconds:
                yield ": alive\n\n"
                sent = time.monotonic()
            await asyncio.sleep(_PAUSE_SECONDS)
    finally:
        service.event_streams -= 1


def _figures(reader: Reader, service: Service) -> dict[str, object]:
    with reader.transaction():
        progress = read_progress(reader)
        return {
            "open": progress.open,
            "today": progress.today,
            "left": "no limit" if progress.left is None else progress.left,
            "images": progress.images,
            "doing": activity(reader, service),
            "step": reader.history.last_step(),
        }
