"""Events as they happen: server-sent events, which you can resume after the last one you have."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query
from fastapi.responses import StreamingResponse
from starlette.exceptions import HTTPException

from csim.errors import InputError
from csim.folder.feed import START, EventId, FeedEvent
from csim.utc import utc
from csim.web.problems import documented
from csim.web.service import Service, TheService

router = APIRouter(prefix="/v1/events", tags=["events"])

_PAUSE_SECONDS = 0.2  # between two looks at the folder
_EVENTS_PER_READ = 500
_EXAMPLE = (
    "id: 17.512.0\nevent: Accepted\n"
    'data: {"position": 512, "item_id": "camera-2/000017.png", "class_id": 3, "score": 0.93, '
    '"model": 2, "time": "2026-11-17T08:30:00.250Z"}\n\n'
)
_EVENT = {  # a schema of each event, as OpenAPI 3.2 describes sequences
    "type": "object",
    "properties": {
        "id": {"type": "string"},
        "event": {"type": "string"},
        "data": {"type": "string", "contentMediaType": "application/json"},
    },
    "required": ["id", "event", "data"],
}
_ANSWERS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "An endless stream of events, and a comment as a sign of life.",
        "content": {"text/event-stream": {"schema": _EVENT, "example": _EXAMPLE}},
    },
    **documented(),
}


@router.get("", responses=_ANSWERS, response_class=StreamingResponse, operation_id="follow_events")
async def follow_events(
    service: TheService,
    after: Annotated[
        str | None,
        Query(
            max_length=60,
            description="Start after the event with this id; 0 for the first event. "
            "Without it you get what happens from now on.",
            examples=["17.512.0"],
        ),
    ] = None,
    last_event_id: Annotated[
        str | None,
        Header(
            alias="Last-Event-ID",
            max_length=60,
            description="As `after`; a browser sends it when it connects again.",
            examples=["17.512.0"],
        ),
    ] = None,
    until_end: Annotated[
        bool,
        Query(description="End after the newest event, instead of waiting.", examples=[True]),
    ] = False,
) -> StreamingResponse:
    """Follow what happens: each event has an id, a kind and its fields as JSON.

    The kinds and fields are those of docs/events.md. When the connection breaks, connect again with
    the last id: you miss nothing and get nothing twice.
    """
    if service.event_streams >= service.limits.event_streams:
        raise HTTPException(429, "too many clients follow events; come back later")
    last = await _start(service, last_event_id or after)
    return StreamingResponse(_follow(service, last, until_end), media_type="text/event-stream")


async def _start(service: Service, text: str | None) -> EventId:
    if text is None:
        return await service.read(lambda reader: reader.feed.last())
    if text == "0":
        return START
    try:
        return EventId.parse(text)
    except InputError as error:
        raise HTTPException(422, str(error)) from error


async def _follow(service: Service, last: EventId, until_end: bool) -> AsyncIterator[str]:
    service.event_streams += 1
    quiet_since = time.monotonic()
    try:
        yield ": csim\n\n"
        while not service.is_stopping:
            after = last
            events = await service.read(
                lambda reader: reader.feed.after(after, _EVENTS_PER_READ)  # noqa: B023
            )
            if events:
                last = events[-1].id
                quiet_since = time.monotonic()
                yield "".join(_text(event) for event in events)
                continue
            if until_end:
                return
            if time.monotonic() - quiet_since > service.limits.heartbeat_seconds:
                quiet_since = time.monotonic()
                yield ": alive\n\n"
            await asyncio.sleep(_PAUSE_SECONDS)
    finally:
        service.event_streams -= 1


def _text(event: FeedEvent) -> str:
    body = json.dumps({**event.body, "time": utc(event.time)}, ensure_ascii=False)
    return f"id: {event.id}\nevent: {event.kind}\ndata: {body}\n\n"
