"""The command `csim`."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

import typer

from csim import __version__
from csim.cli.bench import bench
from csim.cli.demo import demo
from csim.errors import CsimError

P = ParamSpec("P")

app = typer.Typer(
    help="Classify an endless stream of images in which new kinds of things keep appearing.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def in_one_line(command: Callable[P, None]) -> Callable[P, None]:
    """Let a command end with one clear line and exit code 2 if csim refuses what it was given."""

    @wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            command(*args, **kwargs)
        except CsimError as error:
            typer.echo(f"csim: {error}", err=True)
            raise typer.Exit(2) from error

    return run


app.command()(in_one_line(demo))
app.add_typer(bench, name="bench")


def _print_version(is_wanted: bool) -> None:
    if is_wanted:
        typer.echo(f"csim {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: bool = typer.Option(False, "--version", callback=_print_version, is_eager=True, help="Print the version."),
) -> None:
    """Classify an endless stream of images in which new kinds of things keep appearing."""
