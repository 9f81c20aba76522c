"""The state of the stream: the status, and the report as a page."""

from __future__ import annotations

import platform
import time
from dataclasses import asdict
from typing import Any

from fastapi import APIRouter
from fastapi.responses import HTMLResponse, JSONResponse
from starlette.exceptions import HTTPException

from csim import __version__
from csim.folder.status import read_status
from csim.report.folder.page import render
from csim.threads import one_thread
from csim.web.problems import documented
from csim.web.schemas import ServiceStatus
from csim.web.service import Service, TheService

router = APIRouter(prefix="/v1", tags=["state"])

_REPORT_POLICY = (
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; frame-ancestors 'none'"
)


@router.get(
    "/status", response_model=ServiceStatus, responses=documented(), operation_id="get_status"
)
async def get_status(service: TheService) -> JSONResponse:
    """Return the state of the stream, as `csim status --json` does, and of the service."""
    status = asdict(await service.read(read_status))
    return JSONResponse({**status, "service": service_state(service)})


@router.get(
    "/report",
    response_class=HTMLResponse,
    responses={
        200: {"content": {"text/html": {"example": "<!doctype html>…"}}},
        **documented(),
    },
    operation_id="get_report",
)
async def get_report(service: TheService) -> HTMLResponse:
    """Return one page about the stream, as `csim report` writes it; it takes some seconds."""
    if service.heavy.locked():
        raise HTTPException(429, "a report or an export is being made; come back later")
    async with service.heavy:
        page = await service.compute(lambda: _report(service))
    return HTMLResponse(page, headers={"Content-Security-Policy": _REPORT_POLICY})


def service_state(service: Service) -> dict[str, Any]:
    """Return how the service itself is."""
    return {
        "engine": service.engine.state,
        "reason": service.engine.reason,
        "queue_images": service.engine.queue_length,
        "event_streams": service.event_streams,
        "version": __version__,
    }


def _report(service: Service) -> str:
    origin = {
        "command": "GET /v1/report",
        "written": time.strftime("%Y-%m-%d %H:%M %z"),
        "versions": f"csim {__version__}, Python {platform.python_version()}",
    }
    with one_thread():
        return render(service.root, None, origin)
