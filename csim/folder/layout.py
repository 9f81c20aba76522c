"""Where things lie in a stream folder, and what was decided when it was made."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass
from pathlib import Path

from csim.errors import SettingsError
from csim.settings import Settings


@dataclass(frozen=True)
class Layout:
    """The files of a stream folder."""

    root: Path

    @property
    def database(self) -> Path:
        """All that happened, and the inbox."""
        return self.root / "stream.db"

    @property
    def lock(self) -> Path:
        """Held by the one engine."""
        return self.root / "lock"

    @property
    def folders(self) -> tuple[Path, ...]:
        """Where files lie that the database has a row for."""
        return tuple(self.root / name for name in ("jobs", "models", "snapshots"))

    def job(self, version: int) -> Path:
        """Return where what a model is to be trained on lies."""
        return self.root / "jobs" / f"{version:06d}.safetensors"

    def model(self, version: int) -> Path:
        """Return where a trained model lies."""
        return self.root / "models" / f"{version:06d}.safetensors"

    def snapshot(self, step: int) -> Path:
        """Return where all that the engine knew after a step lies, but for the model."""
        return self.root / "snapshots" / f"{step:09d}.safetensors"

    def needed(self, connection: sqlite3.Connection) -> set[Path]:
        """Return the files that a restart needs."""
        steps = connection.execute("SELECT step FROM snapshots")
        rows = connection.execute(
            "SELECT version, installed_at FROM models WHERE version >= (SELECT min(model) FROM snapshots)"
        ).fetchall()
        needed = {self.snapshot(step) for (step,) in steps}
        needed |= {
            self.model(version) for version, installed_at in rows if installed_at is not None
        }
        return needed | {
            self.job(version) for version, installed_at in rows if installed_at is None
        }


@dataclass(frozen=True)
class Config:
    """What a stream was made with; it never changes.

    Parameters
    ----------
    settings
        Of the method.
    image_shape
        (height, width) for grey images, (height, width, 3) for colour. Raising it shows finer detail and costs time.
    retrain_lag
        Images between the moment when a new model is due and the one when it takes over. Raising it gives training more
        time, so that the stream need not wait for it, and lets the old model decide about more images.
    picture_room
        Room for pictures. Raising it keeps more of the images that people have labelled.
    """

    settings: Settings
    image_shape: tuple[int, ...]
    retrain_lag: int = 250
    picture_room: int = 2_000_000_000

    def __post_init__(self) -> None:
        if self.retrain_lag < 0:
            raise SettingsError(f"retrain_lag must be 0 images or more, got {self.retrain_lag}")
        if self.picture_room < 0:
            raise SettingsError(f"picture_room must be 0 or more, got {self.picture_room}")

    def write(self, connection: sqlite3.Connection) -> None:
        """Write it to a new database."""
        values = {
            "settings": self.settings.to_dict(),
            "image_shape": self.image_shape,
            "retrain_lag": self.retrain_lag,
            "picture_room": self.picture_room,
        }
        rows = [(name, json.dumps(value)) for name, value in values.items()]
        connection.executemany("INSERT INTO config VALUES (?, ?)", rows)

    @classmethod
    def read(cls, connection: sqlite3.Connection) -> Config:
        """Read what `write` wrote."""
        values = {
            name: json.loads(value)
            for name, value in connection.execute("SELECT name, value FROM config")
        }
        return cls(
            Settings.from_dict(values["settings"]),
            tuple(values["image_shape"]),
            values["retrain_lag"],
            values["picture_room"],
        )
