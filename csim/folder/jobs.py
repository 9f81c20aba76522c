"""Training jobs and trained models as files of a stream folder.

csim writes a job before its training begins. So training that was interrupted can be repeated, in
any process, and gives the same model.
"""

from __future__ import annotations

from csim import checkpoint
from csim.build import build
from csim.folder.layout import Layout
from csim.records import Job, Model
from csim.settings import Settings


def write_job(layout: Layout, job: Job, base: int | None, settings: Settings) -> None:
    """Write what a model is to be trained on, and which model version training starts from."""
    values = {name: getattr(job, name) for name in Job.__slots__}
    checkpoint.write(
        layout.job(job.version), values | {"base": base, "settings": settings.to_dict()}
    )


def read_model(layout: Layout, version: int) -> Model:
    """Return a trained model, after checking its checksum."""
    return checkpoint.model_from(checkpoint.read(layout.model(version)))


def train(layout: Layout, version: int) -> None:
    """Train the model of a job file, and write the model file."""
    state = checkpoint.read(layout.job(version))
    base = None if state["base"] is None else read_model(layout, state["base"])
    job = Job(**{name: state[name] for name in Job.__slots__})
    model = build(Settings.from_dict(state["settings"])).trainer.train(job, base)
    checkpoint.write(layout.model(version), checkpoint.model_state(model))
