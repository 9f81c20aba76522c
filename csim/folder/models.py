"""Read the model versions of a stream folder, and the snapshots taken with them."""

from __future__ import annotations

import json
from dataclasses import dataclass

from csim.folder.query import Query
from csim.records import ClassId


@dataclass(frozen=True, slots=True)
class ModelRow:
    """Describe a model version. None means that it did not happen yet or is not known."""

    version: int
    due_at: int  # the position at which its training job was written
    installed_at: int | None  # the position from which it was in use
    images: int  # that it was trained on
    class_ids: tuple[ClassId, ...] | None  # that it can give
    seconds: float | None  # of training


@dataclass(frozen=True, slots=True)
class InstalledModel:
    """Say when a model took over, and how long its training took; None if it is not known."""

    time: float | None  # seconds since 1970, in UTC
    seconds: float | None


@dataclass(frozen=True, slots=True)
class SnapshotRow:
    """Name a snapshot."""

    step: int
    position: int


class Models:
    """Read the model versions of a stream folder.

    Parameters
    ----------
    query
        The folder's database.
    """

    def __init__(self, query: Query) -> None:
        self._query = query

    def all(self) -> list[ModelRow]:
        """Return all model versions in order, the one in training included."""
        rows = self._query.rows(
            "SELECT version, position, installed_at, images, class_ids, seconds FROM models"
            " ORDER BY version"
        )
        return [
            ModelRow(
                version=version,
                due_at=due_at,
                installed_at=installed_at,
                images=images,
                class_ids=None if class_ids is None else tuple(json.loads(class_ids)),
                seconds=seconds,
            )
            for version, due_at, installed_at, images, class_ids, seconds in rows
        ]

    def in_use(self, position: int | None = None) -> int:
        """Return the model version in use today, or at an earlier position."""
        return int(
            self._query.value(
                "SELECT max(version) FROM models"
                " WHERE installed_at IS NOT NULL AND installed_at <= coalesce(?, installed_at)",
                position,
            )
        )

    def in_training(self) -> int | None:
        """Return the model version that is not in use yet, if there is one."""
        version = self._query.value("SELECT max(version) FROM models WHERE installed_at IS NULL")
        return None if version is None else int(version)

    def learned(self) -> list[ClassId]:
        """Return the class ids that the model in use can give, as they were when it was trained."""
        rows = self._query.rows(
            "SELECT class_ids FROM models WHERE installed_at IS NOT NULL"
            " ORDER BY version DESC LIMIT 1"
        )
        return [class_id for (class_ids,) in rows for class_id in json.loads(class_ids)]

    def installed(self, version: int) -> InstalledModel:
        """Return when a model version took over, and how long its training took."""
        rows = self._query.rows(
            "SELECT (SELECT max(time) FROM steps WHERE kind = 'install' AND body = ?1), seconds"
            " FROM models WHERE version = ?1",
            version,
        )
        return InstalledModel(*rows[0]) if rows else InstalledModel(None, None)

    def newest_snapshot(self, model: int) -> SnapshotRow | None:
        """Return the newest snapshot that was taken while a model version was in use."""
        rows = self._query.rows(
            "SELECT step, position FROM snapshots WHERE model = ? ORDER BY step DESC LIMIT 1", model
        )
        return SnapshotRow(*rows[0]) if rows else None
