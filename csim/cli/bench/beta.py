"""`csim bench beta`: the weight of the triplet loss."""

from __future__ import annotations

from pathlib import Path

from csim.bench.tables import beta as table
from csim.bench.tables.cases import Done
from csim.bench.tables.table import Table
from csim.cli.bench.load_split import load_split
from csim.cli.bench.options import AsJson, DataDir, Jobs, Out, Seeds
from csim.cli.bench.output import make_and_show
from csim.settings import Settings


def beta(
    data_dir: DataDir = None,
    out: Out = Path("results"),
    seed: Seeds = [100, 101, 102],  # noqa: B006
    jobs: Jobs = 2,
    as_json: AsJson = False,
) -> None:
    """Compare weights of the triplet loss on validation images.

    The images are from Fashion-MNIST, the other settings are the paper's.
    It takes about 5 minutes on two cores.

    Example: csim bench beta --data-dir data --out results
    """

    def make(on_done: Done) -> Table:
        train, _ = load_split("fashion-mnist", data_dir)
        return table.make(train, settings=Settings.paper(), seeds=seed, jobs=jobs, on_done=on_done)

    make_and_show(make, out, as_json)
