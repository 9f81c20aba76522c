"""`csim bench speed`: what the losses and the engine cost."""

from __future__ import annotations

from pathlib import Path

from csim.bench.tables import speed as table
from csim.bench.tables.cases import Done
from csim.bench.tables.table import Table
from csim.cli.bench.load_split import load_split
from csim.cli.bench.options import AsJson, DataDir, Out
from csim.cli.bench.output import make_and_show
from csim.settings import Settings


def speed(data_dir: DataDir = None, out: Out = Path("results"), as_json: AsJson = False) -> None:
    """Measure the cost of the losses and of the engine, as ratios within one run.

    It takes about 1 minute on one core. Run nothing else meanwhile.

    Example: csim bench speed --json
    """

    def make(on_done: Done) -> Table:
        train, _ = load_split("fashion-mnist", data_dir)
        return table.make(train, settings=Settings.paper(), on_done=on_done)

    make_and_show(make, out, as_json)
