"""Progress of the bench's commands on standard error: bars on a terminal, otherwise lines."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from csim.bench.layout.rows import Done

_LINE_SECONDS = 10.0  # between two lines about a run, without a terminal
_READ_SECONDS = 5.0  # between two lines about the images that csim reads
Clock = Callable[[], float]  # seconds


@contextmanager
def show_count() -> Iterator[Done]:
    """Show how many of all steps are done."""
    console = Console(stderr=True)
    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as bars:
        bar = bars.add_task("", total=None)
        yield lambda done, total: bars.update(bar, completed=done, total=total)


@contextmanager
def show_runs(unit: str = "images") -> Iterator[RunProgress]:
    """Show how far each run is and the time left.

    Without a terminal, print a line when a run starts, another now and then, and one at its end.
    """
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(None),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as bars:
        yield RunProgress(console, bars, unit)


class Named(Protocol):
    """Describe anything that has a name, such as a run or a trial."""

    @property
    def name(self) -> str:
        """Return the name."""
        ...


class RunProgress:
    """Show a bar for all runs and one for each that is running.

    The estimate of the time left assumes that all runs take equally long.
    """

    def __init__(
        self, console: Console, bars: Progress, unit: str, clock: Clock = time.monotonic
    ) -> None:
        self._clock = clock
        self._console = console
        self._bars = bars
        self._unit = unit
        self._total = bars.add_task("all runs, %", total=100)
        self._tasks: dict[int, TaskID] = {}
        self._shares: dict[int, float] = {}
        self._printed: dict[int, float] = {}  # when a line about each run was last printed

    def __call__(self, cases: Sequence[Named], index: int, done: int, total: int) -> None:
        """Show that `done` of `total` steps of the run `cases[index]` are finished."""
        self._shares[index] = done / total
        percent = round(100 * sum(self._shares.values()) / len(cases))
        self._bars.update(self._total, completed=percent)
        name = cases[index].name
        if index not in self._tasks:
            self._tasks[index] = self._bars.add_task(f"{_end(name)}, {self._unit}", total=total)
        self._bars.update(self._tasks[index], completed=done, visible=done < total)
        if done == total:
            finished = sum(share == 1 for share in self._shares.values())
            self._print(f"{finished}/{len(cases)} {name}")
        elif not self._console.is_terminal and self._is_due(index, done):
            self._print(f"{name}: {done:,} of {total:,} {self._unit}")

    def _is_due(self, index: int, done: int) -> bool:
        """Tell whether to print a line about a run: at its start, and then from time to time."""
        now = self._clock()
        if done and now - self._printed.get(index, now) < _LINE_SECONDS:
            return False
        self._printed[index] = now
        return True

    def _print(self, line: str) -> None:
        self._console.print(line, highlight=False, soft_wrap=True)


class LoadProgress:
    """Print a line for each tenth of a downloaded file, and now and then how many images are read.

    Lines can appear between bars without damaging them.
    """

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._printed: set[tuple[str, int]] = set()
        self._last_line: dict[str, float] = {}  # when a line about each folder was last printed

    def __call__(self, name: str, done: int, total: int | None, unit: str = "bytes") -> None:
        """Print how many bytes of a file, or images of a folder, are done, if it is time to."""
        if unit == "bytes":
            self._downloaded(name, done, total)
        elif (now := self._clock()) - self._last_line.setdefault(name, now) >= _READ_SECONDS:
            self._last_line[name] = now
            typer.echo(f"reading {name}: {done:,} of {total:,} {unit}", err=True)

    def _downloaded(self, name: str, done: int, total: int | None) -> None:
        tenth = 10 * done // total if total else done >> 23  # of unknown size: every 8 MB
        if (name, tenth) not in self._printed:
            self._printed.add((name, tenth))
            share = f"{10 * tenth} % of {total / 1e6:,.1f} MB" if total else f"{done / 1e6:,.1f} MB"
            typer.echo(f"downloading {name}: {share}", err=True)


def _end(name: str, most: int = 28) -> str:
    """Return the end of a long name, so that the bar has room; names differ at their end."""
    return name if len(name) <= most else f"…{name[1 - most :]}"
