"""Who answers: a random name in a cookie, so that two people do not get the same question.

A cookie is not sent with requests that another site makes. So another site cannot take questions.
"""

from __future__ import annotations

import secrets
from typing import Annotated

from fastapi import Cookie, Request
from fastapi.responses import Response

_COOKIE = "csim_labeller"
_YEAR_SECONDS = 365 * 86_400

Labeller = Annotated[
    str | None, Cookie(alias=_COOKIE, min_length=1, max_length=100, pattern="^[a-z0-9-]+$")
]


def new_labeller() -> str:
    """Return a name for a browser that has none."""
    return f"page-{secrets.token_hex(4)}"


def introduce(request: Request, response: Response, name: str) -> None:
    """Give a browser its name, which it sends from then on."""
    response.set_cookie(
        _COOKIE,
        name,
        max_age=_YEAR_SECONDS,
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
    )
