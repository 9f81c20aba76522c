"""Commands that make a table or figure from runs over streams; they repeat no finished run.

Each command belongs to the file of the same name in `csim/bench/tables/`. The commands of a factory
have the same options: they differ in that file and in their help.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Protocol

import typer

from csim.bench.case import Case
from csim.bench.layout.sheet import Sheet
from csim.bench.plans.plan import Plan
from csim.bench.results import Result
from csim.bench.study import measure
from csim.bench.tables import ablation as ablation_table
from csim.bench.tables import convolution as convolution_table
from csim.bench.tables import label_curve as label_curve_table
from csim.bench.tables import novelty as novelty_table
from csim.bench.tables import over_stream as over_stream_table
from csim.bench.tables import photos as photos_table
from csim.bench.tables import reproduced as reproduced_table
from csim.bench.tables import sensitivity as sensitivity_table
from csim.bench.tables import stream as stream_table
from csim.bench.tables import tuning as tuning_table
from csim.cli.bench.options import (
    AsJson,
    DataDir,
    Datasets,
    Jobs,
    KnownShare,
    Methods,
    Out,
    Seeds,
    TableSeeds,
)
from csim.cli.bench.output import show_sheet
from csim.cli.bench.progress import LoadProgress, show_runs
from csim.cli.option_parsers import number_parser

Quick = Annotated[
    bool,
    typer.Option(
        "--quick", help="Take minutes only: every 20th image, one seed and fewer settings."
    ),
]
Thin = Annotated[
    int | None,
    typer.Option(
        "--thin",
        parser=number_parser("--thin", int, least=1),
        show_default="5",
        help="Take every n-th image of the data set; 1 takes all.",
    ),
]


class StreamTable(Protocol):
    """Describe a file of `csim/bench/tables/` that draws from results of runs."""

    def cases(self, plan: Plan, /) -> list[Case]:
        """Return the runs it needs."""
        ...

    def make(self, results: list[Result], plan: Plan, /) -> Sheet:
        """Return the table and its picture."""
        ...


def _published(table: StreamTable, help_text: str) -> Callable[..., None]:
    """Return the command of a published table: the user chooses data sets, methods and seeds."""

    def command(
        dataset: Datasets = None,
        method: Methods = None,
        seed: TableSeeds = None,
        r: KnownShare = 0.3,
        thin: Thin = None,
        quick: Quick = False,
        data_dir: DataDir = None,
        out: Out = Path("results"),
        jobs: Jobs = 2,
        as_json: AsJson = False,
    ) -> None:
        plan = _plan(quick, known_share=r, thin=thin, data=dataset, methods=method, seeds=seed)
        show_sheet(_measure(table, plan, data_dir, out, jobs), out, as_json)

    command.__doc__ = help_text
    return command


def _with_fixed_streams(
    table: StreamTable, help_text: str, *, seeds: Sequence[int], thin: int | None = None
) -> Callable[..., None]:
    """Return the command of a table with its own data sets, length of streams and seeds.

    A table on which settings were chosen has other seeds than the published ones.
    """

    def command(
        seed: Seeds = list(seeds),  # noqa: B006
        quick: Quick = False,
        data_dir: DataDir = None,
        out: Out = Path("results"),
        jobs: Jobs = 2,
        as_json: AsJson = False,
    ) -> None:
        plan = _plan(quick, thin=None if quick else thin, seeds=seed[:1] if quick else seed)
        show_sheet(_measure(table, plan, data_dir, out, jobs), out, as_json)

    command.__doc__ = help_text
    return command


def _plan(is_quick: bool, **given: Any) -> Plan:  # noqa: ANN401
    """Return a plan of the given options; the usual or the quick plan fills in the others."""
    usual = Plan().quick() if is_quick else Plan()
    chosen = {name: value for name, value in given.items() if value not in (None, [])}
    unique = {
        name: tuple(dict.fromkeys(value))
        for name, value in chosen.items()
        if isinstance(value, list)
    }
    return replace(usual, **(chosen | unique))


def _measure(table: StreamTable, plan: Plan, data_dir: Path | None, out: Path, jobs: int) -> Sheet:
    with show_runs() as on_run:
        cases = table.cases(plan)
        results = measure(
            cases, out, data_dir=data_dir, jobs=jobs, on_run=on_run, on_load=LoadProgress()
        )
    return table.make(results, plan)


stream = _published(
    stream_table,
    """Compare accuracy and labels of methods on streams of four data sets.

    This is the paper's stream table. It takes hours on two cores.

    Example: csim bench stream --quick
    """,
)
novelty = _published(
    novelty_table,
    """Compare how well methods notice new classes: M_new and F_new.

    It uses the runs of `csim bench stream`.

    Example: csim bench novelty --quick
    """,
)
convolution = _published(
    convolution_table,
    """Compare networks with 0, 1 and 2 convolution layers on Fashion-MNIST.

    It takes about 10 minutes on two cores.

    Example: csim bench convolution --quick --method paper
    """,
)
over_stream = _published(
    over_stream_table,
    """Plot accuracy over the stream and mark where new classes appear.

    It uses the runs of `csim bench stream` with the first seed.

    Example: csim bench over-stream --quick --dataset fashion-mnist
    """,
)
sensitivity = _published(
    sensitivity_table,
    """Vary the hidden units n and the margin γ of the paper's network.

    The data set is Fashion-MNIST. It takes about 10 minutes on two cores.

    Example: csim bench sensitivity --quick
    """,
)
label_curve = _published(
    label_curve_table,
    """Plot accuracy and M_new against the share of labels.

    It covers four data sets and takes hours on two cores.

    Example: csim bench label-curve --quick
    """,
)
ablation = _with_fixed_streams(
    ablation_table,
    """Remove the additions of the default preset one at a time.

    The stream is every 5th image of Fashion-MNIST, with 2 % of labels.
    It takes about half an hour on two cores.

    Example: csim bench ablation --quick
    """,
    seeds=(100, 101, 102),
)
reproduced = _with_fixed_streams(
    reproduced_table,
    """Compare the paper's own figures with those of its method here, on full streams.

    It covers four data sets and takes about an hour on two cores.

    Example: csim bench reproduced --quick
    """,
    seeds=(0, 1, 2),
    thin=1,
)
tuning = _with_fixed_streams(
    tuning_table,
    """Compare readings of the paper on full streams of Fashion-MNIST.

    They differ in what the thresholds are fitted on, where training starts, α, and more.
    It takes about 40 minutes on two cores.

    Example: csim bench tuning --quick
    """,
    seeds=(200, 201, 202),
    thin=1,
)


def photos(
    dataset: Datasets = None,
    seed: Seeds = [0, 1, 2],  # noqa: B006
    quick: Quick = False,
    data_dir: DataDir = None,
    out: Out = Path("results"),
    jobs: Jobs = 2,
    as_json: AsJson = False,
) -> None:
    """Compare encoders and methods on streams of photographs.

    The data sets are groceries, fruits and traffic signs, each with 1, 2 and 5 %
    of labels. Their folders must be in the data folder (docs/datasets.md).
    csim downloads two others, --dataset eurosat and --dataset flowers-102. You
    need the extra photos. It takes an hour and a half on two cores.

    Example: csim bench photos --quick
    """
    seeds = seed[:1] if quick else seed
    plan = _plan(quick, thin=None if quick else 1, data=dataset, seeds=seeds)
    show_sheet(_measure(photos_table, plan, data_dir, out, jobs), out, as_json)
