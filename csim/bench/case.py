"""A case: one run to be measured, with a name that no other case has."""

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
from csim.build import open_frozen
from csim.errors import InputError
from csim.settings import Settings

_LONGEST_NAME = 200  # bytes; most file systems allow 255


@dataclass(frozen=True)
class Case:
    """Describe one run: a method on a stream.

    Parameters
    ----------
    method, data
        By name.
    seed
        Draws the stream and everything in the method.
    known_share
        r, the share of classes known at the start. Higher leaves fewer to discover.
    thin
        Take every n-th image of the data set. Higher makes the run shorter and the task harder: a
        new class then has fewer images.
    scenario
        The kind of stream, by name.
    budget
        Questions per image; the method's default if not given. Higher asks more.
    answers
        How the simulated person answers.
    changes
        Settings that differ from the method's.
    ask_at_end
        For `paper`: ask about the images that still wait at the end, too. The others always do.
    path
        Images of your own: an `.npz` or a folder. `data` is then only their name in the results.
    size
        Height and width to resize the images of `path` to; None as for `custom.read`, or the size
        of the encoder. Higher keeps finer detail but takes longer.
    own_method
        Opens a method of your own. `method` is then only its name, and `changes` its settings in
        the results.
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
    ask_at_end: bool = False
    path: Path | None = None
    size: tuple[int, ...] | None = None
    own_method: OpenMethod | None = None

    @cached_property
    def settings(self) -> Settings | BaselineSettings:
        """Return all settings of one of csim's methods."""
        return settings_of(self.method, seed=self.seed, budget=self.budget, changes=self.changes)

    @property
    def parameters(self) -> dict[str, Any]:
        """Return all settings of the method as plain values."""
        if self.own_method is None:
            return self.settings.to_dict()
        if self.method in METHODS:
            raise InputError(
                f"a method of your own must not be named like one of csim's, got {self.method!r}; "
                "choose another name"
            )
        return {**self.changes, "seed": self.seed}

    @property
    def open_method(self) -> OpenMethod:
        """Return the function that opens the method, for `run`."""
        return self.own_method or open_with(self.settings)

    @property
    def is_as_written(self) -> bool:
        """Return whether the run follows the paper's algorithms to the letter.

        The warm-up is then all labelled images, every answer comes before the next image, and csim
        asks nothing at the end.
        """
        return self.method == "paper"

    @property
    def name(self) -> str:
        """Return the name of the case in results; defaults are left out.

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
        words += [] if self.size is None else [f"size={self.size[0]}x{self.size[1]}"]
        words += ["ask-at-end"] * (self.is_as_written and self.ask_at_end)
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
            **({} if self.size is None else {"size": list(self.size)}),
            **({"as_written": True, "ask_at_end": self.ask_at_end} if self.is_as_written else {}),
        }

    def load(self, data_dir: Path | None, on_load: Progress | None = None) -> DataSet:
        """Return the images, thinned; `on_load` is called with the progress of loading."""
        data = load(self.data, data_dir, path=self.path, size=self.image_size, on_progress=on_load)
        return thin(data, self.thin)

    @cached_property
    def image_size(self) -> tuple[int, ...] | None:
        """Return what images of your own are resized to: `size`, or the shape of the encoder."""
        encoder = self.parameters.get("encoder", "own")
        frozen = open_frozen(Settings(encoder=encoder))
        if frozen is None:
            return self.size
        if self.size is not None:
            raise InputError(
                f"--size must be left out, because the encoder {encoder} takes images of a size "
                "of its own; or use --encoder own"
            )
        return frozen.image_shape

    def stream(self, data: DataSet) -> Stream:
        """Return the stream of these images."""
        stream = make(self.scenario, data, known_share=self.known_share, seed=self.seed)
        return stream.with_all_labelled() if self.is_as_written else stream

    def check(self, data: DataSet) -> None:
        """Raise an error if the images cannot make this stream.

        Two images of each class are enough to find out, and quick.
        """
        indices: dict[str, list[int]] = {}
        for index, name in enumerate(data.names):
            indices.setdefault(name, []).append(index)
        few = [index for same_class in indices.values() for index in same_class[:2]]
        self.stream(DataSet(data.name, data.images[few], [data.names[index] for index in few]))


def _as_file_name(text: str) -> str:
    """Return a text with only the characters and the length that a file name may have."""
    name = re.sub(r"[^\w.=+-]", "_", text)
    is_short = len(name.encode()) <= _LONGEST_NAME
    return name if is_short else f"{name[: _LONGEST_NAME // 4]}+{_digest(name)}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]
