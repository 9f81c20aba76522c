"""A connection to a Redis server that survives restarts of the server.

A call that meets a lost connection raises `Disconnected` at once, and so do all calls until the
next attempt is due: after 0.1 seconds, then twice as long each time, up to 5 seconds. So the caller
never waits here. It can go on with other work, and repeat the call later.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from typing import Any

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from csim.distributed.address import Address, Credentials
from csim.errors import BrokerError

_TIMEOUT_SECONDS = 5.0  # for a connection and for an answer
_BACK_OFF_SECONDS = (0.1, 5.0)  # the first pause and the longest one
_BUSY = ("LOADING", "BUSY ", "OOM", "READONLY", "MASTERDOWN", "TRYAGAIN", "CLUSTERDOWN")

_log = logging.getLogger(__name__)

Command = Sequence[str | bytes | int | float]


class Disconnected(BrokerError):
    """Report that the server does not answer now; the same call may succeed later."""


class Broker:
    """Send commands to the Redis server of an address.

    The server must answer the first one: a wrong address is an error, not a reason to wait.

    Parameters
    ----------
    address
        Names the server and the stream.
    credentials
        What the server asks for; by default what the environment says.
    clock
        Returns seconds, for the pauses between two attempts.
    """

    def __init__(
        self,
        address: Address,
        credentials: Credentials | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.address = address
        self.breaks = 0  # how often the connection was lost
        self._clock = clock
        self._failures = 0  # in a row
        self._retry_at = 0.0
        self._client = _client(address, credentials or Credentials.from_environment())
        self.call("PING")
        self.check_type(address.stream)

    def call(self, *command: str | bytes | int | float, **options: Any) -> Any:  # noqa: ANN401
        """Send a command and return the server's answer; `options` say how redis-py reads it."""
        return self._attempt(lambda: self._client.execute_command(*command, **options))

    def transaction(self, commands: Sequence[Command]) -> list[Any]:
        """Send several commands that take effect together or not at all; return the answers."""
        return self._send(commands, is_atomic=True)

    def send_all(self, commands: Sequence[Command]) -> list[Any]:
        """Send several commands in one go and return the answers; one may fail alone."""
        return self._send(commands, is_atomic=False)

    def check_type(self, key: str) -> None:
        """Raise a `BrokerError` if a key holds something else than a stream."""
        kind = self.call("TYPE", key)
        kind = kind.decode() if isinstance(kind, bytes) else kind
        if kind not in ("stream", "none"):
            raise BrokerError(
                f"{self.address} must name a stream, but the key {key!r} holds a {kind}; "
                "choose another name"
            )

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    def _send(self, commands: Sequence[Command], *, is_atomic: bool) -> list[Any]:
        def send() -> list[Any]:
            pipeline = self._client.pipeline(transaction=is_atomic)
            for command in commands:
                pipeline.execute_command(*command)
            answers: list[Any] = pipeline.execute()
            return answers

        answers: list[Any] = self._attempt(send)
        return answers

    def _attempt(self, send: Callable[[], Any]) -> Any:  # noqa: ANN401
        if self._clock() < self._retry_at:
            raise Disconnected(f"{self.address} does not answer; csim tries again soon")
        try:
            answer = send()
        except (redis.AuthenticationError, redis.exceptions.NoPermissionError) as error:
            raise BrokerError(
                f"{self.address} must accept csim's user, it says: {error}; set CSIM_REDIS_USER "
                "and CSIM_REDIS_PASSWORD, or CSIM_REDIS_PASSWORD_FILE"
            ) from error
        except (redis.ConnectionError, redis.TimeoutError) as error:
            raise self._lost(error) from error
        except redis.ResponseError as error:
            if str(error).startswith(_BUSY):
                raise self._lost(error) from error
            raise _refused(self.address, error) from error
        self._failures = 0
        return answer

    def _lost(self, error: Exception) -> Disconnected:
        first, longest = _BACK_OFF_SECONDS
        if not self._failures:
            self.breaks += 1
            _log.warning("%s does not answer (%s); csim tries again", self.address, error)
        self._retry_at = self._clock() + min(longest, first * 2**self._failures)
        self._failures = min(self._failures + 1, 10)
        return Disconnected(
            f"{self.address} must answer, but it does not ({error}); check host, port and TLS, "
            "and that the server runs"
        )


class NoGroupError(BrokerError):
    """Report that the consumer group is gone, as after a restart without a saved state."""


def _refused(address: Address, error: redis.ResponseError) -> BrokerError:
    kind = NoGroupError if "NOGROUP" in str(error) else BrokerError
    return kind(
        f"{address} must be a stream that csim may use, the server says: {error}; choose another "
        "name or correct the server"
    )


def _client(address: Address, credentials: Credentials) -> Any:  # noqa: ANN401
    encryption: dict[str, Any] = {}
    if address.is_encrypted:
        encryption = {"ssl": True, "ssl_ca_certs": credentials.authorities}
    return redis.Redis(
        host=address.host,
        port=address.port,
        db=address.database,
        username=credentials.user,
        password=credentials.password,
        socket_timeout=_TIMEOUT_SECONDS,
        socket_connect_timeout=_TIMEOUT_SECONDS,
        retry=Retry(NoBackoff(), 0),
        protocol=2,
        **encryption,
    )
