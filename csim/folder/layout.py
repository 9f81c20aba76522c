"""The files of a stream folder, and the configuration that it was made with."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from csim.errors import SettingsError
from csim.folder.folding import KeptHistory
from csim.records import EncoderId
from csim.settings import Settings


@dataclass(frozen=True)
class Layout:
    """Name the files of a stream folder."""

    root: Path

    @property
    def database(self) -> Path:
        """Return the path of the database: the log, its tables and the inbox."""
        return self.root / "stream.db"

    @property
    def lock(self) -> Path:
        """Return the path of the lock file, which the one engine holds."""
        return self.root / "lock"

    @property
    def folders(self) -> tuple[Path, ...]:
        """Return the folders of the files that the database names."""
        return tuple(self.root / name for name in ("jobs", "models", "snapshots"))

    def job(self, version: int) -> Path:
        """Return the path of the job that a model is trained from."""
        return self.root / "jobs" / f"{version:06d}.safetensors"

    def model(self, version: int) -> Path:
        """Return the path of a trained model."""
        return self.root / "models" / f"{version:06d}.safetensors"

    def snapshot(self, step: int) -> Path:
        """Return the path of the engine's state after a step, without the model."""
        return self.root / "snapshots" / f"{step:09d}.safetensors"

    def needed(self, connection: sqlite3.Connection) -> set[Path]:
        """Return the files that a restart needs."""
        steps = connection.execute("SELECT step FROM snapshots")
        rows = connection.execute(
            "SELECT version, installed_at FROM models"
            " WHERE version >= (SELECT min(model) FROM snapshots)"
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
    """Hold what a stream was made with; only its history can be changed later.

    Parameters
    ----------
    settings
        The settings of the engine.
    image_shape
        (height, width) for grey images, (height, width, 3) for colour. Higher shows finer detail
        and costs time.
    retrain_lag
        Images between the position at which a new model is due and the one at which it takes over.
        Higher gives training more time, so that the stream need not wait for it. But the old model
        decides about more images.
    picture_room
        Bytes for pictures. Higher keeps more of the images that people have labelled.
    bits
        Bits that 16-bit files use, 9 to 16. Higher makes their images darker.
    history
        How long the folder lists every image.
    encoder
        The pretrained encoder that the settings name, with the sha256 of its weights; None for
        csim's own network.
    """

    settings: Settings
    image_shape: tuple[int, ...]
    retrain_lag: int = 250
    picture_room: int = 2_000_000_000
    bits: int = 16
    history: KeptHistory = field(default_factory=KeptHistory)
    encoder: EncoderId | None = None

    def __post_init__(self) -> None:
        if self.retrain_lag < 0:
            raise SettingsError(f"retrain_lag must be 0 images or more, got {self.retrain_lag}")
        if self.picture_room < 0:
            raise SettingsError(f"picture_room must be 0 bytes or more, got {self.picture_room}")
        if not 9 <= self.bits <= 16:
            raise SettingsError(f"bits must lie between 9 and 16, got {self.bits}")

    def write(self, connection: sqlite3.Connection) -> None:
        """Write the configuration, inside a transaction."""
        rows = [(name, json.dumps(value)) for name, value in self.to_dict().items()]
        connection.executemany("INSERT OR REPLACE INTO config VALUES (?, ?)", rows)

    def to_dict(self) -> dict[str, Any]:
        """Return the configuration as plain values."""
        return {
            "settings": self.settings.to_dict(),
            "image_shape": self.image_shape,
            "retrain_lag": self.retrain_lag,
            "picture_room": self.picture_room,
            "bits": self.bits,
            "history": self.history.text(),
            "encoder": None if self.encoder is None else asdict(self.encoder),
        }

    @classmethod
    def read(cls, connection: sqlite3.Connection) -> Config:
        """Return what `write` wrote."""
        return cls.from_dict(
            {
                name: json.loads(value)
                for name, value in connection.execute("SELECT name, value FROM config")
            }
        )

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Config:
        """Return what `to_dict` returned."""
        named = values.get("encoder")  # folders made before there were encoders have none
        return cls(
            Settings.from_dict(values["settings"]),
            tuple(values["image_shape"]),
            values["retrain_lag"],
            values["picture_room"],
            values.get("bits", 16),  # folders of earlier versions have no such row
            KeptHistory.from_text(values.get("history", "all")),  # version 2 had none
            None if named is None else EncoderId(**named),
        )
