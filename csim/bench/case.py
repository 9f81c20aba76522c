"""A case: one run to be measured, told apart from every other by its file name."""

from __future__ import annotations

import hashlib
import re
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from csim.bench.answers import Answers
from csim.bench.baselines.settings import BaselineSettings
from csim.bench.datasets import DataSet, thin
from csim.bench.datasets.catalogue import load
from csim.bench.datasets.download import Progress
from csim.bench.methods import METHODS, open_with, settings_of
from csim.bench.run import OpenMethod
from csim.bench.scenario import Stream, make
from csim.errors import InputError
from csim.settings import Settings

_LONGEST = 200  # bytes of a name; most systems allow 255 for a file


@dataclass(frozen=True)
class Case:
    """A method on a stream.

    Parameters
    ----------
    method, data
        By name.
    seed
        Draws the stream and everything in the method.
    known_share
        r, the share of classes known at the start. Raising it leaves fewer to discover.
    thin
        Take every so-manieth image of the data set. Raising it makes the run shorter and the task harder: a new class
        then has fewer images.
    scenario
        The kind of stream, by name.
    budget
        Questions per image; the method's own if not given. Raising it asks more.
    answers
        How the simulated person answers.
    changes
        Settings that differ from the method's.
    path
        A data set of the user's own: an `.npz` or a folder. `data` is then only what it is called.
    own_method
        What opens a method of the user's own. `method` is then only what it is called, `changes` what is told of it.
    """

    method: str
    data: str
    seed: int = 0
    known_share: float = 0.3
    thin: int = 1
    scenario: str = "paper"
    budget: float | None = None
    answers: Answers = field(default_factory=Answers)
    changes: dict[str, Any] = field(default_factory=dict)
    path: Path | None = None
    own_method: OpenMethod | None = None

    @cached_property
    def settings(self) -> Settings | BaselineSettings:
        """The settings of a method that has a name, all of them."""
        return settings_of(self.method, seed=self.seed, budget=self.budget, changes=self.changes)

    @property
    def parameters(self) -> dict[str, Any]:
        """All that is set in the method, as plain values."""
        if self.own_method is None:
            return self.settings.to_dict()
        if self.method in METHODS:
            raise InputError(
                f"a method of your own needs a name of its own, {self.method!r} is taken; choose another"
            )
        return {**self.changes, "seed": self.seed}

    @property
    def open_method(self) -> OpenMethod:
        """What opens the method, for `run`."""
        return self.own_method or open_with(self.settings)

    @property
    def name(self) -> str:
        """What its result file is called: the case in words, the usual ones left out.

        >>> Case("paper", "mnist", seed=2, thin=5, changes={"hidden_units": 50}).name
        'mnist-paper-r0.3-thin5-hidden_units=50-seed2'
        """
        words = [self.data_name, self.method, f"r{self.known_share:.12g}"]
        words += [f"thin{self.thin}"] * (self.thin != 1) + [self.scenario] * (
            self.scenario != "paper"
        )
        words += [] if self.budget is None else [f"budget={self.budget:.12g}"]
        usual = asdict(Answers())
        words += [
            f"{key}={value:.12g}"
            for key, value in asdict(self.answers).items()
            if value != usual[key]
        ]
        words += [f"{key}={value}" for key, value in sorted(self.changes.items())]
        return _as_file_name("-".join([*words, f"seed{self.seed}"]))

    @property
    def data_name(self) -> str:
        """Return the data set as a file name; images of your own get a checksum of their path.

        >>> Case("default", "birds", path=Path("birds.npz")).data_name
        'birds+ce2f1070'
        """
        return _as_file_name(self.data + (f"+{_digest(str(self.path))}" if self.path else ""))

    def describe(self) -> dict[str, Any]:
        """Return the case as plain values, but for its method, data set and seed."""
        return {
            "known_share": self.known_share,
            "thin": self.thin,
            "scenario": self.scenario,
            "budget": self.budget,
            "answers": asdict(self.answers),
            "changes": dict(self.changes),
            "path": str(self.path) if self.path else None,
        }

    def load(self, data_dir: Path | None, on_download: Progress | None = None) -> DataSet:
        """Return the images, thinned; `on_download` is told how far a download is."""
        return thin(load(self.data, data_dir, path=self.path, on_progress=on_download), self.thin)

    def stream(self, data: DataSet) -> Stream:
        """Return the stream of these images."""
        return make(self.scenario, data, known_share=self.known_share, seed=self.seed)

    def check(self, data: DataSet) -> None:
        """Refuse what no stream can be made of: two images of each class are enough to tell, and quick."""
        places: dict[str, list[int]] = {}
        for place, name in enumerate(data.names):
            places.setdefault(name, []).append(place)
        few = [place for own in places.values() for place in own[:2]]
        self.stream(DataSet(data.name, data.images[few], [data.names[place] for place in few]))


def _as_file_name(text: str) -> str:
    """Return a text without what a file name must not hold, and not too long for one."""
    name = re.sub(r"[^\w.=+-]", "_", text)
    is_short = len(name.encode()) <= _LONGEST
    return name if is_short else f"{name[: _LONGEST // 4]}+{_digest(name)}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]
