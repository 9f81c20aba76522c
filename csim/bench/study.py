"""Many cases in parallel; csim does not repeat a finished run."""

from __future__ import annotations

import resource
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from csim.atomic import remove_leftovers
from csim.bench.case import Case
from csim.bench.datasets import DataSet
from csim.bench.datasets.download import Progress
from csim.bench.origin import fingerprint
from csim.bench.processes import Tell, each
from csim.bench.results import Result, describe, describe_stream, missing, read, read_all, write
from csim.bench.run import run
from csim.errors import InputError

# The cases to run, the index of one of them, its images done and in all.
OnRun = Callable[[list[Case], int, int, int], None]


def measure(
    cases: Sequence[Case],
    out: Path,
    *,
    data_dir: Path | None = None,
    jobs: int = 1,
    on_run: OnRun | None = None,
    on_load: Progress | None = None,
) -> list[Result]:
    """Return the results of all cases in their order, running those that have none.

    Parameters
    ----------
    cases
        What to measure.
    out
        The folder of results; runs are in `runs/` in it.
    data_dir
        The folder of data sets; `CSIM_DATA` if not given.
    jobs
        Processes at a time. Higher is faster, up to the number of cores.
    on_run
        Called now and then with the cases to run and the progress of one of them.
    on_load
        Called with a name, what is done and in all, and its unit: bytes of a file that csim
        downloads, or images of a folder that it reads.
    """
    _loaded.clear()  # files may have changed since
    for case in cases:
        _ = case.parameters  # raises an error now, not after the first run
    todo = _unfinished(cases, out, data_dir, on_load)
    for case in todo:
        case.check(_load(case, data_dir, on_load))
    prepare(out)
    prepare(out / "runs")
    remove_leftovers(out / "runs")
    work = partial(_run_one, out=out, data_dir=data_dir)
    each(work, todo, jobs=jobs, on_step=partial(on_run, todo) if on_run else None)
    found = read_all(out, cases)
    assert None not in found
    return [result for result in found if result is not None]


def prepare(out: Path) -> None:
    """Make the folder for results; raise an error before the long work if that is impossible."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=out):
            return
    except OSError as error:
        raise InputError(
            f"{out} must be a folder that csim can write to ({error.strerror}); give another with "
            "--out"
        ) from error


def _unfinished(
    cases: Sequence[Case], out: Path, data_dir: Path | None, on_load: Progress | None
) -> list[Case]:
    """Return the cases to run, each once: those without a result, or whose images have changed."""
    changed = {
        case.name: case
        for case in cases
        if case.path and _has_changed(case, out, data_dir, on_load)
    }
    return missing(out, cases) + list(changed.values())


def _has_changed(case: Case, out: Path, data_dir: Path | None, on_load: Progress | None) -> bool:
    if (result := read(out, case)) is None:
        return False
    data = _load(case, data_dir, on_load)
    return bool(result.content["stream"]["fingerprint"] != fingerprint(data))


def _run_one(case: Case, tell: Tell, *, out: Path, data_dir: Path | None) -> None:
    data = _load(case, data_dir)
    stream = case.stream(data)
    description = describe_stream(data, stream)
    del data  # the stream has copies: a run must not need twice the memory of its images
    _loaded.clear()
    _reset_peak_memory()
    count = len(stream.images)
    tell(0, count)
    outcome = run(
        stream,
        case.open_method,
        answers=case.answers,
        seed=case.seed,
        at_once=case.is_as_written,
        ask_at_end=case.ask_at_end or not case.is_as_written,
        # The run is done when its result is on disk, not before.
        on_events=lambda _, position: tell(min(position, count - 1), count),
    )
    write(out, case, describe(case, description, outcome, _peak_memory_mb()))
    tell(count, count)


_loaded: dict[tuple[object, ...], DataSet] = {}  # the last one, by all that it was loaded with


def _load(case: Case, data_dir: Path | None, on_load: Progress | None = None) -> DataSet:
    """Return the images of a case; those of the last one are still there."""
    key = (case.data, case.thin, case.path, case.image_size, data_dir)
    if key not in _loaded:
        _loaded.clear()
        _loaded[key] = case.load(data_dir, on_load)
    return _loaded[key]


def _reset_peak_memory() -> None:
    """Start to measure peak memory again from here, where the system allows it (Linux)."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return


def _peak_memory_mb() -> float:
    try:
        return int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) / 1024
    except (OSError, IndexError):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
