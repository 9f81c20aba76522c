"""The rows of a table, measured on one core or on several, with the same figures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

from csim.bench.layout.table import Row
from csim.bench.processes import Tell, each

Case = TypeVar("Case")
Done = Callable[[int, int], None]  # cases done, cases in all


def measure_all(
    measure: Callable[[Case], Row],
    cases: Sequence[Case],
    *,
    jobs: int = 1,
    on_done: Done | None = None,
) -> list[Row]:
    """Return a row per case, in the order of the cases.

    Parameters
    ----------
    measure
        From a case to its row. It must be a function of a module, or a `partial` of one, so that it
        can be sent to another process.
    cases
        What to measure.
    jobs
        Processes at a time. Higher is faster, up to the number of cores.
    on_done
        Called whenever a case is done, for progress.
    """
    finished: set[int] = set()

    def count(index: int, done: int, total: int) -> None:
        finished.add(index)
        if on_done:
            on_done(len(finished), len(cases))

    return each(partial(_measure, measure=measure), cases, jobs=jobs, on_step=count)


def _measure(case: Case, tell: Tell, *, measure: Callable[[Case], Row]) -> Row:
    row = measure(case)
    tell(1, 1)
    return row
