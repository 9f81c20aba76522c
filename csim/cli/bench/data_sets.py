"""`csim bench data-sets`: the data sets and the streams they make."""

from __future__ import annotations

from pathlib import Path

from csim.bench.datasets.catalogue import load
from csim.bench.plans.plan import DATA
from csim.bench.study import prepare
from csim.bench.tables import data_sets as table
from csim.cli.bench.options import AsJson, DataDir, Datasets, Out
from csim.cli.bench.output import show_sheet
from csim.cli.bench.progress import LoadProgress


def data_sets(
    dataset: Datasets = None,
    data_dir: DataDir = None,
    out: Out = Path("results"),
    as_json: AsJson = False,
) -> None:
    """List the data sets with their sizes and streams, and draw some images.

    It runs nothing and takes seconds.

    Example: csim bench data-sets --data-dir data
    """
    prepare(out)
    names = dict.fromkeys(dataset or DATA)
    loaded = [load(name, data_dir, on_progress=LoadProgress()) for name in names]
    show_sheet(table.make(loaded), out, as_json)
