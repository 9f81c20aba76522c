"""Time the commands that an operator waits for, on a folder with many images."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from csim.bench.durability.material import make_stream, noisy_digits, write_files
from csim.folder.run import run
from csim.folder.stream import Stream
from csim.settings import Settings
from csim.sources.directory import Directory

_ROUNDS = 2  # the best one counts


@dataclass(frozen=True)
class CommandSeconds:
    """Hold the seconds of commands, with the start of Python."""

    status: float  # csim status
    known: float  # csim run, over files that csim has seen before
    restart: float  # csim run without images, on a folder as a killed engine leaves it


def time_commands(work: Path, *, images: int, settings: Settings, seed: int) -> CommandSeconds:
    """Return how long commands take on a stream of PNG files.

    Parameters
    ----------
    work
        An empty folder.
    images
        How many. Higher takes longer.
    settings
        Of the stream.
    seed
        Draws the images.
    """
    files = work / "files"
    folder = work / "stream"
    write_files(files, noisy_digits(images, seed)[0])
    make_stream(folder, settings, seed)
    with Stream(folder) as stream:
        run(stream, Directory(files))
        for turn in range(_ROUNDS):  # before it is closed: its last steps are in no snapshot
            shutil.copytree(folder, work / f"killed-{turn}")
    return CommandSeconds(
        status=min(_seconds("status", folder) for _ in range(_ROUNDS)),
        known=min(_seconds("run", folder, files) for _ in range(_ROUNDS)),
        restart=min(_seconds("run", work / f"killed-{turn}") for turn in range(_ROUNDS)),
    )


def _seconds(command: str, *arguments: Path) -> float:
    start = time.perf_counter()
    subprocess.run(  # noqa: S603
        [sys.executable, "-m", "csim", command, *map(str, arguments), "--json"],
        stdout=subprocess.DEVNULL,
        check=True,
    )
    return time.perf_counter() - start
