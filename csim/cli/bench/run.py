"""`csim bench run`: one method on one data set."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Annotated

import typer

from csim.bench.answers import Answers
from csim.bench.case import Case
from csim.bench.results import Result
from csim.bench.study import measure
from csim.cli.bench.options import AsJson, DataDir, Jobs, KnownShare, Out, Seeds
from csim.cli.bench.progress import LoadProgress, show_runs
from csim.cli.option_parsers import number_parser, parse_settings, parse_share, parse_size

_COLUMNS = {
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
    str,
    typer.Argument(
        help="paper, default, least-sure, random, or a baseline: ecsminer, echo-d, senc-mas, or "
        "logistic, which is for --encoder."
    ),
]
DataName = Annotated[
    str,
    typer.Argument(
        help="mnist, fashion-mnist, emnist-47, cifar-10-grey, …; with --data any name you choose."
    ),
]
Thin = Annotated[
    int,
    typer.Option(
        parser=number_parser("--thin", int, least=1),
        help="Take every n-th image of the data set.",
    ),
]
Budget = Annotated[
    float | None,
    typer.Option(
        parser=parse_share,
        show_default="the method's",
        help="Questions per image at most, as 0.02 or 20/1000.",
    ),
]
Scenario = Annotated[
    str,
    typer.Option(
        help="Order of the images: paper, own-period, same-rate, together, returning, long-tail or "
        "drift."
    ),
]
Delay = Annotated[
    int,
    typer.Option(
        parser=number_parser("--delay", int, least=0),
        help="Answer each question n images after it was asked.",
    ),
]
Jitter = Annotated[
    int,
    typer.Option(
        parser=number_parser("--jitter", int, least=0),
        help="Add a random delay of up to n images, so that answers come out of order.",
    ),
]
Missing = Annotated[
    float,
    typer.Option(
        parser=number_parser("--missing", float), help="Share of questions that get no answer."
    ),
]
Wrong = Annotated[
    float,
    typer.Option(parser=number_parser("--wrong", float), help="Share of answers that are wrong."),
]
AskAtEnd = Annotated[
    bool,
    typer.Option(
        "--ask-at-end",
        help="Let paper ask about the images that still wait at the end; other methods always do.",
    ),
]
Changes = Annotated[
    list[str] | None,
    typer.Option("--set", help="Change a setting: --set epochs=5. Repeat the option for more."),
]
EncoderName = Annotated[
    str | None,
    typer.Option(
        "--encoder",
        show_default="own",
        help="What turns images into vectors: own, lite0, lite1, lite2, hf:NAME, hf:DIRECTORY or "
        "onnx:FILE. See docs/encoders.md.",
    ),
]
Size = Annotated[
    str | None,
    typer.Option(
        show_default="their own size",
        help="Resize your own images to this height and width: 48 or 48x64. Without it, images of "
        "different sizes become 64x64, or get the size of the encoder.",
    ),
]
YourImages = Annotated[
    Path | None,
    typer.Option("--data", help="Your own images: an .npz file, or a folder with one per class."),
]


def run(
    method: MethodName,
    dataset: DataName,
    seed: Seeds = [0],  # noqa: B006
    r: KnownShare = 0.3,
    thin: Thin = 1,
    budget: Budget = None,
    scenario: Scenario = "paper",
    delay: Delay = 0,
    jitter: Jitter = 0,
    missing: Missing = 0.0,
    wrong: Wrong = 0.0,
    ask_at_end: AskAtEnd = False,
    change: Changes = None,
    encoder: EncoderName = None,
    data: YourImages = None,
    size: Size = None,
    data_dir: DataDir = None,
    out: Out = Path("results"),
    jobs: Jobs = 2,
    as_json: AsJson = False,
) -> None:
    """Run a method on a stream of a data set, once per seed.

    Each run writes a line to a file in runs/. csim does not repeat a finished
    run. An interrupted run writes nothing and starts again. Each run uses one core: a
    full stream of 67,000 images takes from one minute (paper) to ten (default).
    For photographs, give --encoder lite0. For your own images, give --data, and
    --size if csim's own network should see finer detail.

    Example: csim bench run paper fashion-mnist --seed 0 --seed 1 --thin 5 --json
    """
    changes = parse_settings(change or [])
    if encoder is not None:
        changes["encoder"] = encoder
    if data is not None:
        typer.echo(f"reading {data}", err=True)
    case = Case(
        method,
        dataset,
        known_share=r,
        thin=thin,
        scenario=scenario,
        budget=budget,
        answers=Answers(delay=delay, jitter=jitter, missing=missing, wrong=wrong),
        changes=changes,
        ask_at_end=ask_at_end,
        path=data,
        size=None if size is None else parse_size(size),
    )
    with show_runs() as on_run:
        cases = [dataclasses.replace(case, seed=number) for number in dict.fromkeys(seed)]
        results = measure(
            cases, out, data_dir=data_dir, jobs=jobs, on_run=on_run, on_load=LoadProgress()
        )
    typer.echo(_table(results))
    typer.echo(f"written to {out / 'runs'}")
    if as_json:
        typer.echo(json.dumps(_joined(results), ensure_ascii=False))


def _table(results: list[Result]) -> str:
    head = ["seed", *_COLUMNS.values()]
    rows = [
        [str(result.seed), *(_number(result.figures[name]) for name in _COLUMNS)]
        for result in results
    ]
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    lines = [
        "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        for row in [head, *rows]
    ]
    return "\n".join(lines)


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.4g}"


def _joined(results: list[Result]) -> dict[str, object]:
    """Return the figures of one run; of several runs, their means and all figures under `runs`."""
    first = results[0]
    shared = {"method": first.method, "data": first.data, **first.content["case"]}
    runs = [{"seed": result.seed, **result.figures} for result in results]
    if len(runs) == 1:
        return shared | runs[0]
    means = {
        name: None
        if any(figures[name] is None for figures in runs)
        else sum(figures[name] for figures in runs) / len(runs)
        for name in first.figures
    }
    return {**shared, **means, "runs": runs}
