"""Who may use the service: the checks that stand before every request.

- An address may send so many requests per second. Refused ones count too, so that nobody tries
  tokens faster than that.
- The Host must be one that the service serves. Otherwise a page of another site could reach it by
  a name that it points at this machine (DNS rebinding).
- A write must not come from a page of another site: Origin and Sec-Fetch-Site are checked. There
  are no CORS headers, so such a page cannot read anything either.
- With a token, every request but the two health checks needs it: as `Authorization: Bearer` for
  programs, or as a cookie for pages, which `POST /v1/session` sets.

Tokens are compared as bytes and in constant time. The cookie holds a value made from the token, not
the token.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Iterable, Mapping
from http.cookies import CookieError, SimpleCookie
from ipaddress import ip_address
from urllib.parse import quote, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from csim.errors import InputError
from csim.web.problems import problem
from csim.web.request_rate import RequestRate

COOKIE = "csim_session"
LOGIN_PATH = "/login"
# Without the token: a session is what the token is exchanged for, by a program or by the page.
OPEN_PATHS = ("/healthz", "/readyz", "/v1/session", LOGIN_PATH)
_OPEN_FILES = "/static/"  # the same for everybody: the script and the stylesheet of the page
_SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
_MIN_TOKEN_LENGTH = 16
_LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Token:
    """Hold the secret that requests must show.

    Parameters
    ----------
    secret
        At least 16 bytes. Longer is harder to guess.
    """

    def __init__(self, secret: bytes) -> None:
        if len(secret) < _MIN_TOKEN_LENGTH:
            raise InputError(
                f"a token must have at least {_MIN_TOKEN_LENGTH} bytes, this one has "
                f"{len(secret)}; make one with `openssl rand -hex 32`"
            )
        self._secret = secret
        self.cookie = hmac.new(secret, b"csim session", hashlib.sha256).hexdigest()

    def __repr__(self) -> str:
        return "Token(…)"

    @classmethod
    def make(cls) -> tuple[Token, str]:
        """Return a new token, and its text to show once."""
        text = secrets.token_urlsafe(32)
        return cls(text.encode()), text

    def is_secret(self, given: bytes) -> bool:
        """Return whether bytes are the secret."""
        return hmac.compare_digest(given, self._secret)

    def is_cookie(self, given: str) -> bool:
        """Return whether a text is the value of the cookie."""
        return hmac.compare_digest(given.encode(errors="replace"), self.cookie.encode())


def is_loopback(host: str) -> bool:
    """Return whether an address is reached from this machine alone.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class Guard:
    """Check requests before an app gets them, and add security headers to its answers.

    Parameters
    ----------
    app
        The app behind it.
    hosts
        Names and addresses, without ports, that requests may name. Loopback is always one.
    token
        What requests must show; None lets everybody in.
    rate
        How many requests an address may send.
    """

    def __init__(
        self, app: ASGIApp, *, hosts: Iterable[str], token: Token | None, rate: RequestRate
    ) -> None:
        self._app = app
        self._hosts = {host.lower() for host in hosts} | set(_LOOPBACK_NAMES)
        self._token = token
        self._rate = rate

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        if (refusal := self._refusal(scope)) is None:
            await self._app(scope, receive, send_safely)
            return
        status, detail = refusal
        if status == 401 and _is_page(scope):
            to = quote(scope["path"])
            await RedirectResponse(f"{LOGIN_PATH}?to={to}", 303)(scope, receive, send_safely)
            return
        headers = {"WWW-Authenticate": "Bearer"} if status == 401 else {}
        await problem(status, detail, headers)(scope, receive, send_safely)

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        address, *_ = scope.get("client") or ("",)
        if not self._rate.allows(address):
            return 429, "too many requests from one address; come back later"
        headers = Headers(scope=scope)
        if len(headers.getlist("host")) != 1 or _host(headers["host"]) not in self._hosts:
            return 403, "this service does not serve that host; name it with --allow-host"
        if scope["method"] not in _SAFE_METHODS and _is_foreign(headers):
            return 403, "a write must not come from a page of another site"
        if self._token is None or scope["path"] in OPEN_PATHS:
            return None
        if scope["path"].startswith(_OPEN_FILES):
            return None
        if _shows(self._token, headers):
            return None
        return 401, "a token is needed; send the header Authorization: Bearer with it"


def session_of(headers: Mapping[str, str]) -> str | None:
    """Return the value of the session cookie, or None."""
    try:
        cookie = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
    except CookieError:
        return None
    return None if cookie is None else cookie.value


def _is_page(scope: Scope) -> bool:
    """Return whether a browser wants to show a page to a person, who can log in."""
    wanted = Headers(scope=scope).get("accept", "")
    return scope["method"] == "GET" and "text/html" in wanted


def _shows(token: Token, headers: Headers) -> bool:
    scheme, _, given = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and token.is_secret(given.strip().encode("latin-1")):
        return True
    value = session_of(headers)
    return value is not None and token.is_cookie(value)


def _is_foreign(headers: Headers) -> bool:
    """Return whether a browser says that a request comes from another site."""
    if headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
        return True
    origin = headers.get("origin")
    if origin is None:
        return False
    try:
        return urlsplit(origin).netloc.lower() != headers["host"].lower()
    except ValueError:
        return True


def _host(value: str) -> str | None:
    """Return the name or address in a Host header, without the port.

    >>> _host("Birds.example:8000"), _host("[::1]:80"), _host("a b")
    ('birds.example', '::1', None)
    """
    try:
        parts = urlsplit(f"//{value}")
        _ = parts.port  # raises if it is no number
        plain = parts.username is None and not (parts.path or parts.query or parts.fragment)
        return parts.hostname if plain and value.isprintable() and " " not in value else None
    except ValueError:
        return None
