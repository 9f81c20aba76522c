"""Work side by side: processes with one torch thread each.

One thread: the figures are then the same on any machine, and two processes do not wait for each other.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from typing import Any, TypeVar

import torch  # noqa: F401 - what is loaded later would not be held to one thread
from threadpoolctl import threadpool_limits

from csim.errors import CsimError, SettingsError
from csim.threads import one_thread

Case = TypeVar("Case")
Outcome = TypeVar("Outcome")
Tell = Callable[[int, int], None]  # parts done, parts in all
OnStep = Callable[[int, int, int], None]  # which case, its parts done, its parts in all
_EVERY = 0.2  # seconds between two words about a case


def each(
    work: Callable[[Case, Tell], Outcome],
    cases: Sequence[Case],
    *,
    jobs: int = 1,
    on_step: OnStep | None = None,
) -> list[Outcome]:
    """Return what `work` makes of each case, in order.

    Parameters
    ----------
    work
        Given a case and what to tell its progress to; a module's own function, or a `partial` of one, so that it can
        be sent.
    cases
        What to work on.
    jobs
        Processes at a time; 1 works in this one. Raising it to the number of cores is faster in proportion.
    on_step
        Called now and then with a case's place, its parts done and their number, and once when it is done.
    """
    if jobs < 1:
        raise SettingsError(f"jobs must be 1 process or more, got {jobs}")
    report = on_step or (lambda place, done, total: None)
    if jobs == 1 or len(cases) <= 1:
        with one_thread():
            return [
                work(case, _Sparing(partial(report, place))) for place, case in enumerate(cases)
            ]
    return _side_by_side(work, cases, jobs, report)


def _side_by_side(
    work: Callable[[Case, Tell], Outcome], cases: Sequence[Case], jobs: int, report: OnStep
) -> list[Outcome]:
    spawn = multiprocessing.get_context(
        "spawn"
    )  # a fork would inherit torch's threads half-way through
    steps: Any = (
        spawn.SimpleQueue()
    )  # written at once: a case's last word is there before its outcome
    others = set(multiprocessing.active_children())
    with ProcessPoolExecutor(jobs, spawn, initializer=_start_worker, initargs=(steps,)) as pool:
        futures = [pool.submit(_work, work, place, case) for place, case in enumerate(cases)]
        waiting: set[Future[Outcome]] = set(futures)
        try:
            while waiting:
                done, waiting = wait(waiting, timeout=_EVERY, return_when=FIRST_COMPLETED)
                for future in done:
                    future.result()
                for step in _drain(steps):
                    report(*step)
        except BrokenProcessPool as error:
            raise CsimError(
                "every worker process must live until its work is done, one was ended from outside; start again, "
                "with fewer jobs if memory ran out"
            ) from error
        except BaseException:
            _give_up(pool, set(multiprocessing.active_children()) - others)
            raise
        return [future.result() for future in futures]


def _give_up(pool: ProcessPoolExecutor, workers: set[multiprocessing.process.BaseProcess]) -> None:
    pool.shutdown(wait=False, cancel_futures=True)
    for process in workers:
        process.kill()
    for process in workers:
        process.join()


class _Sparing:
    """Tells how far a case is, not more often than a person can read, and always the end."""

    def __init__(self, tell: Tell) -> None:
        self._tell, self._last = tell, 0.0

    def __call__(self, done: int, total: int) -> None:
        if done == total or time.monotonic() - self._last > _EVERY:
            self._last = time.monotonic()
            self._tell(done, total)


_steps: Any = None  # a worker's way to its parent


def _start_worker(steps: Any) -> None:  # noqa: ANN401
    global _steps
    _steps = steps
    threadpool_limits(limits=1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent hears it too, and ends its workers
    threading.Thread(target=_follow_the_parent, daemon=True).start()


def _follow_the_parent() -> None:
    """End with the parent, even one that was killed: nobody would read the rest."""
    if parent := multiprocessing.parent_process():
        parent.join()
        os._exit(1)


def _work(work: Callable[[Case, Tell], Outcome], place: int, case: Case) -> Outcome:
    return work(case, _Sparing(lambda done, total: _steps.put((place, done, total))))


def _drain(steps: Any) -> Iterator[tuple[int, int, int]]:  # noqa: ANN401
    while not steps.empty():
        yield steps.get()
