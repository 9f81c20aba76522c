"""Parallel work: processes with one torch thread each.

With one thread the figures are the same on any machine, and processes do not wait for each other.
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

import torch  # noqa: F401 - a library that is loaded later would use more than one thread
from threadpoolctl import threadpool_limits

from csim.errors import CsimError, SettingsError
from csim.threads import one_thread

Case = TypeVar("Case")
Outcome = TypeVar("Outcome")
Tell = Callable[[int, int], None]  # parts done, parts in all
OnStep = Callable[[int, int, int], None]  # index of a case, its parts done, its parts in all
_REPORT_SECONDS = 0.2  # between two reports about a case


def each(
    work: Callable[[Case, Tell], Outcome],
    cases: Sequence[Case],
    *,
    jobs: int = 1,
    on_step: OnStep | None = None,
) -> list[Outcome]:
    """Return the outcome of `work` for each case, in order.

    Parameters
    ----------
    work
        Called with a case and a function to report its progress to. It must be a function of a
        module, or a `partial` of one, so that it can be sent to another process.
    cases
        What to work on.
    jobs
        Processes at a time; 1 works in this process. Higher is faster, up to the number of cores.
    on_step
        Called now and then with a case's index, its parts done and in all, and once at its end.
    """
    if jobs < 1:
        raise SettingsError(f"jobs must be 1 or more, got {jobs}")
    report = on_step or (lambda index, done, total: None)
    if jobs == 1 or len(cases) <= 1:
        with one_thread():
            return [
                work(case, _Throttled(partial(report, index))) for index, case in enumerate(cases)
            ]
    return _in_parallel(work, cases, jobs, report)


def _in_parallel(
    work: Callable[[Case, Tell], Outcome], cases: Sequence[Case], jobs: int, report: OnStep
) -> list[Outcome]:
    # A fork would inherit torch's threads in the middle of their work.
    spawn = multiprocessing.get_context("spawn")
    # A SimpleQueue is written at once: a case's last report is there before its outcome.
    steps: Any = spawn.SimpleQueue()
    others = set(multiprocessing.active_children())
    with ProcessPoolExecutor(jobs, spawn, initializer=_start_worker, initargs=(steps,)) as pool:
        futures = [pool.submit(_work, work, index, case) for index, case in enumerate(cases)]
        waiting: set[Future[Outcome]] = set(futures)
        try:
            while waiting:
                done, waiting = wait(waiting, timeout=_REPORT_SECONDS, return_when=FIRST_COMPLETED)
                for future in done:
                    future.result()
                for step in _drain(steps):
                    report(*step)
        except BrokenProcessPool as error:
            raise CsimError(
                "every worker process must live until its work is done, but one was killed; start "
                "again, with fewer jobs if memory ran out"
            ) from error
        except BaseException:
            _kill_workers(pool, set(multiprocessing.active_children()) - others)
            raise
        return [future.result() for future in futures]


def _kill_workers(
    pool: ProcessPoolExecutor, workers: set[multiprocessing.process.BaseProcess]
) -> None:
    pool.shutdown(wait=False, cancel_futures=True)
    for process in workers:
        process.kill()
    for process in workers:
        process.join()


class _Throttled:
    """Report the progress of a case, not more often than a person can read, and always its end."""

    def __init__(self, tell: Tell) -> None:
        self._tell = tell
        self._last = 0.0

    def __call__(self, done: int, total: int) -> None:
        if done == total or time.monotonic() - self._last > _REPORT_SECONDS:
            self._last = time.monotonic()
            self._tell(done, total)


_steps: Any = None  # the queue from a worker to its parent


def _start_worker(steps: Any) -> None:  # noqa: ANN401
    global _steps
    _steps = steps
    threadpool_limits(limits=1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent gets it too, and ends its workers
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """End this process when its parent ends, even if the parent was killed."""
    if parent := multiprocessing.parent_process():
        parent.join()
        os._exit(1)


def _work(work: Callable[[Case, Tell], Outcome], index: int, case: Case) -> Outcome:
    return work(case, _Throttled(lambda done, total: _steps.put((index, done, total))))


def _drain(steps: Any) -> Iterator[tuple[int, int, int]]:  # noqa: ANN401
    while not steps.empty():
        yield steps.get()
