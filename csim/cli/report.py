"""`csim report`: one page about a stream folder, to show to others."""

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
from csim.report.folder.page import render
from csim.report.folder.truth import read_truth
from csim.threads import one_thread

_LIBRARIES = ("torch", "numpy", "scikit-learn", "matplotlib")


def report(
    folder: Annotated[Path, typer.Argument(help="The stream folder.")],
    out: Annotated[
        Path, typer.Option(help="The HTML file to write. csim replaces an existing file.")
    ] = Path("report.html"),
    truth: Annotated[
        Path | None,
        typer.Option(
            help="A CSV file with the columns item and class: the true class of images you know."
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the outcome as one JSON object.")
    ] = False,
) -> None:
    """Write one HTML page about a stream, even while it runs.

    The page shows what csim saw, asked and learned, with pictures of the classes
    and of the groups it asked about. It needs no other file, no network and no
    script. With --truth it also shows how many labels are right.

    Example: csim report birds --out birds.html
    """
    start = time.perf_counter()
    _check(out)
    # One thread, because the stream may be running.
    with Console(stderr=True).status("reading and drawing"), one_thread():
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
    """Raise if the page cannot be written, before reading the stream."""
    if out.is_dir():
        raise InputError(f"{out} must be a file, but it is a folder; choose another with --out")
    with _translate_errors(out):
        out.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=out.parent):
            pass


def _write(out: Path, page: bytes) -> None:
    """Write the page in one atomic step."""
    with _translate_errors(out):
        write_file(out, page)


@contextmanager
def _translate_errors(out: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StorageError(
            f"{out} cannot be written ({error.strerror}); "
            "free disk space or choose another path with --out"
        ) from error
