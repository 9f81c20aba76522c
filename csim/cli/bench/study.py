"""The bench's tables and figures of streams: each runs what has no result yet, and draws from the result files.

All but one have the same options and do the same, so they are one function, given a file of `csim/bench/tables/` and
what its help says. Imports stand inside so that `csim --help` need not wait for torch.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Protocol, cast

import typer

from csim.cli.bench.options import AsJson, DataDir, Downloads, Jobs, Out, Seeds, following
from csim.cli.values import number

if TYPE_CHECKING:
    from csim.bench.case import Case
    from csim.bench.layout.sheet import Sheet
    from csim.bench.plans.plan import Plan
    from csim.bench.results import Result

Quick = Annotated[
    bool,
    typer.Option("--quick", help="A look in minutes: every 20th image, one seed, fewer settings."),
]
Data = Annotated[
    list[str] | None,
    typer.Option(
        "--dataset", help="Data set; give it again for more. The table's own if not given."
    ),
]
Methods = Annotated[
    list[str] | None,
    typer.Option("--method", help="Method; give it again for more. The table's own if not given."),
]
Several = Annotated[
    list[int] | None,
    typer.Option(
        "--seed",
        parser=number("--seed", int, least=0),
        help="Seed; give it again for more. 0, 1 and 2 if not given.",
    ),
]
Share = Annotated[
    float,
    typer.Option(
        "--r", parser=number("--r", float), help="Share of the classes known at the start."
    ),
]
Thin = Annotated[
    int | None,
    typer.Option(
        "--thin",
        parser=number("--thin", int, least=1),
        help="Take every so-manieth image; 1 takes all. Every 5th if not given.",
    ),
]


class Study(Protocol):
    """A file of `csim/bench/tables/` that is made of runs."""

    def cases(self, plan: Plan, /) -> list[Case]:
        """Return the runs it needs."""
        ...

    def make(self, results: list[Result], plan: Plan, /) -> Sheet:
        """Return the table and its picture."""
        ...


def _study(name: str, about: str) -> Callable[..., None]:
    """Return the command of a file of `csim/bench/tables/`, with the help it shows."""

    def command(
        dataset: Data = None,
        method: Methods = None,
        seed: Several = None,
        r: Share = 0.3,
        thin: Thin = None,
        quick: Quick = False,
        data_dir: DataDir = None,
        out: Out = Path("results"),
        jobs: Jobs = 2,
        as_json: AsJson = False,
    ) -> None:
        plan = _plan(quick, known_share=r, thin=thin, data=dataset, methods=method, seeds=seed)
        show(_measure(name, plan, data_dir, out, jobs), out, as_json)

    command.__name__, command.__doc__ = name, about
    return command


def _choice(name: str, about: str, *, thin: int | None = None) -> Callable[..., None]:
    """Return the command of a table on which settings were chosen: one data set, seeds of its own."""

    def command(
        seed: Seeds = [100, 101, 102],  # noqa: B006
        quick: Quick = False,
        data_dir: DataDir = None,
        out: Out = Path("results"),
        jobs: Jobs = 2,
        as_json: AsJson = False,
    ) -> None:
        plan = _plan(quick, thin=None if quick else thin, seeds=seed[:1] if quick else seed)
        show(_measure(name, plan, data_dir, out, jobs), out, as_json)

    command.__name__, command.__doc__ = name, about
    return command


def _measure(name: str, plan: Plan, data_dir: Path | None, out: Path, jobs: int) -> Sheet:
    from csim.bench.study import measure  # noqa: PLC0415 - keeps csim --help light

    table = cast(Study, import_module(f"csim.bench.tables.{name}"))
    with following() as on_run:
        cases = table.cases(plan)
        results = measure(
            cases, out, data_dir=data_dir, jobs=jobs, on_run=on_run, on_download=Downloads()
        )
    return table.make(results, plan)


stream = _study(
    "stream",
    """Compare methods over streams of four data sets: accuracy and labels (the paper's stream table).

    Example: csim bench stream --quick
    """,
)
novelty = _study(
    "novelty",
    """Compare how methods notice new classes, M_new and F_new, in the runs of the stream table.

    Example: csim bench novelty --quick
    """,
)
convolution = _study(
    "convolution",
    """Compare networks of 0, 1 and 2 convolution layers on Fashion-MNIST.

    Example: csim bench convolution --quick --method paper
    """,
)
over_stream = _study(
    "over_stream",
    """Draw accuracy over the stream, with the moments at which new classes appear; the first seed only.

    Example: csim bench over-stream --quick --dataset fashion-mnist
    """,
)
sensitivity = _study(
    "sensitivity",
    """Vary the hidden units n and the margin γ of the paper's network on Fashion-MNIST.

    Example: csim bench sensitivity --quick
    """,
)
label_curve = _study(
    "label_curve",
    """Draw accuracy and M_new against the share of labels, for four data sets.

    Example: csim bench label-curve --quick
    """,
)


ablation = _choice(
    "ablation",
    """Take the default preset's additions away one at a time, on every 5th image of Fashion-MNIST at 2 % of labels.

    Takes about half an hour on two cores. Example: csim bench ablation --quick
    """,
)
tuning = _choice(
    "tuning",
    """Change settings of the paper preset, on whole streams of Fashion-MNIST with seeds of their own.

    Takes about 20 minutes on two cores. Example: csim bench tuning --quick
    """,
    thin=1,
)


def data_sets(
    dataset: Data = None,
    data_dir: DataDir = None,
    out: Out = Path("results"),
    as_json: AsJson = False,
) -> None:
    """List the data sets with their sizes and the streams they make, and draw some of their images.

    Example: csim bench data-sets --data-dir data
    """
    from csim.bench.datasets.catalogue import load  # noqa: PLC0415 - keeps csim --help light
    from csim.bench.plans.plan import DATA  # noqa: PLC0415 - keeps csim --help light
    from csim.bench.study import prepare  # noqa: PLC0415 - keeps csim --help light
    from csim.bench.tables import data_sets as table  # noqa: PLC0415 - keeps csim --help light

    prepare(out)
    loaded = [
        load(name, data_dir, on_progress=Downloads()) for name in dict.fromkeys(dataset or DATA)
    ]
    show(table.make(loaded), out, as_json)


def _plan(is_quick: bool, **given: Any) -> Plan:  # noqa: ANN401
    """Return a plan of what was given; what was not is as the plan has it, quick or usual."""
    from csim.bench.plans.plan import Plan  # noqa: PLC0415 - keeps csim --help light

    usual = Plan().quick() if is_quick else Plan()
    chosen = {name: value for name, value in given.items() if value not in (None, [])}
    once = {
        name: tuple(dict.fromkeys(value))
        for name, value in chosen.items()
        if isinstance(value, list)
    }
    return replace(usual, **(chosen | once))


def show(sheet: Sheet, out: Path, as_json: bool) -> None:
    """Write a sheet, print its table and where it went."""
    paths = sheet.write(out)
    typer.echo(sheet.table.markdown())
    typer.echo(f"written to {', '.join(map(str, paths))}")
    if as_json:
        typer.echo(sheet.table.json())
