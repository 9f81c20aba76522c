"""How a command ends when csim refuses what it was given: one clear line and exit code 2."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

import typer

from csim.errors import CsimError

P = ParamSpec("P")


def in_one_line(command: Callable[P, None]) -> Callable[P, None]:
    """Let a command turn our errors into a message; all others are bugs and keep their traceback."""

    @wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            command(*args, **kwargs)
        except CsimError as error:
            typer.echo(f"csim: {error}", err=True)
            raise typer.Exit(2) from error

    return run
