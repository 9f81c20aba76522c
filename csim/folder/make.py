"""Make a stream folder in one atomic step: it appears complete, with its first model."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import csim.records as r
from csim import checkpoint
from csim.ask.catalogue import clean_labels
from csim.atomic import new_folder
from csim.build import build, open_frozen
from csim.embed.network_trainer import Progress
from csim.errors import InputError
from csim.folder import database
from csim.folder.inputs import new_items
from csim.folder.layout import Config, Layout
from csim.folder.log import Step, write_step
from csim.folder.snapshots import Snapshots
from csim.folder.tables import add_labelled
from csim.sources.arrays import check_size
from csim.sources.arrival import Decoded
from csim.threads import one_thread


def make(
    root: Path,
    config: Config,
    arrivals: Sequence[Decoded],
    names: Sequence[str],
    progress: Progress | None = None,
) -> None:
    """Make a stream folder and train its first model.

    Parameters
    ----------
    root
        Its path; there must be nothing yet.
    config
        The configuration.
    arrivals
        Labelled images.
    names
        The class name of each: two classes or more, each with at least two images.
    progress
        Called after every epoch with its number, the number of epochs and the mean loss.
    """
    labels = clean_labels(names)
    check_size(*config.image_shape[:2])
    with new_folder(root) as folder, one_thread():
        _fill(Layout(folder), config, arrivals, labels, progress)


def _fill(
    layout: Layout,
    config: Config,
    arrivals: Sequence[Decoded],
    names: Sequence[str],
    progress: Progress | None,
) -> None:
    for folder in layout.folders:
        folder.mkdir()
    frozen = open_frozen(config.settings, expected=config.encoder)
    if frozen is not None:
        if config.image_shape != frozen.image_shape:
            raise InputError(
                f"the encoder {config.settings.encoder} takes images {frozen.image_shape}, got "
                f"{config.image_shape}; decode them to its shape"
            )
        config = replace(config, encoder=frozen.identity)
    parts = build(config.settings, frozen)
    engine = parts.engine
    items = new_items(arrivals, 0, frozen)
    *added, due = engine.warm_up(items, names)
    assert isinstance(due, r.TrainingDue)
    start = time.monotonic()
    model = parts.trainer.train(due.job, None, progress)
    seconds = time.monotonic() - start
    checkpoint.write(layout.model(model.version), checkpoint.model_state(model))
    events = [*added, *engine.install(model)]
    connection = database.create(layout.database)
    sha256 = checkpoint.checksum(layout.model(model.version))
    with database.transaction(connection):
        config.write(connection)
        connection.execute(
            "INSERT INTO models (version, position, switch_at, images, sha256, seconds)"
            " VALUES (?, 0, 0, ?, ?, ?)",
            (model.version, len(due.job.labels), sha256, seconds),
        )
        class_ids = [engine.dialogue.class_id(name) for name in names]
        add_labelled(connection, items, class_ids, [arrival.kept for arrival in arrivals])
        step = write_step(connection, Step("warm-up"), 0, events, time.time())
    Snapshots(connection, layout, config).save(engine, step)
    connection.close()
