"""The bench's pictures of vectors, and the page that joins everything.

Imports stand inside the commands so that `csim --help` need not wait for torch.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from csim.cli.bench.options import AsJson, DataDir, Jobs, Out, counting
from csim.cli.bench.study import Data, Several, show


def embedding(
    dataset: Annotated[
        list[str],
        typer.Option("--dataset", help="Data set; give it again for a further row of the picture."),
    ] = ["fashion-mnist"],  # noqa: B006
    seed: Annotated[
        int,
        typer.Option("--seed", min=0, help="Draws the known classes, the images and the networks."),
    ] = 0,
    quick: Annotated[
        bool, typer.Option("--quick", help="A look in half a minute: 40 images a class.")
    ] = False,
    data_dir: DataDir = None,
    out: Out = Path("results"),
    jobs: Jobs = 2,
    as_json: AsJson = False,
) -> None:
    """Lay images of all classes flat, as pixels and as vectors of what knows three of ten classes (t-SNE).

    Takes a few minutes on one core; what has its points in runs/ already is
    only drawn.

    Example: csim bench embedding --dataset mnist --dataset fashion-mnist
    """
    from csim.bench.tables import embedding as table  # noqa: PLC0415 - keeps csim --help light

    rows = table.projections(dataset, seed=seed, is_quick=quick)
    with counting() as on_done:
        sheet = table.make(rows, out, data_dir=data_dir, jobs=jobs, on_done=on_done)
    show(sheet, out, as_json)


def cohesion(
    dataset: Data = None,
    seed: Several = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="A look: one seed, 100 images a class.")
    ] = False,
    data_dir: DataDir = None,
    out: Out = Path("results"),
    jobs: Jobs = 2,
    as_json: AsJson = False,
) -> None:
    """Count the images that lie nearer to another class than to their own, in pixels and in vectors.

    On MNIST and Fashion-MNIST, with the paper's example beside them: 1 is
    known, 7 is new. Takes about 1.5 minutes on two cores.

    Example: csim bench cohesion --dataset mnist --seed 0 --seed 1
    """
    from csim.bench.study import prepare  # noqa: PLC0415 - keeps csim --help light
    from csim.bench.tables import cohesion as table  # noqa: PLC0415 - keeps csim --help light

    usual = table.Plan()
    plan = table.Plan(
        tuple(dict.fromkeys(dataset or usual.data)),
        tuple(dict.fromkeys(usual.seeds if seed is None else seed)),
    )
    prepare(out)
    with counting() as on_done:
        sheet = table.make(
            plan.quick() if quick else plan, data_dir=data_dir, jobs=jobs, on_done=on_done
        )
    show(sheet, out, as_json)


def report(
    out: Annotated[
        Path, typer.Option("--out", help="Folder of results; report.html is written into it.")
    ] = Path("results"),
    as_json: Annotated[
        bool, typer.Option("--json", help="Print what it holds as one JSON object.")
    ] = False,
) -> None:
    """Join every table and picture of a folder into one HTML page that needs no other file.

    Example: csim bench report --out results
    """
    from csim.bench.report import page  # noqa: PLC0415 - keeps csim --help light

    folder, done = page.write(out)
    typer.echo(f"{len(folder.sheets)} tables of {len(done)} runs: {out / page.FILE}")
    for name, why in folder.damaged.items():
        typer.echo(f"damaged: {name}: {why}", err=True)
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
