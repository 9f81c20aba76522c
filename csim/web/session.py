"""Sessions for pages: exchange the token for a cookie that scripts cannot read."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from csim.web.problems import documented
from csim.web.schemas import SignIn
from csim.web.security import COOKIE, Token

router = APIRouter(prefix="/v1/session", tags=["session"])

_SESSION_SECONDS = 12 * 3600


@router.post(
    "",
    status_code=204,
    response_class=Response,
    responses=documented(),
    operation_id="sign_in",
)
async def sign_in(given: SignIn, request: Request) -> Response:
    """Send the token once, in the body; the browser then sends a cookie with every request."""
    token: Token | None = request.app.state.token
    if token is not None and not token.is_secret(given.token.encode(errors="replace")):
        raise HTTPException(401, "the token is wrong", {"WWW-Authenticate": "Bearer"})
    response = Response(status_code=204)
    if token is not None:
        remember(request, response, token)
    return response


@router.delete(
    "",
    status_code=204,
    response_class=Response,
    responses=documented(),
    operation_id="sign_out",
)
async def sign_out() -> Response:
    """Delete the cookie."""
    response = Response(status_code=204)
    forget(response)
    return response


def remember(request: Request, response: Response, token: Token) -> None:
    """Set the cookie that stands for the token."""
    response.set_cookie(
        COOKIE,
        token.cookie,
        max_age=_SESSION_SECONDS,
        httponly=True,
        samesite="strict",
        secure=_is_encrypted(request),
    )


def _is_encrypted(request: Request) -> bool:
    """Return whether the browser speaks HTTPS, with csim or with a proxy before it.

    Anybody can send the header. It only makes a cookie stricter.
    """
    forwarded = request.headers.get("x-forwarded-proto", "")
    return "https" in (request.url.scheme, forwarded.lower())


def forget(response: Response) -> None:
    """Delete the cookie."""
    response.delete_cookie(COOKIE, httponly=True, samesite="strict")
