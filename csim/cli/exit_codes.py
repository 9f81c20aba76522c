"""How a command ends when it cannot go on: one line on standard error, and an exit code.

`EXIT_CODES` is the table of all codes; docs/cli.md shows it.
"""

from __future__ import annotations

import errno
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import NoReturn, ParamSpec, TextIO

import typer

from csim.errors import (
    BrokerError,
    BusyError,
    CheckpointError,
    CsimError,
    FolderError,
    StorageError,
    TrainingError,
)

P = ParamSpec("P")

INTERRUPTED = 130
READER_GONE = 141
EXIT_CODES = {
    0: "success",
    2: "wrong input: an option, a file or a name",
    3: "the stream folder or a file is damaged, not csim's, from a newer csim, or was replaced "
    "while it ran; nothing was changed",
    4: "another process uses the stream folder",
    5: "the disk is full or you lack the permission; everything confirmed before is safe",
    6: "a model could not be trained because the trainer process died three times, often for lack "
    "of memory; nothing is lost, run again to try again",
    7: "a Redis server or a cluster does not answer, or refuses; nothing is lost, run again",
    INTERRUPTED: "stopped by Ctrl-C, SIGTERM or SIGHUP; nothing is lost, repeat the command to "
    "continue; a second signal stops at once, which is safe too",
    READER_GONE: "the program that read standard output has ended, as in `| head`; nothing is lost",
}
_CODES: tuple[tuple[type[CsimError], int], ...] = (
    (BusyError, 4),
    (StorageError, 5),
    (TrainingError, 6),
    (BrokerError, 7),
    (FolderError, 3),
    (CheckpointError, 3),
    (CsimError, 2),
)


def report_errors(command: Callable[P, None]) -> Callable[P, None]:
    """Return the command with csim's errors turned into a message and an exit code.

    Any other error is a bug and keeps its traceback.
    """

    @wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            with _interrupted_by_signals():
                command(*args, **kwargs)
                sys.stdout.flush()  # a reader that is gone is noticed here, not at exit
        except CsimError as error:
            code = next(code for kind, code in _CODES if isinstance(error, kind))
            raise _exit(code, f"csim: {error}") from error
        except KeyboardInterrupt as error:
            raise _exit(INTERRUPTED, "csim: stopped; nothing is lost") from error
        except BrokenPipeError as error:
            _discard(sys.stdout)
            raise typer.Exit(READER_GONE) from error
        except OSError as error:
            if not _is_terminal_gone():
                raise
            raise _exit(INTERRUPTED) from error

    return run


@contextmanager
def _interrupted_by_signals() -> Iterator[None]:
    """Let signals end the block by an exception, so that unfinished files are removed."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {
        number: signal.signal(number, _interrupt)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        if signal.getsignal(number) is not signal.SIG_IGN  # `nohup` ignores SIGHUP, and so do we
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _interrupt(*_: object) -> NoReturn:
    raise KeyboardInterrupt


def _exit(code: int, words: str = "") -> typer.Exit:
    """Print some words to standard error and return the exception that ends the program."""
    if _is_terminal_gone():
        _discard(sys.stdout)
        _discard(sys.stderr)
    elif words:
        typer.echo(words, err=True)
    return typer.Exit(code)


def _is_terminal_gone() -> bool:
    """Return whether standard error was a terminal that somebody has closed."""
    try:
        os.write(sys.stderr.fileno(), b"")
    except OSError as error:
        return error.errno == errno.EIO
    return False


def _discard(stream: TextIO) -> None:
    """Let what is left to be written go nowhere, or Python would fail again at its end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
