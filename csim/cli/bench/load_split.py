"""The official training and test images of MNIST and Fashion-MNIST."""

from __future__ import annotations

from pathlib import Path

from csim.bench.datasets import DataSet
from csim.bench.datasets.catalogue import load
from csim.bench.vectors.samples import cut
from csim.cli.bench.progress import LoadProgress

_TEST_IMAGES = 10_000  # official test images of MNIST and Fashion-MNIST


def load_split(name: str, data_dir: Path | None) -> tuple[DataSet, DataSet]:
    """Return the training and the test images of a data set, downloaded if need be."""
    return cut(load(name, data_dir, on_progress=LoadProgress()), _TEST_IMAGES)
