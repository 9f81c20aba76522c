"""The rows of a table, measured one after another or on several cores; the figures are the same either way."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from typing import TypeVar

import torch

from csim.bench.tables.table import Row

Case = TypeVar("Case")
Done = Callable[[int, int], None]  # cases done, cases in all


def measure_all(
    measure: Callable[[Case], Row], cases: Sequence[Case], *, jobs: int = 1, on_done: Done | None = None
) -> list[Row]:
    """Return a row per case, in the order of the cases.

    Parameters
    ----------
    measure
        From a case to its row; a module's own function, or a `partial` of one, so that it can be sent.
    cases
        What to measure.
    jobs
        Processes at a time. Raising it to the number of cores is faster in proportion.
    on_done
        Called whenever a case is done, for progress.
    """
    if jobs == 1:
        return _one_by_one(measure, cases, on_done)
    spawn = multiprocessing.get_context("spawn")  # a fork would inherit torch's threads half-way through
    with ProcessPoolExecutor(jobs, spawn, initializer=torch.set_num_threads, initargs=(1,)) as pool:
        futures = [pool.submit(measure, case) for case in cases]
        for done, _ in enumerate(as_completed(futures), start=1):
            if on_done:
                on_done(done, len(cases))
        return [future.result() for future in futures]


def _one_by_one(measure: Callable[[Case], Row], cases: Sequence[Case], on_done: Done | None) -> list[Row]:
    rows = []
    with one_thread():
        for done, case in enumerate(cases, start=1):
            rows.append(measure(case))
            if on_done:
                on_done(done, len(cases))
    return rows


@contextmanager
def one_thread() -> Iterator[None]:
    """Let torch use one thread inside the block: another number adds in another order, so figures would differ."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
