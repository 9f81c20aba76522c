"""How a command ends when csim refuses what it was given: one clear line, and a code that says why.

2    what was given cannot be taken
3    the stream folder or a file is damaged, foreign or newer than this program
4    another process has the folder
5    the disk is full, or does not let us write
130  stopped by Ctrl-C, cleanly
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


def in_one_line(command: Callable[P, None]) -> Callable[P, None]:
    """Let a command turn our errors into a message; all others are bugs and keep their traceback."""

    @wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            command(*args, **kwargs)
        except CsimError as error:
            typer.echo(f"csim: {error}", err=True)
            raise typer.Exit(
                next(code for kind, code in _CODES if isinstance(error, kind))
            ) from error

    return run
