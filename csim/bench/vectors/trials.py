"""Trials: a learner or a network trained on one part of a data set and scored on another.

All classes are known. A finished trial is an entry in `runs/metric.jsonl`: csim does not repeat it,
and makes a table from it without training.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from csim.bench.baselines.learners.base import PrincipalComponents
from csim.bench.baselines.learners.catalogue import LEARNERS, learner_of
from csim.bench.baselines.learners.knn import K_CHOICES, choose_k, nearest, vote
from csim.bench.datasets import DataSet, thin
from csim.bench.datasets.catalogue import load
from csim.bench.json_lines import Content, put
from csim.bench.methods import network_settings, settings_of
from csim.bench.origin import fingerprint, origin
from csim.bench.processes import Tell, each
from csim.bench.study import prepare
from csim.bench.vectors.kept import read_kept
from csim.bench.vectors.networks import learn
from csim.bench.vectors.samples import columns_of
from csim.records import Floats, Images, Ints
from csim.settings import Settings

FORMAT = 1
FILE = Path("runs") / "metric.jsonl"  # in the folder of results
FLOORS = ("pixels", "pca")
NETWORKS = ("paper", "default")
METHODS = (*FLOORS, *LEARNERS, *NETWORKS)
SPLITS = {"S1": (4, 2, 4), "S2": (1, 1, 8)}  # shares for training, validation and test
_COMPONENTS = 164  # principal components, as in the paper


@dataclass(frozen=True)
class Trial:
    """Describe one method on one split of one data set.

    Parameters
    ----------
    method, data, split
        By name.
    seed
        Draws the split and everything in the method.
    thin
        Take every n-th image. Higher is quicker and leaves less to learn from.
    is_quick
        Stop learners early.
    """

    method: str
    data: str
    split: str
    seed: int
    thin: int = 1
    is_quick: bool = False

    @property
    def name(self) -> str:
        """Return the name of its entry.

        >>> Trial("lmnn", "mnist", "S2", 0).name
        'metric-mnist-S2-lmnn-seed0'
        """
        thinned = f"-thin{self.thin}" * (self.thin != 1) + "-quick" * self.is_quick
        return f"metric-{self.data}-{self.split}-{self.method}{thinned}-seed{self.seed}"

    @property
    def settings(self) -> dict[str, Any]:
        """Return the settings that decide what its method learns."""
        if self.method in LEARNERS:
            settings: dict[str, Any] = learner_of(
                self.method, seed=self.seed, is_quick=self.is_quick
            ).get_params()
            return settings
        return network_settings(self.method, self.seed) if self.method in NETWORKS else {}

    def describe(self) -> Content:
        """Return what its entry must hold to have been made with today's settings."""
        return {"format": FORMAT, "kind": "metric", **asdict(self), "settings": self.settings}


# The trials to make, the index of one of them, its steps done and in all.
OnTrial = Callable[[list[Trial], int, int, int], None]


@dataclass(frozen=True)
class Part:
    """Hold images and the index of each one's class, (n,)."""

    images: Images
    columns: Ints

    @property
    def vectors(self) -> Floats:
        """Return the images as rows of grey values of 0 to 1, (n, d)."""
        return self.images.reshape(len(self.images), -1).astype(np.float32) / 255


def divide(data: DataSet, split: str, seed: int) -> list[Part]:
    """Return the images for training, validation and test, shuffled by the seed."""
    shares = np.array(SPLITS[split])
    ends = np.floor(len(data.names) * np.cumsum(shares) / shares.sum()).astype(int)
    order = np.random.default_rng(seed).permutation(len(data.names))
    columns = columns_of(data.names, sorted(set(data.names)))
    return [Part(data.images[part], columns[part]) for part in np.split(order, ends[:-1])]


