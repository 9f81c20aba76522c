"""`csim run`: classify a source into a stream folder."""

from __future__ import annotations

import json
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.live import Live
from rich.text import Text

from csim.cli.messages import INTERRUPTED
from csim.cli.values import number
from csim.errors import InputError

if TYPE_CHECKING:
    from csim.folder.run import Counts
    from csim.folder.stream import Stream


SourceName = Annotated[
    str | None,
    typer.Argument(
        help="A directory, an image, a .npz, a video, or - for a list of files on standard input. Without one, "
        "answers are taken and models trained."
    ),
]
Predictions = Annotated[
    Path | None,
    typer.Option(help="Predictions go to this .jsonl or .csv file; - for standard output."),
]
Watch = Annotated[
    bool, typer.Option("--watch", help="Go on for ever with what is put into the directory.")
]
IsLive = Annotated[
    bool,
    typer.Option(
        "--live", help="A new model takes over as soon as it is ready; nothing waits for it."
    ),
]
Limit = Annotated[
    int | None,
    typer.Option(parser=number("--limit", int, least=1), help="Stop after so many images."),
]
Every = Annotated[
    float | None,
    typer.Option(parser=number("--every", float), help="Seconds between two frames of a video."),
]
Null = Annotated[
    bool, typer.Option("--null", "-0", help="The list's file names end with a zero byte.")
]
Ask = Annotated[bool, typer.Option(help="At the end of the source, ask about what waits.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print what was done as one JSON object.")]


def run(
    folder: Annotated[Path, typer.Argument(help="The stream folder.")],
    source: SourceName = None,
    out: Predictions = None,
    watch: Watch = False,
    live: IsLive = False,
    limit: Limit = None,
    every: Every = None,
    null: Null = False,
    ask: Ask = True,
    as_json: AsJson = False,
) -> None:
    """Classify images; go on where the last run stopped.

    Images that have come before are passed over, so that a run can be stopped
    at any time, with Ctrl-C or by a crash, and started again. Files that cannot
    be read are counted and passed over. Meanwhile `csim label`, `csim undo`,
    `csim classes` and `csim status` can be used.

    Example: csim run birds incoming/ --watch --out predictions.jsonl
    """
    warnings.filterwarnings(
        "ignore", category=UserWarning, module="PIL"
    )  # what matters is counted as trouble
    from csim.folder.run import run  # noqa: PLC0415
    from csim.folder.stream import Stream  # noqa: PLC0415
    from csim.sources.choose import open_source  # noqa: PLC0415

    if source is None and watch:
        raise InputError("--watch needs a directory; give it after the folder")
    origin = (
        ()
        if source is None
        else open_source(source, watch=watch, stdin=sys.stdin.buffer, every=every, null=null)
    )
    with (
        Stream(folder, is_live=live) as stream,
        _stopping() as is_stopped,
        _writing(stream, out) as write,
    ):
        for problem in stream.problems:
            typer.echo(f"csim: {problem}; an older snapshot was used", err=True)
        with _showing(stream) as show:

            def follow(counts: Counts) -> None:
                write()
                show(counts)

            counts, is_end = run(
                stream, origin, limit=limit, is_stopped=is_stopped, on_batch=follow
            )
            if is_end and not is_stopped():
                stream.finish(ask=ask)
                write()
    _conclude(folder, counts, is_stopped(), as_json, to_error=_is_piped(out))
    if is_stopped():
        raise typer.Exit(INTERRUPTED)


def _is_piped(out: Path | None) -> bool:
    return out is not None and str(out) == "-"


def _conclude(
    folder: Path, counts: Counts, is_stopped: bool, as_json: bool, *, to_error: bool
) -> None:
    from csim.folder.reader import Reader  # noqa: PLC0415

    with Reader(folder) as reader:
        opened, position = reader.count("open"), reader.history.position()
        unreadable = reader.counts.troubles()
    if as_json:
        values = {
            "taken": counts.taken,
            "known": counts.known,
            "troubles": counts.troubles,
            "position": position,
        }
        typer.echo(
            json.dumps(values | {"open_questions": opened, "stopped": is_stopped}), err=to_error
        )
        return
    typer.echo(
        f"{counts.taken:,} images taken, {position:,} in all; {opened} questions open", err=to_error
    )
    if counts.known:
        typer.echo(f"{counts.known:,} had come before and were passed over", err=to_error)
    if counts.troubles:
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in sorted(unreadable.items()))
        reason = f"; the last: {counts.last.id}: {counts.last.reason}" if counts.last else ""
        files = "file" if counts.troubles == 1 else "files"
        typer.echo(
            f"{counts.troubles:,} {files} could not be taken (in all {kinds}){reason}", err=True
        )
    if is_stopped:
        typer.echo(f"stopped; the same command goes on from here: csim run {folder} …", err=True)
    elif opened:
        typer.echo(f"Go on: csim label {folder}", err=to_error)


@contextmanager
def _stopping() -> Iterator[Callable[[], bool]]:
    """Let the first Ctrl-C, or a request to end, stop the run after its batch; the second stops it at once."""
    heard: list[int] = []

    def hear(signum: int, _: object) -> None:
        heard.append(signum)
        signal.signal(
            signum, signal.default_int_handler if signum == signal.SIGINT else signal.SIG_DFL
        )

    before = {signum: signal.signal(signum, hear) for signum in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield lambda: bool(heard)
    finally:
        for signum, handler in before.items():
            signal.signal(signum, handler)


@contextmanager
def _writing(stream: Stream, out: Path | None) -> Iterator[Callable[[], object]]:
    """Give what brings the predictions up to where the folder is."""
    from csim.folder.output import Output  # noqa: PLC0415

    if out is None:
        yield lambda: None
        return
    output = Output(stream.layout.database, None if _is_piped(out) else out, sys.stdout.buffer)
    try:
        yield output.catch_up
    finally:
        output.close()


@contextmanager
def _showing(stream: Stream) -> Iterator[Callable[[Counts], None]]:
    """Show how far a run is, on a terminal only."""
    console, start = Console(stderr=True, highlight=False), time.monotonic()
    if not console.is_terminal:
        yield lambda counts: None
        return
    with Live(console=console, transient=True, refresh_per_second=4) as live:

        def show(counts: Counts) -> None:
            pace = counts.taken / (time.monotonic() - start)
            more = f", {counts.troubles:,} unreadable" if counts.troubles else ""
            live.update(Text(f"{stream.position:,} images, {pace:,.0f}/s{more}   Ctrl-C stops"))

        yield show
