"""`csim bench mining`: three readings of "hard triplets"."""

from __future__ import annotations

from pathlib import Path

from csim.bench.tables import mining as table
from csim.bench.tables.cases import Done
from csim.bench.tables.table import Table
from csim.cli.bench.load_split import load_split
from csim.cli.bench.options import AsJson, DataDir, Jobs, Out, Seeds
from csim.cli.bench.output import make_and_show
from csim.settings import Settings


def mining(
    data_dir: DataDir = None,
    out: Out = Path("results"),
    seed: Seeds = [0, 1, 2],  # noqa: B006
    jobs: Jobs = 2,
    as_json: AsJson = False,
) -> None:
    """Compare three readings of the paper's "hard triplets".

    The network learns the known classes of Fashion-MNIST with the paper's settings.
    It takes about 3 minutes on two cores.

    Example: csim bench mining --seed 0 --json
    """

    def make(on_done: Done) -> Table:
        train, test = load_split("fashion-mnist", data_dir)
        return table.make(
            train, test, settings=Settings.paper(), seeds=seed, jobs=jobs, on_done=on_done
        )

    make_and_show(make, out, as_json)
