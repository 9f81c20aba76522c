"""Data sets: labelled images by name."""

from __future__ import annotations

from dataclasses import dataclass

from csim.errors import InputError
from csim.records import Images


@dataclass(frozen=True)
class DataSet:
    """Images, (n, h, w[, 3]), and the name of each one's class."""

    name: str
    images: Images
    names: list[str]

    def __post_init__(self) -> None:
        if len(self.images) != len(self.names):
            raise InputError(f"{self.name} has {len(self.images)} images but {len(self.names)} names")
