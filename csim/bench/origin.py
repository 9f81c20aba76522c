"""Where figures come from: which images they were measured on, when, where and with which code."""

from __future__ import annotations

import hashlib
import os
import platform
import subprocess
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from csim import __version__
from csim.bench.datasets import DataSet

_LIBRARIES = ("torch", "numpy", "scipy", "scikit-learn")


def fingerprint(data: DataSet) -> str:
    """Return a short checksum of the images and their names."""
    digest = hashlib.sha256(np.ascontiguousarray(data.images).data)
    digest.update("\n".join(data.names).encode())
    return digest.hexdigest()[:16]


def origin() -> dict[str, Any]:
    """Return the time, the machine, the versions and the commit."""
    return {
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "csim": __version__,
        **{name: version(name) for name in _LIBRARIES},
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "commit": _commit(),
    }


def _commit() -> str | None:
    """Return the commit of the code, with a + if files differ; None outside a repository."""
    git = ["git", "-C", str(Path(__file__).parent)]
    try:
        commit = subprocess.run(  # noqa: S603
            [*git, "rev-parse", "--short=12", "HEAD"], capture_output=True, check=True, text=True
        )
        changed = subprocess.run(  # noqa: S603
            [*git, "status", "--porcelain", "."], capture_output=True, check=True, text=True
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return commit.stdout.strip() + "+" * bool(changed.stdout)
