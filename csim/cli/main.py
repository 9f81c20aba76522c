"""The command `csim`."""

from __future__ import annotations

import typer

from csim import __version__
from csim.cli.backup import backup
from csim.cli.bench import bench
from csim.cli.classes import classes
from csim.cli.demo import demo
from csim.cli.export import export
from csim.cli.init import init
from csim.cli.label import label
from csim.cli.messages import in_one_line
from csim.cli.report import report
from csim.cli.run import run
from csim.cli.status import status
from csim.cli.undo import undo

app = typer.Typer(
    help="Classify an endless stream of images in which new kinds of things keep appearing.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


app.command()(in_one_line(demo))
app.command()(in_one_line(init))
app.command()(in_one_line(run))
app.command()(in_one_line(label))
app.command()(in_one_line(status))
app.add_typer(classes, name="classes")
app.command()(in_one_line(undo))
app.add_typer(export, name="export")
app.command()(in_one_line(report))
app.command()(in_one_line(backup))
app.add_typer(bench, name="bench")


def _print_version(is_wanted: bool) -> None:
    if is_wanted:
        typer.echo(f"csim {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: bool = typer.Option(
        False, "--version", callback=_print_version, is_eager=True, help="Print the version."
    ),
) -> None:
    """Classify an endless stream of images in which new kinds of things keep appearing."""
