"""Result files: one per run, whole or not at all, with everything needed to make it again.

Figures come from the log alone, so a run that was killed and started again ends with the same content; what depends
on the machine and the hour stands apart, under `cost` and `origin`.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import subprocess
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from csim import __version__, atomic
from csim.bench.case import Case
from csim.bench.datasets import DataSet
from csim.bench.run import Run
from csim.bench.scenario import Stream
from csim.errors import InputError
from csim.metrics.figures import accuracy_curve, milestones, summarise
from csim.metrics.labels import at_arrival, class_names, final, named

FORMAT = 1
_POINTS = 200  # of an accuracy curve
_LIBRARIES = ("torch", "numpy", "scipy", "scikit-learn")
_MEASURED = ("stream", "figures", "classes", "curve", "cost", "origin")


@dataclass(frozen=True)
class Result:
    """What a result file holds."""

    method: str
    data: str
    seed: int
    content: dict[str, Any]

    @property
    def figures(self) -> dict[str, float]:
        """All figures by name: those of the log, forgetting, and costs."""
        return {**self.content["figures"], **self.content["cost"]}

    @property
    def settings(self) -> dict[str, Any]:
        """All settings of the run."""
        settings: dict[str, Any] = self.content["settings"]
        return settings


def describe(
    case: Case, data: DataSet, stream: Stream, run: Run, peak_memory_mb: float
) -> dict[str, Any]:
    """Return the content of a run's result file."""
    figures = asdict(summarise(run.events, run.truth)) | {"forgetting": run.forgetting}
    return {
        **_identity(case),
        "stream": {
            "images": len(stream.images),
            "warm_up": len(stream.warm_up),
            "held_out": len(stream.held_out),
            "classes": len(set(data.names)),
            "known": sorted(set(stream.warm_up_names)),
            "image_shape": list(data.images.shape[1:]),
            "fingerprint": fingerprint(data),
        },
        "figures": figures,
        "classes": [asdict(each) for each in milestones(run.events, run.truth)],
        "curve": _curve(run),
        "cost": {
            "seconds": run.seconds,
            "seconds_training": run.seconds_training,
            "images_per_second": len(run.truth) / run.seconds,
            "forward_per_second": run.forward_per_second,
            "peak_memory_mb": peak_memory_mb,
        },
        "origin": origin(),
    }


def write(folder: Path, case: Case, content: dict[str, Any]) -> None:
    """Write a result file; it is there whole or not at all."""
    write_text(path_of(folder, case), json.dumps(_rounded(content), indent=1, ensure_ascii=False))


def write_text(path: Path, text: str) -> None:
    """Write a file that is never seen half written, not even when this process is killed."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        atomic.write_file(path, text.encode())
    except OSError as error:
        raise InputError(
            f"{path} could not be written ({error.strerror}); mend that and start again"
        ) from error


def path_of(folder: Path, case: Case) -> Path:
    """Return where the result of a case stands."""
    return folder / "runs" / f"{case.name}.json"


def read(folder: Path, case: Case) -> Result | None:
    """Return the result of a case, None if it has not been run with the settings that it has today."""
    path, wanted = path_of(folder, case), _identity(case)
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content["format"] != FORMAT or any(
            content[key] != value for key, value in wanted.items()
        ):
            return None
        if lacking := [key for key in _MEASURED if key not in content]:
            raise ValueError(f"it lacks {lacking[0]}")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise InputError(
            f"{path} cannot be read ({error.strerror}); see to that, or choose another folder"
        ) from error
    except (ValueError, TypeError, KeyError) as error:
        raise InputError(
            f"{path} is not a result file ({error!r}); delete it to have it made again"
        ) from error
    return Result(case.method, case.data, case.seed, content)


def missing(folder: Path, cases: Iterable[Case]) -> list[Case]:
    """Return the cases that have no result yet, each once."""
    return list({case.name: case for case in cases if read(folder, case) is None}.values())


def _identity(case: Case) -> dict[str, Any]:
    """Return what a file must say of itself to be this case's, as JSON has it."""
    told = {"method": case.method, "data": case.data, "seed": case.seed}
    identity: dict[str, Any] = json.loads(
        json.dumps({**told, "case": case.describe(), "settings": case.parameters})
    )
    return {"format": FORMAT, **identity}


def fingerprint(data: DataSet) -> str:
    """Return a checksum of the images and their names, short."""
    digest = hashlib.sha256(np.ascontiguousarray(data.images).data)
    digest.update("\n".join(data.names).encode())
    return digest.hexdigest()[:16]


def origin() -> dict[str, Any]:
    """Return when, where and with which versions figures were made."""
    return {
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "csim": __version__,
        **{name: version(name) for name in _LIBRARIES},
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "commit": _commit(),
    }


def _commit() -> str | None:
    """Return the commit that the code stands at, with a + if files differ from it; None outside a repository."""
    git = ["git", "-C", str(Path(__file__).parent)]
    try:
        commit = subprocess.run(  # noqa: S603
            [*git, "rev-parse", "--short=12", "HEAD"], capture_output=True, check=True, text=True
        )
        changed = subprocess.run(  # noqa: S603
            [*git, "status", "--porcelain", "."], capture_output=True, check=True, text=True
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return commit.stdout.strip() + "+" * bool(changed.stdout)


def _curve(run: Run) -> dict[str, Any]:
    count, names = len(run.truth), class_names(run.events)
    window = max(1, count // 40)
    ends = np.unique(np.linspace(min(window, count), count, _POINTS).astype(int))
    curves = {"final": final(run.events), "at_arrival": at_arrival(run.events)}
    drawn = {
        name: accuracy_curve(named(labels, names), run.truth, window)[ends - 1].tolist()
        for name, labels in curves.items()
    }
    return {"window": window, "positions": ends.tolist(), **drawn}


def _rounded(value: Any) -> Any:  # noqa: ANN401
    """Round to what can be seen: files stay readable, and small."""
    if isinstance(value, dict):
        return {
            key: entry if key in ("case", "settings") else _rounded(entry)
            for key, entry in value.items()
        }
    if isinstance(value, list):
        return [_rounded(entry) for entry in value]
    return round(value, 4) if isinstance(value, float) else value
