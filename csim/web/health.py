"""Health: whether the service lives, whether it takes work, and its figures for Prometheus."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from fastapi.responses import JSONResponse, Response
from prometheus_client import CONTENT_TYPE_LATEST

from csim.web.problems import documented
from csim.web.schemas import Health
from csim.web.service import TheService

router = APIRouter(tags=["health"])

_HEALTH: dict[int | str, dict[str, Any]] = {
    **documented(),
    503: {"model": Health, "description": "No."},
}


@router.get("/healthz", response_model=Health, responses=_HEALTH, operation_id="get_health")
async def get_health(service: TheService) -> JSONResponse:
    """Say whether the process works; if not, restart it."""
    is_well = service.engine.state != "broken"
    return _answer(is_well, service.engine.state, service.engine.reason)


@router.get("/readyz", response_model=Health, responses=_HEALTH, operation_id="get_readiness")
async def get_readiness(service: TheService) -> JSONResponse:
    """Say whether to send requests here; not while it starts, stops or cannot write.

    The status is `running` if this service takes images. It is `waiting` if another process does;
    then you can read and answer.
    """
    state = "stopping" if service.is_stopping else service.engine.state
    return _answer(state in ("running", "waiting"), state, service.engine.reason)


@router.get(
    "/metrics",
    response_class=Response,
    responses={
        200: {"content": {"text/plain": {"example": "csim_images 4096.0\n"}}},
        **documented(),
    },
    operation_id="get_metrics",
)
async def get_metrics(service: TheService) -> Response:
    """Return figures in the text format of Prometheus."""
    engine = service.engine
    text = await service.read(
        lambda reader: service.metrics.render(
            reader, queued=engine.queue_length, is_running=engine.state == "running"
        )
    )
    return Response(text, media_type=CONTENT_TYPE_LATEST)


def _answer(is_well: bool, state: str, reason: str) -> JSONResponse:
    return JSONResponse({"status": state, "reason": reason}, 200 if is_well else 503)
