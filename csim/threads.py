"""Threads: arithmetic in a single one, and methods that several threads call in turn."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from threadpoolctl import threadpool_limits

P = ParamSpec("P")
T = TypeVar("T")


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit all loaded arithmetic libraries to one thread inside the block.

    With another number of threads, sums are added in another order and differ in their last digits.
    Decisions that depend on them can then differ too, also between two processes that do the same.
    """
    with threadpool_limits(limits=1):
        yield


def one_at_a_time(method: Callable[Concatenate[Any, P], T]) -> Callable[Concatenate[Any, P], T]:
    """Return a method that holds its object's `_lock`: threads take turns in such methods."""

    @wraps(method)
    def call(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> T:  # noqa: ANN401
        with self._lock:
            return method(self, *args, **kwargs)

    return call
