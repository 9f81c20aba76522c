"""Train models as tasks of a Ray cluster, on any of its nodes.

The files of the job and of the previous model travel as bytes, and so does the new model. The same
job gives the same model, so a task whose node dies is simply repeated.
"""

from __future__ import annotations

import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import ray
from ray.exceptions import RayError

from csim import atomic, checkpoint
from csim.errors import TrainingError
from csim.folder.jobs import train
from csim.folder.layout import Layout
from csim.threads import one_thread


class RayTrainer:
    """Train models on the cluster that this process is connected to.

    Parameters
    ----------
    layout
        The files of the stream folder.
    """

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._version: int | None = None
        self._task: Any = None
        # No processor is set aside: the workers have them all, and training must not wait for them.
        self._train = ray.remote(num_cpus=0, max_retries=-1)(train_from_bytes)

    def begin(self, version: int) -> None:
        """Start to train a model from its job file, one at a time."""
        assert self._version is None
        self._version = version
        base = checkpoint.read(self._layout.job(version))["base"]
        content = None if base is None else self._layout.model(base).read_bytes()
        job = self._layout.job(version).read_bytes()
        self._task = self._train.remote(version, job, base, content)

    @property
    def is_done(self) -> bool:
        """Return whether `finish` returns, or raises, without waiting long."""
        return bool(ray.wait([self._task], timeout=0)[0])

    def finish(self) -> float:
        """Wait for the model and write its file; return the seconds that training took."""
        version = self._version
        assert version is not None
        self._version = None
        try:
            content, seconds = ray.get(self._task)
        except RayError as error:
            raise TrainingError(
                f"model {version} must be trained to go on, which failed on the cluster ({error}); "
                "nothing is lost, run again to try again"
            ) from error
        atomic.write_file(self._layout.model(version), content)
        return float(seconds)

    def stop(self) -> None:
        """Give up unfinished training."""
        if self._version is not None:
            ray.cancel(self._task, force=True)
            self._version = None


def train_from_bytes(
    version: int, job: bytes, base: int | None, base_model: bytes | None
) -> tuple[bytes, float]:
    """Return the file of a trained model, and the seconds that training took.

    Parameters
    ----------
    version
        Of the new model. Higher is newer.
    job
        The job file.
    base
        The model version that training starts from; None for the first model. Higher is newer.
    base_model
        The file of that model.
    """
    start = time.monotonic()
    with TemporaryDirectory() as folder, one_thread():
        layout = Layout(Path(folder))
        for needed in layout.folders:
            needed.mkdir()
        layout.job(version).write_bytes(job)
        if base is not None and base_model is not None:
            layout.model(base).write_bytes(base_model)
        train(layout, version)
        return layout.model(version).read_bytes(), time.monotonic() - start
