"""`csim bench metric`: metric learners against our networks, all classes known."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from csim.cli.bench.options import AsJson, DataDir, Jobs, Out, following
from csim.cli.bench.study import Data, Several, show


def metric(
    dataset: Data = None,
    method: Annotated[
        list[str] | None,
        typer.Option(
            "--method",
            help="pixels, pca, lmnn, hdml, gb-lmnn, sklr, paper, default; all if not given.",
        ),
    ] = None,
    split: Annotated[
        list[str] | None,
        typer.Option("--split", help="S1 (4:2:4) or S2 (1:1:8); give it again for both. S2."),
    ] = None,
    seed: Several = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="A look: every 10th image, learners stop early.")
    ] = False,
    data_dir: DataDir = None,
    out: Out = Path("results"),
    jobs: Jobs = 2,
    as_json: AsJson = False,
) -> None:
    """Compare learned metrics with all classes known: LMNN, HDML, GB-LMNN, SKLR and our networks' vectors.

    The seed is 0 if none is given. What has its file in runs/ already is not
    learned again. S2 on four data sets takes a quarter of an hour on two cores.

    Example: csim bench metric --dataset mnist --split S1 --method lmnn --method default
    """
    from csim.bench.tables import metric as table  # noqa: PLC0415 - keeps csim --help light
    from csim.bench.vectors.trials import score_all  # noqa: PLC0415 - keeps csim --help light

    usual = table.Plan()
    plan = table.Plan(
        tuple(dict.fromkeys(dataset or usual.data)),
        tuple(dict.fromkeys(method or usual.methods)),
        tuple(dict.fromkeys(split or usual.splits)),
        tuple(dict.fromkeys(usual.seeds if seed is None else seed)),
    )
    plan = plan.quick() if quick else plan
    with following("steps") as on_trial:
        contents = score_all(
            table.trials(plan), out, data_dir=data_dir, jobs=jobs, on_trial=on_trial
        )
    show(table.make(contents, plan), out, as_json)
