"""`csim bench speed`: how fast csim is, as ratios within one run."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated

import typer

from csim.bench.datasets import thin as thinned
from csim.bench.datasets.catalogue import load
from csim.bench.study import prepare
from csim.bench.tables import speed as table
from csim.cli.bench.load_split import load_split
from csim.cli.bench.options import AsJson, DataDir, Out
from csim.cli.bench.output import show_sheet, show_table
from csim.cli.bench.progress import show_count
from csim.errors import InputError
from csim.settings import Settings

_DATA = "fashion-mnist"
_SLOWER = 1  # exit code of --check

Thin = Annotated[
    int,
    typer.Option("--thin", min=1, help="Take every n-th image of the stream. Higher is shorter."),
]
Check = Annotated[
    bool,
    typer.Option(
        "--check", help="Compare the ratios with the saved ones; exit with 1 if one is worse."
    ),
]


def speed(
    data_dir: DataDir = None,
    out: Out = Path("results"),
    thin: Thin = 1,
    check: Check = False,
    as_json: AsJson = False,
) -> None:
    """Measure how fast csim is, as ratios within one run.

    It takes 5 to 20 minutes on one core. Run nothing else meanwhile. With
    --check, the ratios must be at most 1.5 times those in OUT/speed.csv, which
    is left as it was.

    Example: csim bench speed --check
    """
    saved = out / "speed.csv"
    if check and not saved.is_file():
        raise InputError(f"{saved} must hold earlier ratios; make it without --check")
    before = saved.read_text("utf-8") if check else ""
    prepare(out)
    train, _ = load_split(_DATA, data_dir)
    whole = thinned(load(_DATA, data_dir), thin)
    with tempfile.TemporaryDirectory(prefix="csim-speed-") as work, show_count() as on_done:
        sheet = table.make(train, whole, Path(work), settings=Settings.paper(), on_done=on_done)
    if not check:
        show_sheet(sheet, out, as_json)
        return
    show_table(sheet.table, as_json)
    if lines := table.worse_than(before, sheet.table):
        typer.echo("\n".join(lines), err=True)
        raise typer.Exit(_SLOWER)
