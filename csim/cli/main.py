"""The command `csim`."""

from __future__ import annotations

import typer

from csim import __version__
from csim.cli.bench import bench
from csim.cli.demo import demo
from csim.cli.messages import in_one_line

app = typer.Typer(
    help="Classify an endless stream of images in which new kinds of things keep appearing.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


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
