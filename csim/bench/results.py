"""Results of runs: a line per run in `runs/DATA.jsonl`, with everything needed to run it again.

The accuracy curves, which few tables show, are in `runs/curves.jsonl`. Figures come from the event
log alone, so a run that was killed and started again ends with the same content. What depends on
the machine and the hour is kept apart, under `cost` and `origin`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from csim.bench.case import Case
from csim.bench.curves import curve_of, pack, unpack
from csim.bench.datasets import DataSet
from csim.bench.json_lines import Content, Lines, put, read_lines
from csim.bench.origin import fingerprint, origin
from csim.bench.run import Run
from csim.bench.scenario import Stream
from csim.metrics.figures import milestones, summarise
from csim.settings import Settings, brought_up_to_date

FORMAT = 1
CURVES = "curves.jsonl"
_IDENTITY = ("method", "data", "seed", "case", "settings")
_MEASURED = ("stream", "figures", "classes", "cost", "origin")


@dataclass(frozen=True)
class Result:
    """Hold what was measured in a run."""

    method: str
    data: str
    seed: int
    content: Content

    @property
    def figures(self) -> dict[str, Any]:
        """Return all figures by name: those of the log, forgetting, and costs; None if unknown."""
        return {**self.content["figures"], **self.content["cost"]}

    @property
    def settings(self) -> dict[str, Any]:
        """Return all settings of the run."""
        settings: dict[str, Any] = self.content["settings"]
        return settings


def describe_stream(data: DataSet, stream: Stream) -> Content:
    """Return what a result says of the images that were shown."""
    return {
        "images": len(stream.images),
        "warm_up": len(stream.warm_up),
        "held_out": len(stream.held_out),
        "classes": len(set(data.names)),
        "known": sorted(set(stream.warm_up_names)),
        "image_shape": list(data.images.shape[1:]),
        "fingerprint": fingerprint(data),
    }


def describe(case: Case, stream: Content, run: Run, peak_memory_mb: float) -> Content:
    """Return the content of a run's result; `stream` is what `describe_stream` returned."""
    figures = asdict(summarise(run.events, run.truth)) | {"forgetting": run.forgetting}
    return {
        **_identity(case),
        "stream": stream,
        "figures": figures,
        "classes": [asdict(milestone) for milestone in milestones(run.events, run.truth)],
        "curve": curve_of(run),
        "cost": {
            "seconds": run.seconds,
            "seconds_training": run.seconds_training,
            "seconds_first_training": run.seconds_first_training,
            "images_per_second": len(run.truth) / run.seconds,
            "forward_per_second": run.forward_per_second,
            "peak_memory_mb": peak_memory_mb,
        },
        "origin": origin(),
    }


def write(folder: Path, case: Case, content: Content) -> None:
    """Write a run's result. The curve comes first: a run that has its line is finished."""
    rest = {key: value for key, value in content.items() if key != "curve"}
    put(folder / "runs" / CURVES, case.name, pack(content["curve"]))
    put(path_of(folder, case), case.name, _rounded(rest))


def path_of(folder: Path, case: Case) -> Path:
    """Return the file that holds the results of a case's data set."""
    return folder / "runs" / f"{case.data_name}.jsonl"


def read(folder: Path, case: Case) -> Result | None:
    """Return the result of a case; None if it was not run with the settings it has today."""
    return read_all(folder, [case])[0]


def read_all(folder: Path, cases: Iterable[Case]) -> list[Result | None]:
    """Return the result of each case, in order; None for a case that must be run.

    A damaged line is an error only if a case has no line of its own: it may be the damaged one.
    """
    curves = read_lines(folder / "runs" / CURVES)
    files: dict[Path, Lines] = {}
    results: list[Result | None] = []
    for case in cases:
        path = path_of(folder, case)
        if path not in files:
            files[path] = read_lines(path)
        lines = files[path]
        if case.name in lines.entries:
            results.append(_result(case, lines, curves))
        else:
            lines.refuse_damage()
            results.append(None)
    return results


def missing(folder: Path, cases: Sequence[Case]) -> list[Case]:
    """Return the cases that have no result yet, each once."""
    found = zip(cases, read_all(folder, cases), strict=True)
    return list({case.name: case for case, result in found if result is None}.values())


def _result(case: Case, lines: Lines, curves: Lines) -> Result | None:
    content = lines.entries[case.name].content
    try:
        if content["format"] != FORMAT:
            return None
        if lacking := [key for key in (*_IDENTITY, *_MEASURED) if key not in content]:
            raise KeyError(lacking[0])
        identity = _brought_up_to_date(case, content)
        if identity != _identity(case):
            return None
        content["settings"] = identity["settings"]
        if case.name not in curves.entries:
            curves.refuse_damage()
            raise ValueError(f"its curve is not in {curves.path}")
        curve = unpack(curves.entries[case.name].content)
    except (ValueError, TypeError, KeyError) as error:
        raise lines.refuse(case.name, "the result of a run", error) from error
    return Result(case.method, case.data, case.seed, content | {"curve": curve})


def _identity(case: Case) -> dict[str, Any]:
    """Return what a line must hold to be the result of this case, as JSON holds it."""
    values = (case.method, case.data, case.seed, case.describe(), case.parameters)
    identity = {"format": FORMAT, **dict(zip(_IDENTITY, values, strict=True))}
    as_json: dict[str, Any] = json.loads(json.dumps(identity))
    return as_json


def _brought_up_to_date(case: Case, content: Content) -> dict[str, Any]:
    """Return what a line says about its case, with the settings that were added since."""
    identity = {key: content[key] for key in ("format", *_IDENTITY)}
    if case.own_method is None and isinstance(case.settings, Settings):
        identity["settings"] = brought_up_to_date(content["settings"])
    return identity


def _rounded(value: Any) -> Any:  # noqa: ANN401
    """Round figures to four decimals, which keeps files small; settings stay as they are."""
    if isinstance(value, dict):
        return {
            key: entry if key in ("case", "settings") else _rounded(entry)
            for key, entry in value.items()
        }
    if isinstance(value, list):
        return [_rounded(entry) for entry in value]
    return round(value, 4) if isinstance(value, float) else value
