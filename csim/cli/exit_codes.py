"""How a command ends when csim raises an error: one line on standard error, and an exit code.

2    wrong input: an option, a file or a name
3    the stream folder or a file is damaged, not csim's, or from a newer csim
4    another process uses the stream folder
5    the disk is full or not writable
130  stopped by Ctrl-C; nothing is lost
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

import typer

from csim.errors import BusyError, CheckpointError, CsimError, FolderError, StorageError

P = ParamSpec("P")

INTERRUPTED = 130
_CODES: tuple[tuple[type[CsimError], int], ...] = (
    (BusyError, 4),
    (StorageError, 5),
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
            command(*args, **kwargs)
        except CsimError as error:
            typer.echo(f"csim: {error}", err=True)
            code = next(code for kind, code in _CODES if isinstance(error, kind))
            raise typer.Exit(code) from error

    return run
