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
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.live import Live
from rich.text import Text

from csim.cli.dark_files import DarkFilesWarning
from csim.cli.exit_codes import INTERRUPTED
from csim.cli.open_cluster import Cluster, ClusterAddress, Workers
from csim.cli.open_redis import ClaimAfter, FilesFolder, RedisQueue, open_redis_output
from csim.cli.option_parsers import number_parser, parse_history
from csim.distributed.address import is_address
from csim.errors import InputError
from csim.folder.output import Output
from csim.folder.reader import Reader
from csim.folder.run import Counts
from csim.folder.run import run as classify
from csim.folder.stream import Stream
from csim.folder.workers import WorkerReport
from csim.sources.arrival import Source
from csim.sources.open_source import open_source

_ENOUGH_DEEP_FILES = 100  # 16-bit files, before a run that goes on warns that they are dark

SourceName = Annotated[
    str | None,
    typer.Argument(
        help="A directory, an image, an .npz file, a video, redis://host:port/stream, or - for a "
        "list of files on standard input. Without it, csim takes answers and trains models."
    ),
]
Predictions = Annotated[
    str | None,
    typer.Option(
        metavar="PATH",
        help="Write predictions to this .jsonl or .csv file, to redis://host:port/stream, or with "
        "- to standard output.",
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
History = Annotated[
    Any,
    typer.Option(
        parser=parse_history,
        metavar="TIME",
        show_default="as before",
        help="From now on, list every image for this long: 90d, 12h, a number of images, or all.",
    ),
]
FromWorkers = Annotated[
    bool,
    typer.Option(
        "--from-workers", help="Take images of a Redis stream that `csim worker` has embedded."
    ),
]
GroupName = Annotated[
    str,
    typer.Option(help="Read a Redis stream as this consumer group; each group gets every image."),
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
    history: History = None,
    workers: Workers = None,
    cluster: ClusterAddress = None,
    from_workers: FromWorkers = False,
    group: GroupName = "csim",
    files: FilesFolder = None,
    claim_after: ClaimAfter = 60.0,
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
    queue = RedisQueue(source, group, files, claim_after, from_workers=from_workers)
    origin: Source = ()
    if source is not None and not queue.is_named:
        origin = open_source(source, watch=watch, stdin=sys.stdin.buffer, every=every, null=null)
    helpers = Cluster(workers, cluster)
    stop = _StopSignals()
    is_stopped = stop.is_received
    trainer = helpers.trainer
    with (
        helpers.connected(),
        Stream(
            folder, is_live=live, trainer=trainer, is_stopped=is_stopped, history=history
        ) as stream,
        stop,
        _write_predictions(stream, out, is_stopped) as write,
    ):
        for problem in stream.problems:
            typer.echo(f"csim: {problem}; csim used an older snapshot", err=True)
        embedded = helpers.embedded(queue.open(stream) if queue.is_named else origin, stream)
        counts = _classify(stream, embedded, write, limit=limit, ask=ask, is_stopped=is_stopped)
    _print_outcome(folder, counts, is_stopped(), as_json, to_error=_is_piped(out))
    if is_stopped():
        raise typer.Exit(INTERRUPTED)


def _classify(
    stream: Stream,
    source: Source,
    write: Callable[[], object],
    *,
    limit: int | None,
    ask: bool,
    is_stopped: Callable[[], bool],
) -> Counts:
    """Run a source through a stream, and show how far it is."""
    dark_files = DarkFilesWarning(stream.config.bits)
    workers = WorkerReport(stream.layout.database, source)
    with _show_progress(stream) as show:

        def on_batch(counts: Counts) -> None:
            write()
            show(counts)
            workers.write()
            if counts.deep >= _ENOUGH_DEEP_FILES:
                dark_files.give(counts.used_bits)

        counts, is_end = classify(
            stream, source, limit=limit, is_stopped=is_stopped, on_batch=on_batch
        )
        if is_end and not is_stopped():
            counts.count(stream.finish(ask=ask))
            write()
    dark_files.give(counts.used_bits)
    return counts


def _is_piped(out: str | None) -> bool:
    return out == "-"


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
            "models_trained": counts.trained,
            "labels_revised": counts.revised,
            "position": position,
        }
        typer.echo(
            json.dumps(values | {"open_questions": opened, "stopped": is_stopped}), err=to_error
        )
        return
    taken = f"{counts.taken:,} images taken" if counts.taken else "no new images"
    typer.echo(f"{taken}, {position:,} in all; {opened} questions open", err=to_error)
    if counts.trained:
        models = "1 model" if counts.trained == 1 else f"{counts.trained:,} models"
        typer.echo(f"{models} trained, {counts.revised:,} labels revised", err=to_error)
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


class _StopSignals:
    """Remember whether SIGINT, SIGTERM or SIGHUP has come, from `with` on.

    The first stops the run after its batch. A second SIGINT or SIGTERM stops it immediately.
    """

    def __init__(self) -> None:
        self._received: list[int] = []
        self._before: dict[int, Any] = {}

    def __enter__(self) -> None:
        wanted = [signal.SIGINT, signal.SIGTERM]
        if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # as under `nohup`
            wanted.append(signal.SIGHUP)
        self._before = {number: signal.signal(number, self._handle) for number in wanted}

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def is_received(self) -> bool:
        """Return whether a signal has come."""
        return bool(self._received)

    def _handle(self, number: int, _: object) -> None:
        self._received.append(number)
        if number == signal.SIGINT:
            signal.signal(number, signal.default_int_handler)
        elif number == signal.SIGTERM:  # not SIGHUP: a terminal that closes may send it twice
            signal.signal(number, signal.SIG_DFL)


@contextmanager
def _write_predictions(
    stream: Stream, out: str | None, is_stopped: Callable[[], bool]
) -> Iterator[Callable[[], object]]:
    """Give a function that writes the predictions which are not in the file yet."""
    if out is None:
        yield lambda: None
        return
    output = (
        open_redis_output(out, stream, is_stopped)
        if is_address(out)
        else Output(
            stream.layout.database, None if _is_piped(out) else Path(out), sys.stdout.buffer
        )
    )
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