def score_all(
    trials: Sequence[Trial],
    out: Path,
    *,
    data_dir: Path | None = None,
    jobs: int = 1,
    on_trial: OnTrial | None = None,
) -> list[Content]:
    """Return the content of each trial, in order, making those that are missing.

    Parameters
    ----------
    trials
        What to score.
    out
        The folder of results.
    data_dir
        The folder of data sets; `CSIM_DATA` if not given.
    jobs
        Trials at a time. Higher is faster, up to the number of cores.
    on_trial
        Called now and then with the trials to make and the progress of one of them.
    """
    prepare(out)
    prepare(out / "runs")
    todo = [trial for trial in trials if read(out, trial) is None]
    work = partial(_make, out=out, data_dir=data_dir)
    each(work, todo, jobs=jobs, on_step=partial(on_trial, todo) if on_trial else None)
    found = [read(out, trial) for trial in trials]
    assert None not in found
    return [content for content in found if content is not None]


def read(out: Path, trial: Trial) -> Content | None:
    """Return the content of a trial; None if it is missing or was made with other settings."""
    return read_kept(
        out / FILE, trial.name, trial.describe(), lambda content: content["figures"]["accuracy"]
    )


def _make(trial: Trial, tell: Tell, *, out: Path, data_dir: Path | None) -> None:
    data = _load(trial.data, trial.thin, data_dir)
    parts = divide(data, trial.split, trial.seed)
    figures = score(trial, parts, tell)
    sizes = dict(
        zip(("train", "validation", "test"), (len(part.columns) for part in parts), strict=True)
    )
    content = {
        **trial.describe(),
        "sample": sizes | {"fingerprint": fingerprint(data)},
        "figures": {name: round(value, 4) for name, value in figures.items()},
        "origin": origin(),
    }
    put(out / FILE, trial.name, content)
    tell(1, 1)


@lru_cache(maxsize=1)
def _load(name: str, every: int, data_dir: Path | None) -> DataSet:
    return thin(load(name, data_dir), every)


def score(trial: Trial, parts: Sequence[Part], tell: Tell) -> dict[str, float]:
    """Return the accuracy on the test part in percent, and what learning took.

    Parameters
    ----------
    trial
        Names the method.
    parts
        For training; for the choice of k and of when to stop; for the test.
    tell
        Called with the steps done and the most there may be. Scoring is the last step.
    """
    start = time.perf_counter()
    train, validation, test = parts
    extra: dict[str, float] = {}
    match trial.method:
        case "pixels":
            gallery, *queries = (part.vectors for part in (train, validation, test))
        case "pca":
            components = PrincipalComponents(train.vectors, _COMPONENTS)
            gallery, *queries = (components(part.vectors) for part in (train, validation, test))
        case "paper" | "default":
            settings = settings_of(trial.method, seed=trial.seed, changes={})
            assert isinstance(settings, Settings)
            network = learn(settings, train.images, train.columns)
            gallery, *queries = (
                network.encoder.embed(part.images) for part in (train, validation, test)
            )
            best = network.scores(queries[1]).argmax(axis=1)
            extra["accuracy_own_layer"] = 100 * float(np.mean(best == test.columns))
        case _:
            learner = learner_of(trial.method, seed=trial.seed, is_quick=trial.is_quick)
            held = (validation.vectors, validation.columns)
            learner.fit(
                train.vectors,
                train.columns,
                validation=held,
                on_step=lambda done, most: tell(done, most + 1),
            )
            extra["steps"] = learner.steps_
            gallery = learner.gallery(train.vectors)
            queries = [learner.transform(part.vectors) for part in (validation, test)]
    seconds = time.perf_counter() - start
    near, far = (train.columns[nearest(gallery, some, max(K_CHOICES))] for some in queries)
    k = choose_k(near, validation.columns)
    return {
        "accuracy": 100 * float(np.mean(vote(far, k) == test.columns)),
        "accuracy_validation": 100 * float(np.mean(vote(near, k) == validation.columns)),
        "k": k,
        "size": gallery.shape[1],
        **extra,
        "seconds_learning": seconds,
        "seconds": time.perf_counter() - start,
    }
