"""`csim report`: a stream folder as one page, to show around."""

from __future__ import annotations

import json
import platform
import shlex
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from csim import __version__
from csim.atomic import write_file
from csim.errors import InputError, StorageError
from csim.threads import one_thread

_LIBRARIES = ("torch", "numpy", "scikit-learn", "matplotlib")


def report(
    folder: Annotated[Path, typer.Argument(help="The stream folder.")],
    out: Annotated[
        Path, typer.Option(help="The HTML file to write; one that is there is replaced.")
    ] = Path("report.html"),
    truth: Annotated[
        Path | None,
        typer.Option(
            help="A CSV file with the columns item and class: what images truly are, as far as you know."
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print where the page is as one JSON object.")
    ] = False,
) -> None:
    """Write one HTML page about a stream; it may be running meanwhile.

    It shows what was seen, asked and learned, with pictures of the classes and
    of the groups that were asked about. The file needs no other, no network and
    no script. With --truth it also says how right the labels are.

    Example: csim report birds --out birds.html
    """
    start = time.perf_counter()
    from csim.report.folder_page import render  # noqa: PLC0415  # slow to load: `csim --help` need not wait
    from csim.report.folder_truth import read_truth  # noqa: PLC0415

    _check(out)
    with (
        Console(stderr=True).status("reading and drawing"),
        one_thread(),
    ):  # a stream may run meanwhile
        known = None if truth is None else read_truth(truth)
        page = render(folder, known, _origin(folder, truth)).encode()
    _write(out, page)
    seconds = round(time.perf_counter() - start, 2)
    if as_json:
        typer.echo(json.dumps({"report": str(out), "bytes": len(page), "seconds": seconds}))
    else:
        typer.echo(
            f"{out.resolve()} shows {folder}, {len(page) / 1e6:,.1f} MB; open it in a browser"
        )


def _origin(folder: Path, truth: Path | None) -> dict[str, str]:
    command = ["csim", "report", str(folder)] + ([] if truth is None else ["--truth", str(truth)])
    libraries = ", ".join(f"{library} {version(library)}" for library in _LIBRARIES)
    return {
        "command": shlex.join(command),
        "written": time.strftime("%Y-%m-%d %H:%M %z"),
        "versions": f"csim {__version__}, Python {platform.python_version()}, {libraries}",
    }


def _check(out: Path) -> None:
    """Refuse a place that cannot be written to, before anything is read."""
    if out.is_dir():
        raise InputError(f"{out} must be a file, it is a folder; choose another with --out")
    with _refusing(out):
        out.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=out.parent):
            pass


def _write(out: Path, page: bytes) -> None:
    """Write the page in one atomic step."""
    with _refusing(out):
        write_file(out, page)


@contextmanager
def _refusing(out: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StorageError(
            f"{out} cannot be written ({error.strerror}); make room or choose another place"
        ) from error
