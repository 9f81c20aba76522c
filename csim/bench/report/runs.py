"""The runs behind the tables, summed up: their methods, data sets, seeds and versions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from csim.bench.json_lines import read_lines
from csim.bench.results import CURVES
from csim.errors import InputError


@dataclass(frozen=True)
class Run:
    """Hold what the page shows of a run."""

    method: str
    data: str
    seed: int
    images: int
    seconds: float
    origin: dict[str, Any]


@dataclass(frozen=True)
class Runs:
    """Hold all runs of a folder, and what is wrong with each file or line that cannot be read."""

    runs: Sequence[Run]
    damaged: Mapping[str, str]

    def __len__(self) -> int:
        return len(self.runs)

    @property
    def methods(self) -> list[str]:
        """Return the methods, those with the most runs first."""
        return [method for method, _ in Counter(run.method for run in self.runs).most_common()]

    @property
    def data(self) -> list[str]:
        """Return the data sets, those with the most runs first."""
        return [data for data, _ in Counter(run.data for run in self.runs).most_common()]

    @property
    def seeds(self) -> list[int]:
        """Return the seeds, in order."""
        return sorted({run.seed for run in self.runs})

    @property
    def images(self) -> int:
        """Return the number of images in all streams."""
        return sum(run.images for run in self.runs)

    @property
    def hours(self) -> float:
        """Return the hours that all runs took, one after another."""
        return sum(run.seconds for run in self.runs) / 3600

    def count(self, method: str, data: str) -> int:
        """Return how many runs a method has on a data set."""
        return sum((run.method, run.data) == (method, data) for run in self.runs)

    def origins(self, key: str) -> list[str]:
        """Return the runs' values of an origin such as `commit`, the most frequent first."""
        values = Counter(str(run.origin[key]) for run in self.runs if run.origin.get(key))
        return [value for value, _ in values.most_common()]


def read(folder: Path) -> Runs:
    """Return the runs of a folder of results; entries of another kind are not runs."""
    runs: list[Run] = []
    damaged: dict[str, str] = {}
    for path in sorted((folder / "runs").glob("*.jsonl")):
        try:
            lines = read_lines(path)
        except InputError as error:
            damaged[path.name] = str(error)
            continue
        damaged |= {f"{path.name}, line {number}": why for number, why in lines.damaged.items()}
        for entry in lines.entries.values() if path.name != CURVES else ():
            try:
                if "kind" not in entry.content:
                    runs.append(_run(entry.content))
            except (ValueError, TypeError, KeyError, AttributeError) as error:
                damaged[f"{path.name}, line {entry.number}"] = f"it is not a run ({error!r})"
    return Runs(runs, damaged)


def _run(content: dict[str, Any]) -> Run:
    return Run(
        method=str(content["method"]),
        data=str(content["data"]),
        seed=int(content["seed"]),
        images=int(content["stream"]["images"]),
        seconds=float(content["cost"]["seconds"]),
        origin=dict(content["origin"]),
    )
