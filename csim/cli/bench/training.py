"""The bench's tables about the network, its training and its settings.

A command is a file of `csim/bench/tables/`: it loads the images, hands them to the file's `make`, and shows the
table. Imports stand inside the commands so that `csim --help` need not wait for torch.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from csim.cli.bench.options import AsJson, DataDir, Downloads, Jobs, Out, Seeds, counting

if TYPE_CHECKING:
    from csim.bench.datasets import DataSet
    from csim.bench.layout.rows import Done
    from csim.bench.layout.table import Table

_TEST = 10_000  # official test images of MNIST and Fashion-MNIST


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
        return table.make(
            train, test, settings=Settings.paper(), seeds=seed, jobs=jobs, on_done=on_done
        )

    _show(make, out, as_json)


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


def durability(
    out: Out = Path("results"),
    seed: Annotated[
        int, typer.Option("--seed", min=0, help="Draws images, answers and moments.")
    ] = 0,
    kills: Annotated[
        int, typer.Option("--kills", min=1, help="How often a stream is killed.")
    ] = 100,
    as_json: AsJson = False,
) -> None:
    """Kill a running stream again and again, and measure what it costs that nothing is lost.

    Takes about 20 minutes on two cores; a quiet machine measures best.

    Example: csim bench durability --kills 10
    """
    from csim.bench.tables import durability as table  # noqa: PLC0415 - keeps csim --help light

    with tempfile.TemporaryDirectory(prefix="csim-durability-") as work:
        _show(
            lambda on_done: table.make(Path(work), kills=kills, seed=seed, on_done=on_done),
            out,
            as_json,
        )


def _split(name: str, data_dir: Path | None) -> tuple[DataSet, DataSet]:
    from csim.bench.datasets.catalogue import load  # noqa: PLC0415 - keeps csim --help light
    from csim.bench.vectors.samples import cut  # noqa: PLC0415 - keeps csim --help light

    return cut(load(name, data_dir, on_progress=Downloads()), _TEST)


def _show(make: Callable[[Done], Table], out: Path, as_json: bool) -> None:
    from csim.bench.study import prepare  # noqa: PLC0415 - keeps csim --help light

    prepare(out)
    with counting() as on_done:
        table = make(on_done)
    table.write(out)
    typer.echo(table.markdown())
    if as_json:
        typer.echo(table.json())
