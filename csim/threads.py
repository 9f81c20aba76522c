"""One thread: sums then come out the same on every machine, and in every process that does the same work again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from threadpoolctl import threadpool_limits


@contextmanager
def one_thread() -> Iterator[None]:
    """Let all arithmetic libraries that are loaded use one thread inside the block.

    Another number adds in another order, so that figures differ in their last digits; and what decides between two
    images differs with them.
    """
    with threadpool_limits(limits=1):
        yield
