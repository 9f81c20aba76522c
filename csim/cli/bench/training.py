"""`csim bench`: the published tables, made again.

A command is a file of `csim/bench/tables/`: it loads the images, hands them to the file's `make`, and shows the
table. Imports stand inside the commands so that `csim --help` need not wait for torch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from csim.cli.messages import in_one_line
from csim.errors import InputError

if TYPE_CHECKING:
    from csim.bench.datasets import DataSet
    from csim.bench.tables.cases import Done
    from csim.bench.tables.table import Table

bench = typer.Typer(
    help="Make the published tables again: each is printed and written as NAME.md and NAME.csv.", no_args_is_help=True
)

_TEST = 10_000  # official test images of MNIST and Fashion-MNIST

DataDir = Annotated[
    Path | None, typer.Option("--data-dir", help="Folder of the data sets; the variable CSIM_DATA if not given.")
]
Out = Annotated[Path, typer.Option("--out", help="Folder to write to.")]
Seeds = Annotated[list[int], typer.Option("--seed", min=0, help="Seed of a run; give it again for more runs.")]
Jobs = Annotated[int, typer.Option("--jobs", min=1, help="Processes at a time; the figures stay the same.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the figures as one JSON object on the last line.")]


@bench.command()
@in_one_line
def mining(
    data_dir: DataDir = None,
    out: Out = Path("results"),
    seed: Seeds = [0, 1, 2],  # noqa: B006
    jobs: Jobs = 2,
    as_json: AsJson = False,
) -> None:
    """Compare three readings of "hard triplets" on the warm-up of Fashion-MNIST, with the paper's settings.

    Takes about 3 minutes on two cores. Example: csim bench mining --seed 0 --json
    """
    from csim.bench.tables import mining as table  # noqa: PLC0415 - keeps csim --help light
    from csim.settings import Settings  # noqa: PLC0415 - keeps csim --help light

    def make(on_done: Done) -> Table:
        train, test = _split("fashion-mnist", data_dir)
        return table.make(train, test, settings=Settings.paper(), seeds=seed, jobs=jobs, on_done=on_done)

    _show(make, out, as_json)


@bench.command()
@in_one_line
def beta(
    data_dir: DataDir = None,
    out: Out = Path("results"),
    seed: Seeds = [100, 101, 102],  # noqa: B006
    jobs: Jobs = 2,
    as_json: AsJson = False,
) -> None:
    """Compare weights of the triplet loss on validation images of Fashion-MNIST, with the paper's settings.

    Takes about 5 minutes on two cores. Example: csim bench beta --data-dir data --out results
    """
    from csim.bench.tables import beta as table  # noqa: PLC0415 - keeps csim --help light
    from csim.settings import Settings  # noqa: PLC0415 - keeps csim --help light

    def make(on_done: Done) -> Table:
        train, _ = _split("fashion-mnist", data_dir)
        return table.make(train, settings=Settings.paper(), seeds=seed, jobs=jobs, on_done=on_done)

    _show(make, out, as_json)


@bench.command()
@in_one_line
def closed_set(
    data_dir: DataDir = None,
    out: Out = Path("results"),
    seed: Seeds = [0, 1, 2],  # noqa: B006
    jobs: Jobs = 2,
    as_json: AsJson = False,
) -> None:
    """Measure the accuracy with all classes known, on Fashion-MNIST and MNIST, with the paper's settings.

    Takes about 2 minutes on two cores. Example: csim bench closed-set --seed 0
    """
    from csim.bench.tables import closed_set as table  # noqa: PLC0415 - keeps csim --help light
    from csim.settings import Settings  # noqa: PLC0415 - keeps csim --help light

    def make(on_done: Done) -> Table:
        splits = {name: _split(name, data_dir) for name in ("fashion-mnist", "mnist")}
        return table.make(splits, settings=Settings.paper(), seeds=seed, jobs=jobs, on_done=on_done)

    _show(make, out, as_json)


@bench.command()
@in_one_line
def presets(
    out: Out = Path("results"),
    seed: Seeds = [100, 101, 102, 103, 104],  # noqa: B006
    jobs: Jobs = 2,
    as_json: AsJson = False,
) -> None:
    """Measure what each difference between the default preset and the paper's is worth, on scikit-learn's digits.

    Takes about 2 minutes on two cores. Example: csim bench presets --seed 100 --json
    """
    from csim.bench.datasets.digits import digits  # noqa: PLC0415 - keeps csim --help light
    from csim.bench.tables import presets as table  # noqa: PLC0415 - keeps csim --help light
    from csim.cli.demo import settings  # noqa: PLC0415 - keeps csim --help light

    def make(on_done: Done) -> Table:
        return table.make(digits(), settings=settings(seed=0), seeds=seed, jobs=jobs, on_done=on_done)

    _show(make, out, as_json)


@bench.command()
@in_one_line
def speed(data_dir: DataDir = None, out: Out = Path("results"), as_json: AsJson = False) -> None:
    """Measure what the fast loss, the joint loss and the engine cost, each as a ratio inside one run.

    Takes about 1 minute on one core; a quiet machine measures best. Example: csim bench speed --json
    """
    from csim.bench.tables import speed as table  # noqa: PLC0415 - keeps csim --help light
    from csim.settings import Settings  # noqa: PLC0415 - keeps csim --help light

    def make(on_done: Done) -> Table:
        train, _ = _split("fashion-mnist", data_dir)
        return table.make(train, settings=Settings.paper(), on_done=on_done)

    _show(make, out, as_json)


def _split(name: str, data_dir: Path | None) -> tuple[DataSet, DataSet]:
    from csim.bench.datasets.idx import load  # noqa: PLC0415 - keeps csim --help light
    from csim.bench.tables.samples import cut  # noqa: PLC0415 - keeps csim --help light

    return cut(load(name, data_dir), _TEST)


def _show(make: Callable[[Done], Table], out: Path, as_json: bool) -> None:
    _prepare(out)  # before the long work, not after it
    with _progress() as on_done:
        table = make(on_done)
    table.write(out)
    typer.echo(table.markdown())
    if as_json:
        typer.echo(table.json())


def _prepare(out: Path) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{out} cannot be a folder to write to ({error.strerror}); give another with --out") from error


@contextmanager
def _progress() -> Iterator[Done]:
    from rich.console import Console  # noqa: PLC0415 - keeps csim --help light
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeElapsedColumn  # noqa: PLC0415 - the same

    console, columns = Console(stderr=True), (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bars:
        bar = bars.add_task("", total=None)
        yield lambda done, total: bars.update(bar, completed=done, total=total)
