"""`csim bench cohesion`: images that are nearer to another class than to their own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from csim.bench.study import prepare
from csim.bench.tables import cohesion as table
from csim.cli.bench.options import AsJson, DataDir, Datasets, Jobs, Out, TableSeeds
from csim.cli.bench.output import show_sheet
from csim.cli.bench.progress import show_count

Quick = Annotated[
    bool, typer.Option("--quick", help="Take less time: one seed, 100 images per class.")
]


def cohesion(
    dataset: Datasets = None,
    seed: TableSeeds = None,
    quick: Quick = False,
    data_dir: DataDir = None,
    out: Out = Path("results"),
    jobs: Jobs = 2,
    as_json: AsJson = False,
) -> None:
    """Count images that are nearer to another class than to their own.

    It compares pixels with vectors on MNIST and Fashion-MNIST. The paper's
    example is included: 1 is known, 7 is new. It takes about 1.5 minutes on
    two cores.

    Example: csim bench cohesion --dataset mnist --seed 0 --seed 1
    """
    usual = table.Plan()
    plan = table.Plan(
        tuple(dict.fromkeys(dataset or usual.data)),
        tuple(dict.fromkeys(usual.seeds if seed is None else seed)),
    )
    if quick:
        plan = plan.quick()
    prepare(out)
    with show_count() as on_done:
        sheet = table.make(plan, data_dir=data_dir, jobs=jobs, on_done=on_done)
    show_sheet(sheet, out, as_json)
