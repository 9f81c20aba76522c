"""`csim serve` in a process of its own, and images to send to it."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

from PIL import Image

from csim.bench.durability.material import noisy_digits
from csim.errors import CsimError

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


class ServiceProcess:
    """Serve a stream folder on a free loopback port.

    Parameters
    ----------
    folder
        The stream folder.
    options
        Further options of `csim serve`.
    """

    def __init__(self, folder: Path, *options: str) -> None:
        command = [sys.executable, "-m", "csim", "serve", str(folder), "--port", "0", "--json"]
        self._process = subprocess.Popen(  # noqa: S603
            [*command, "--rate", "1000000", *options], stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise CsimError(f"csim serve {folder} must start, it ended; look at its message")
        self.url: str = json.loads(line)["url"]

    def stop(self, signum: int = signal.SIGTERM) -> int:
        """Send a signal to the process; return its exit code."""
        self._process.send_signal(signum)
        code = self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()
        return code

    def memory(self) -> float:
        """Return its resident memory in MB."""
        pages = Path(f"/proc/{self._process.pid}/statm").read_text().split()[1]
        return int(pages) * _PAGE_BYTES / 1e6


def png_files(count: int, seed: int) -> tuple[dict[str, bytes], dict[str, str]]:
    """Return PNG files by id, and their true classes.

    Parameters
    ----------
    count
        How many. Higher makes the stream longer.
    seed
        Draws them.
    """
    images, names = noisy_digits(count, seed)
    ids = [f"{number:07d}" for number in range(1, count + 1)]
    files = {}
    for item_id, image in zip(ids, images, strict=True):
        out = io.BytesIO()
        Image.fromarray(image).save(out, "PNG")
        files[item_id] = out.getvalue()
    return files, dict(zip(ids, names, strict=True))
