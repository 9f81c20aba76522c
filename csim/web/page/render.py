"""Templates as responses: escaped, and with headers that allow nothing from elsewhere."""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Callable, Coroutine, Mapping
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from typing import Any
from urllib.parse import urlsplit

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from fastapi.routing import APIRoute
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from csim.errors import CsimError
from csim.web.page.charts import area, line
from csim.web.problems import status_of

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
# With "no-referrer" a browser would send `Origin: null` with a form, which is refused.
_HEADERS = {"Content-Security-Policy": _POLICY, "Referrer-Policy": "same-origin"}
_BACKTICKS = re.compile(r"`([^`]+)`")
_DAY = 86_400
_UNITS = ((_DAY, "day"), (3600, "hour"), (60, "minute"))


def html(
    request: Request, template: str, values: Mapping[str, object], code: int = 200
) -> HTMLResponse:
    """Return a template as a response.

    Parameters
    ----------
    request
        What it answers.
    template
        The name of its file.
    values
        What the template shows.
    code
        The HTTP status.
    """
    shared = {"path": request.url.path, "has_token": request.app.state.token is not None}
    text = _templates().get_template(template).render({**shared, **values})
    return HTMLResponse(text, code, _HEADERS)


def see_other(path: str) -> RedirectResponse:
    """Return the redirect that follows a form."""
    return RedirectResponse(path, 303)


@cache
def asset(name: str) -> bytes:
    """Return the content of a static file of the page."""
    return files("csim.web.page").joinpath("static", name).read_bytes()


def asset_path(name: str) -> str:
    """Return the path of a static file; it changes with the content, so browsers may keep it."""
    return f"/static/{hashlib.sha256(asset(name)).hexdigest()[:12]}/{name}"


def when(seconds: float | None) -> str:
    """Return a time in words, for people.

    >>> when(None), when(time.time() - 7000)
    ('at an unknown time', '1 hour ago')
    """
    if seconds is None:
        return "at an unknown time"
    passed = time.time() - seconds
    for unit, name in _UNITS:
        if passed >= unit:
            count = int(passed // unit)
            return f"{count} {name}{'s' * (count > 1)} ago"
    return "just now"


def stamp(seconds: float | None) -> str:
    """Return a time as RFC 3339 text, for machines.

    >>> stamp(0.0)
    '1970-01-01T00:00:00Z'
    """
    if seconds is None:
        return ""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def counted(count: int, noun: str) -> str:
    """Return a number with its noun.

    >>> counted(1, "image"), counted(1200, "image"), counted(2, "class")
    ('1 image', '1,200 images', '2 classes')
    """
    ending = "" if count == 1 else "es" if noun.endswith("s") else "s"
    return f"{count:,} {noun}{ending}"


def marked(text: str) -> Markup:
    """Return text as HTML, with code for what stands between backticks.

    >>> str(marked("`flip` & `shift`"))
    '<code>flip</code> &amp; <code>shift</code>'
    """
    return Markup(_BACKTICKS.sub(r"<code>\1</code>", str(escape(text))))  # noqa: S704 - escaped


class PageRoute(APIRoute):
    """Answer errors of a view with a page that says what happened."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return what handles requests of the route."""
        handle = super().get_route_handler()

        async def handle_and_explain(request: Request) -> Response:
            try:
                return await handle(request)
            except CsimError as error:
                return _explain(request, str(error), status_of(error))
            except RequestValidationError as error:
                return _explain(request, f"{error.errors()[0]['msg']}; go back and try again", 422)

        return handle_and_explain


def _explain(request: Request, reason: str, code: int) -> HTMLResponse:
    return html(request, "error.html", {"reason": reason, "back": _came_from(request)}, code)


def _came_from(request: Request) -> str:
    """Return the path of the view with the link or form that led here."""
    page = urlsplit(request.headers.get("referer", ""))
    if page.netloc != request.url.netloc or page.path.startswith("//"):
        return "/questions"
    return page._replace(scheme="", netloc="").geturl()


@cache
def _templates() -> Environment:
    found = Environment(
        loader=PackageLoader("csim.web.page"),
        autoescape=True,
        undefined=StrictUndefined,
        auto_reload=False,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.globals.update(asset_path=asset_path, area=area, line=line)
    found.filters.update(when=when, stamp=stamp, counted=counted, marked=marked)
    return found
