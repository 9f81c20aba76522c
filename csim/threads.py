"""Single-threaded arithmetic, so that sums are the same in every process that repeats the work."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from threadpoolctl import threadpool_limits


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit all loaded arithmetic libraries to one thread inside the block.

    With another number of threads, sums are added in another order and differ in their last digits.
    Decisions that depend on them can then differ too.
    """
    with threadpool_limits(limits=1):
        yield
