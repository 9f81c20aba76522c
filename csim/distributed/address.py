"""The address of a stream on a Redis server: redis://host:port/stream, or rediss:// with TLS.

An address holds no secret: addresses stand on command lines, in logs and in lists of processes.
csim reads the user from the environment variable CSIM_REDIS_USER. It reads the password from
CSIM_REDIS_PASSWORD, or from the file that CSIM_REDIS_PASSWORD_FILE names.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

from csim.errors import InputError

SCHEMES = ("redis", "rediss")
_FORM = "an address must have the form redis://host:port/stream, or rediss:// with TLS"
_PORT = 6379


@dataclass(frozen=True, slots=True)
class Address:
    """Name a stream on a Redis server.

    Parameters
    ----------
    host, port
        Of the server. Any port works; higher means nothing.
    stream
        The key of the stream.
    is_encrypted
        Use TLS.
    database
        The number of the server's database: `?db=2`. Higher means nothing.
    """

    host: str
    port: int
    stream: str
    is_encrypted: bool = False
    database: int = 0

    @classmethod
    def from_text(cls, text: str) -> Address:
        """Return the address that a text names.

        >>> Address.from_text("redis://broker/images").port
        6379
        """
        parts = urlsplit(text)
        _check(parts, text)
        query = parse_qs(parts.query)
        database = query.pop("db", ["0"])[-1]
        stream = unquote(parts.path.removeprefix("/"))
        if query or not database.isdecimal() or not stream or not parts.hostname:
            raise InputError(f"{_FORM}; got {text!r}")
        is_encrypted = parts.scheme == "rediss"
        return cls(parts.hostname, parts.port or _PORT, stream, is_encrypted, int(database))

    def __str__(self) -> str:
        scheme = SCHEMES[self.is_encrypted]
        return f"{scheme}://{self.host}:{self.port}/{self.stream}"


def is_address(text: str) -> bool:
    """Tell whether a text looks like the address of a stream."""
    return text.partition("://")[0] in SCHEMES


def _check(parts: SplitResult, text: str) -> None:
    """Raise an `InputError` without the text if that may hold a password."""
    if "@" in parts.netloc:
        raise InputError(
            "an address must not hold a user or a password, because other users of the machine "
            "can read command lines; set CSIM_REDIS_USER and CSIM_REDIS_PASSWORD_FILE instead"
        )
    try:
        is_known = parts.scheme in SCHEMES and parts.port != 0
    except ValueError:  # the port is no number
        is_known = False
    if not is_known:
        raise InputError(f"{_FORM}; got {text!r}")


@dataclass(frozen=True, slots=True)
class Credentials:
    """Hold what a server asks for, from the environment."""

    user: str | None = None
    password: str | None = field(default=None, repr=False)
    authorities: str | None = None  # a file of certificates to trust; None: those of the system

    @classmethod
    def from_environment(cls) -> Credentials:
        """Return what the environment says."""
        password = os.environ.get("CSIM_REDIS_PASSWORD")
        if path := os.environ.get("CSIM_REDIS_PASSWORD_FILE"):
            password = _read_secret(Path(path))
        return cls(
            os.environ.get("CSIM_REDIS_USER"), password, os.environ.get("CSIM_REDIS_CA_FILE")
        )


def _read_secret(path: Path) -> str:
    try:
        return path.read_text().rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"CSIM_REDIS_PASSWORD_FILE must name a file with the password, {path} cannot be read "
            f"({error.__class__.__name__}); correct it"
        ) from error
