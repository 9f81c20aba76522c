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
from typing import Annotated

import typer
from rich.console import Console
from rich.live import Live
from rich.text import Text

from csim.cli.exit_codes import INTERRUPTED
from csim.cli.option_parsers import number_parser
from csim.errors import InputError
from csim.folder.output import Output
from csim.folder.reader import Reader
from csim.folder.run import Counts
from csim.folder.run import run as classify
from csim.folder.stream import Stream
from csim.sources.open_source import open_source

SourceName = Annotated[
    str | None,
    typer.Argument(
        help="A directory, an image, an .npz file, a video, or - for a list of files on standard "
        "input. Without it, csim takes answers and trains models."
    ),
]
Predictions = Annotated[
    Path | None,
    typer.Option(
        help="Write predictions to this .jsonl or .csv file, or with - to standard output."
    ),
]
Watch = Annotated[
    bool, typer.Option("--watch", help="Keep running and classify new files as they appear.")
]
IsLive = Annotated[
    bool,
    typer.Option(
        "--live",
        help="Use a new model as soon as it is ready; do not wait for it. "
        "Results then depend on the speed of the machine.",
    ),
]
Limit = Annotated[
    int | None,
    typer.Option(parser=number_parser("--limit", int, least=1), help="Stop after n images."),
]
Every = Annotated[
    float | None,
    typer.Option(
        parser=number_parser("--every", float), help="Take a frame of a video every n seconds."
    ),
]
Null = Annotated[
    bool, typer.Option("--null", "-0", help="Expect a zero byte after each file name of the list.")
]
Ask = Annotated[
    bool, typer.Option(help="At the end of the source, ask about images without a class.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the outcome as one JSON object.")]


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
    """Classify images and continue where the last run stopped.

    csim skips images that it has seen before. You can therefore stop a run at
    any time and repeat the command; a crash does no harm either. csim counts
    and skips files that it cannot read. While it runs you can use `csim label`,
    `csim undo`, `csim classes` and `csim status`.

    Example: csim run birds incoming/ --watch --out predictions.jsonl
    """
    # csim counts unreadable files itself.
    warnings.filterwarnings("ignore", category=UserWarning, module="PIL")
    if source is None and watch:
        raise InputError("--watch needs a directory; write it after the stream folder")
    origin = (
        ()
        if source is None
        else open_source(source, watch=watch, stdin=sys.stdin.buffer, every=every, null=null)
    )
    with (
        Stream(folder, is_live=live) as stream,
        _stop_on_signals() as is_stopped,
        _write_predictions(stream, out) as write,
    ):
        for problem in stream.problems:
            typer.echo(f"csim: {problem}; csim used an older snapshot", err=True)
        with _show_progress(stream) as show:

            def on_batch(counts: Counts) -> None:
                write()
                show(counts)

            counts, is_end = classify(
                stream, origin, limit=limit, is_stopped=is_stopped, on_batch=on_batch
            )
            if is_end and not is_stopped():
                stream.finish(ask=ask)
                write()
    _print_outcome(folder, counts, is_stopped(), as_json, to_error=_is_piped(out))
    if is_stopped():
        raise typer.Exit(INTERRUPTED)


def _is_piped(out: Path | None) -> bool:
    return out is not None and str(out) == "-"


def _print_outcome(
    folder: Path, counts: Counts, is_stopped: bool, as_json: bool, *, to_error: bool
) -> None:
    with Reader(folder) as reader:
        opened = reader.count("open")
        position = reader.history.position()
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
        f"{counts.taken:,} images taken, {position:,} in all; {opened} questions open",
        err=to_error,
    )
    if counts.known:
        typer.echo(f"{counts.known:,} skipped because csim had seen them before", err=to_error)
    if counts.troubles:
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in sorted(unreadable.items()))
        reason = f"; the last: {counts.last.id}: {counts.last.reason}" if counts.last else ""
        files = "file" if counts.troubles == 1 else "files"
        typer.echo(
            f"{counts.troubles:,} {files} could not be read (in total {kinds}){reason}", err=True
        )
    if is_stopped:
        typer.echo(f"stopped; repeat the command to continue: csim run {folder} …", err=True)
    elif opened:
        typer.echo(f"Next: csim label {folder}", err=to_error)


@contextmanager
def _stop_on_signals() -> Iterator[Callable[[], bool]]:
    """Give a function that tells whether to stop.

    The first SIGINT or SIGTERM stops the run after its batch, the second immediately.
    """
    received: list[int] = []

    def handle(signum: int, _: object) -> None:
        received.append(signum)
        signal.signal(
            signum, signal.default_int_handler if signum == signal.SIGINT else signal.SIG_DFL
        )

    before = {signum: signal.signal(signum, handle) for signum in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield lambda: bool(received)
    finally:
        for signum, handler in before.items():
            signal.signal(signum, handler)


@contextmanager
def _write_predictions(stream: Stream, out: Path | None) -> Iterator[Callable[[], object]]:
    """Give a function that writes the predictions which are not in the file yet."""
    if out is None:
        yield lambda: None
        return
    output = Output(stream.layout.database, None if _is_piped(out) else out, sys.stdout.buffer)
    try:
        yield output.catch_up
    finally:
        output.close()


@contextmanager
def _show_progress(stream: Stream) -> Iterator[Callable[[Counts], None]]:
    """Give a function that shows how far the run is, on a terminal only."""
    console = Console(stderr=True, highlight=False)
    start = time.monotonic()
    if not console.is_terminal:
        yield lambda counts: None
        return
    with Live(console=console, transient=True, refresh_per_second=4) as live:

        def show(counts: Counts) -> None:
            pace = counts.taken / (time.monotonic() - start)
            more = f", {counts.troubles:,} unreadable" if counts.troubles else ""
            live.update(Text(f"{stream.position:,} images, {pace:,.0f}/s{more}   Ctrl-C stops"))

        yield show
