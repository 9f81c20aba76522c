"""`csim bench metric`: metric learners against csim's networks, all classes known."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from csim.bench.tables import metric as table
from csim.bench.vectors.trials import score_all
from csim.cli.bench.options import AsJson, DataDir, Datasets, Jobs, Out, seed_option
from csim.cli.bench.output import show_sheet
from csim.cli.bench.progress import show_runs

Learners = Annotated[
    list[str] | None,
    typer.Option(
        "--method",
        show_default="all",
        help="pixels, pca, lmnn, hdml, gb-lmnn, sklr, paper or default. "
        "Repeat the option for more.",
    ),
]
Splits = Annotated[
    list[str] | None,
    typer.Option(
        "--split",
        show_default="S2",
        help="S1 (4:2:4) or S2 (1:1:8). Repeat the option for both.",
    ),
]
MetricSeeds = Annotated[list[int] | None, seed_option("0")]
Quick = Annotated[
    bool,
    typer.Option("--quick", help="Take minutes only: every 10th image, learners stop early."),
]


def metric(
    dataset: Datasets = None,
    method: Learners = None,
    split: Splits = None,
    seed: MetricSeeds = None,
    quick: Quick = False,
    data_dir: DataDir = None,
    out: Out = Path("results"),
    jobs: Jobs = 2,
    as_json: AsJson = False,
) -> None:
    """Compare metric learners with csim's networks, all classes known.

    The learners are LMNN, HDML, GB-LMNN and SKLR. What has its file in runs/
    already is not learned again. S2 on four data sets takes a quarter of an
    hour on two cores.

    Example: csim bench metric --dataset mnist --split S1 --method lmnn --method default
    """
    usual = table.Plan()
    plan = table.Plan(
        tuple(dict.fromkeys(dataset or usual.data)),
        tuple(dict.fromkeys(method or usual.methods)),
        tuple(dict.fromkeys(split or usual.splits)),
        tuple(dict.fromkeys(usual.seeds if seed is None else seed)),
    )
    if quick:
        plan = plan.quick()
    with show_runs("steps") as on_trial:
        contents = score_all(
            table.trials(plan), out, data_dir=data_dir, jobs=jobs, on_trial=on_trial
        )
    show_sheet(table.make(contents, plan), out, as_json)
