"""`csim bench report`: all tables and pictures on one page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from csim.bench.report import page


def report(
    out: Annotated[
        Path, typer.Option("--out", help="Folder of results. csim writes report.html into it.")
    ] = Path("results"),
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the contents as one JSON object.")
    ] = False,
) -> None:
    """Join all tables and pictures of a folder into one HTML page.

    The page needs no other file.

    Example: csim bench report --out results
    """
    folder, done = page.write(out)
    typer.echo(f"{len(folder.sheets)} tables of {len(done)} runs: {out / page.FILE}")
    for name, reason in folder.damaged.items():
        typer.echo(f"damaged: {name}: {reason}", err=True)
    for name in done.damaged:
        typer.echo(f"damaged: runs/{name}", err=True)
    for name in folder.missing:
        typer.echo(f"not made yet: csim bench {name}")
    if as_json:
        content = {
            "report": str(out / page.FILE),
            "tables": [sheet.name for sheet in folder.sheets],
            "runs": len(done),
            "damaged": [*folder.damaged, *(f"runs/{name}" for name in done.damaged)],
            "missing": list(folder.missing),
        }
        typer.echo(json.dumps(content, ensure_ascii=False))
