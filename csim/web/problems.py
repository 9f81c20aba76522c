"""Problems: what csim refuses, as HTTP statuses with one sentence of JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from csim.errors import (
    BusyError,
    ClassError,
    CsimError,
    FolderError,
    InputError,
    QuestionError,
)
from csim.web.engine_thread import ConflictError, NotRunningError, QueueFullError

RETRY_SECONDS = 1


class Problem(BaseModel):
    """Say why a request was refused."""

    detail: str = Field(
        description="What must hold, what came instead, and what to do.",
        examples=["no question has the id 99; list the open questions"],
    )


class NotFoundError(CsimError):
    """Report that a request names something that does not exist."""


_STATUSES: tuple[tuple[type[CsimError], int], ...] = (
    (NotFoundError, 404),
    (QueueFullError, 429),
    (ConflictError, 409),
    (NotRunningError, 503),
    (BusyError, 503),
    (FolderError, 503),
    (QuestionError, 409),
    (ClassError, 409),
    (InputError, 422),
    (CsimError, 422),
)
_MEANINGS = {
    400: "The request cannot be read.",
    401: "The token is missing or wrong.",
    403: "The request comes from another site, or names a host that this service does not serve.",
    404: "There is no such thing.",
    405: "The path does not have this method.",
    408: "The request took too long to arrive.",
    409: "It contradicts what is there; nothing has changed.",
    413: "The body is too large.",
    415: "The content type is not one that csim reads.",
    422: "A value cannot be used; nothing has changed.",
    429: "Too much waits already; come back after the seconds in Retry-After.",
    503: "The service cannot do it now; come back after the seconds in Retry-After.",
}


def documented(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the answers that an operation may give besides its own, for its documentation.

    Every operation may give those of security and limits. `statuses` are further ones.
    """
    every = sorted({400, 401, 403, 408, 413, 422, 429, 503, *statuses})
    return {status: {"model": Problem, "description": _MEANINGS[status]} for status in every}


def problem(status: int, detail: str, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """Return a refusal."""
    retry = {"Retry-After": str(RETRY_SECONDS)} if status in (429, 503) else {}
    return JSONResponse({"detail": detail}, status, {**retry, **(headers or {})})


def status_of(error: CsimError) -> int:
    """Return the HTTP status for an error."""
    return next(status for kind, status in _STATUSES if isinstance(error, kind))


def add_handlers(app: FastAPI) -> None:
    """Let an app answer errors with problems."""

    @app.exception_handler(CsimError)
    async def _(_: Request, error: CsimError) -> JSONResponse:
        return problem(status_of(error), str(error))

    @app.exception_handler(HTTPException)
    async def _(_: Request, error: HTTPException) -> JSONResponse:
        return problem(error.status_code, str(error.detail), error.headers)

    @app.exception_handler(RequestValidationError)
    async def _(_: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        where = " → ".join(str(part) for part in first["loc"])
        return problem(422, f"{where}: {first['msg']}")
