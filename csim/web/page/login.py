"""Log in to a service that needs a token, by a form; the browser then has a cookie."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import HTMLResponse, Response

from csim.web.page.render import PageRoute, html, see_other
from csim.web.security import Token
from csim.web.session import forget, remember

router = APIRouter(route_class=PageRoute)

_START = "/questions"


@router.get("/login")
async def show_login(
    request: Request, to: Annotated[str, Query(max_length=500)] = _START
) -> HTMLResponse:
    """Ask for the token."""
    return html(request, "login.html", {"to": to, "is_wrong": False})


@router.post("/login")
async def log_in(
    request: Request,
    token: Annotated[str, Form(max_length=1000)] = "",
    to: Annotated[str, Form(max_length=500)] = _START,
) -> Response:
    """Check the token, set the cookie and go where the person wanted to go."""
    wanted: Token | None = request.app.state.token
    if wanted is not None and not wanted.is_secret(token.strip().encode(errors="replace")):
        return html(request, "login.html", {"to": to, "is_wrong": True}, 401)
    response = see_other(to if _is_own_path(to) else _START)
    if wanted is not None:
        remember(request, response, wanted)
    return response


@router.post("/logout")
async def log_out() -> Response:
    """Delete the cookie."""
    response = see_other("/login")
    forget(response)
    return response


def _is_own_path(path: str) -> bool:
    """Return whether a path stays on this site.

    >>> _is_own_path("/classes/3"), _is_own_path("//evil.example")
    (True, False)
    """
    return path.startswith("/") and not path.startswith(("//", "/\\"))
