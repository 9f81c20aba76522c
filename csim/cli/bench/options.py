"""What the bench's commands share: their options, and how they show how far they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Protocol

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

from csim.cli.values import number

if TYPE_CHECKING:
    from csim.bench.layout.rows import Done

DataDir = Annotated[
    Path | None,
    typer.Option(
        "--data-dir", help="Folder of the data sets; the variable CSIM_DATA if not given."
    ),
]
Out = Annotated[Path, typer.Option("--out", help="Folder to write to.")]
Seeds = Annotated[
    list[int],
    typer.Option(
        "--seed",
        parser=number("--seed", int, least=0),
        help="Seed of a run; give it again for more runs.",
    ),
]
Jobs = Annotated[
    int,
    typer.Option(
        "--jobs",
        parser=number("--jobs", int, least=1),
        help="Processes at a time; the figures stay the same.",
    ),
]
AsJson = Annotated[
    bool, typer.Option("--json", help="Print the figures as one JSON object on the last line.")
]


@contextmanager
def counting() -> Iterator[Done]:
    """Show how many of how many are done."""
    console, columns = (
        Console(stderr=True),
        (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()),
    )
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as bars:
        bar = bars.add_task("", total=None)
        yield lambda done, total: bars.update(bar, completed=done, total=total)


@contextmanager
def following(unit: str = "images") -> Iterator[_Follower]:
    """Show how far each run is and how long it will take; without a terminal, a line for each that is done."""
    console = Console(stderr=True)
    words, count = TextColumn("{task.description}"), MofNCompleteColumn()
    columns = (
        words,
        BarColumn(None),
        count,
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as bars:
        yield _Follower(console, bars, unit)


class Named(Protocol):
    """What has a name: a run, a trial."""

    @property
    def name(self) -> str:
        """What it is called."""
        ...


class Downloads:
    """Tells in lines how far downloads are, a tenth of a file at a time: they may come in the midst of bars."""

    def __init__(self) -> None:
        self._told: set[tuple[str, int]] = set()

    def __call__(self, name: str, done: int, total: int | None) -> None:
        """Take note of a file's bytes, done and in all if known."""
        tenth = 10 * done // total if total else done >> 23
        if (name, tenth) not in self._told:
            self._told.add((name, tenth))
            share = f"{10 * tenth} % of {total / 1e6:,.1f} MB" if total else f"{done / 1e6:,.1f} MB"
            typer.echo(f"downloading {name}: {share}", err=True)


class _Follower:
    """A bar for all runs and one for each that is running; the estimate rests on what is done, of runs alike."""

    def __init__(self, console: Console, bars: Progress, unit: str) -> None:
        self._console, self._bars, self._unit = console, bars, unit
        self._whole = bars.add_task("all runs, %", total=100)
        self._tasks: dict[int, TaskID] = {}
        self._shares: dict[int, float] = {}

    def __call__(self, cases: Sequence[Named], place: int, done: int, total: int) -> None:
        self._shares[place] = done / total
        self._bars.update(
            self._whole, completed=round(100 * sum(self._shares.values()) / len(cases))
        )
        if place not in self._tasks:
            self._tasks[place] = self._bars.add_task(
                f"{_end(cases[place].name)}, {self._unit}", total=total
            )
        self._bars.update(self._tasks[place], completed=done, visible=done < total)
        if done == total:
            finished = sum(share == 1 for share in self._shares.values())
            self._console.print(
                f"{finished}/{len(cases)} {cases[place].name}", highlight=False, soft_wrap=True
            )


def _end(name: str, most: int = 28) -> str:
    """Return the end of a long name, which tells it from others: the bar and the estimate need room, too."""
    return name if len(name) <= most else f"…{name[1 - most :]}"
