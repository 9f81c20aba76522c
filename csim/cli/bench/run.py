"""`csim bench run`: one method on one data set."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from csim.cli.bench.options import AsJson, DataDir, Downloads, Jobs, Out, Seeds, following
from csim.cli.values import changes_of, number, share

if TYPE_CHECKING:
    from csim.bench.results import Result

_SHOWN = {
    "accuracy": "accuracy %",
    "accuracy_at_arrival": "at arrival %",
    "accuracy_unasked": "unasked %",
    "labels_percent": "labels %",
    "m_new": "M_new %",
    "f_new": "F_new %",
    "forgetting": "forgetting",
    "classes_learned": "classes",
    "seconds_training": "training s",
    "images_per_second": "images/s",
    "peak_memory_mb": "memory MB",
}


MethodName = Annotated[
    str, typer.Argument(help="paper, default, least-sure, random, or a baseline: ecsminer, …")
]
DataName = Annotated[
    str,
    typer.Argument(
        help="mnist, fashion-mnist, emnist-47, cifar-10-grey, …; with --data only a name."
    ),
]
Share = Annotated[
    float,
    typer.Option(
        "--r", parser=number("--r", float), help="Share of the classes known at the start."
    ),
]
Thin = Annotated[
    int,
    typer.Option(
        parser=number("--thin", int, least=1), help="Take every so-manieth image of the data set."
    ),
]
Budget = Annotated[
    float | None,
    typer.Option(
        parser=share, help="Questions per image: 0.02, or 20/1000. The method's own if not given."
    ),
]
Scenario = Annotated[str, typer.Option(help="paper, together, returning, long-tail or drift.")]
Delay = Annotated[
    int,
    typer.Option(parser=number("--delay", int, least=0), help="Answers come so many images late."),
]
Jitter = Annotated[
    int,
    typer.Option(
        parser=number("--jitter", int, least=0), help="And up to so many more, out of order."
    ),
]
Missing = Annotated[
    float,
    typer.Option(parser=number("--missing", float), help="Share of questions never answered."),
]
Wrong = Annotated[
    float, typer.Option(parser=number("--wrong", float), help="Share of answers that are wrong.")
]
Changes = Annotated[
    list[str] | None,
    typer.Option("--set", help="Change a setting: --set epochs=5; give it again for more."),
]
Own = Annotated[
    Path | None, typer.Option("--data", help="Your own images: an .npz or a folder per class.")
]


def run(
    method: MethodName,
    dataset: DataName,
    seed: Seeds = [0],  # noqa: B006
    r: Share = 0.3,
    thin: Thin = 1,
    budget: Budget = None,
    scenario: Scenario = "paper",
    delay: Delay = 0,
    jitter: Jitter = 0,
    missing: Missing = 0.0,
    wrong: Wrong = 0.0,
    change: Changes = None,
    data: Own = None,
    data_dir: DataDir = None,
    out: Out = Path("results"),
    jobs: Jobs = 2,
    as_json: AsJson = False,
) -> None:
    """Run a method over a stream of a data set and write a result file for each seed.

    A run that has its file already is not repeated; an interrupted one leaves
    no file and starts again. Each run takes one core: a whole stream of 67,000
    images from one minute (paper) to ten (default).

    Example: csim bench run paper fashion-mnist --seed 0 --seed 1 --thin 5 --json
    """
    # Imported here and not above, so that `csim --help` need not wait for torch.
    from csim.bench.answers import Answers  # noqa: PLC0415
    from csim.bench.case import Case  # noqa: PLC0415
    from csim.bench.study import measure  # noqa: PLC0415

    case = Case(
        method,
        dataset,
        known_share=r,
        thin=thin,
        scenario=scenario,
        budget=budget,
        answers=Answers(delay=delay, jitter=jitter, missing=missing, wrong=wrong),
        changes=changes_of(change or []),
        path=data,
    )
    with following() as on_run:
        cases = [dataclasses.replace(case, seed=each) for each in dict.fromkeys(seed)]
        results = measure(
            cases, out, data_dir=data_dir, jobs=jobs, on_run=on_run, on_download=Downloads()
        )
    typer.echo(_table(results))
    typer.echo(f"written to {out / 'runs'}")
    if as_json:
        typer.echo(json.dumps(_joined(results), ensure_ascii=False))


def _table(results: list[Result]) -> str:
    head = ["seed", *_SHOWN.values()]
    rows = [[str(each.seed), *(f"{each.figures[name]:.4g}" for name in _SHOWN)] for each in results]
    widths = [max(len(row[place]) for row in [head, *rows]) for place in range(len(head))]
    lines = [
        "  ".join(word.rjust(width) for word, width in zip(row, widths, strict=True))
        for row in [head, *rows]
    ]
    return "\n".join(lines)


def _joined(results: list[Result]) -> dict[str, object]:
    """Return the figures of one run; of several, their means, and each on its own under `runs`."""
    first = results[0]
    each = [{"seed": result.seed, **result.figures} for result in results]
    means = {
        name: None
        if any(one[name] is None for one in each)
        else sum(one[name] for one in each) / len(each)
        for name in first.figures
    }
    shared = {"method": first.method, "data": first.data, **first.content["case"]}
    return {
        **shared,
        **(means if len(each) > 1 else each[0]),
        **({"runs": each} if len(each) > 1 else {}),
    }
