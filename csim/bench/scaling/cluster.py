"""A node of a Ray cluster that dies: how long until another worker embeds in its place.

Run as `python -m csim.bench.scaling.cluster FOLDER`, it starts a cluster of four nodes on this
machine. It kills one that works, while another is idle, and prints the seconds.
`replacement_seconds` does so in a network namespace with nothing but loopback, which needs root and
the program `ip`.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ray.cluster_utils import Cluster

from csim.bench.durability.material import make_stream, noisy_digits
from csim.distributed import ray_pool
from csim.errors import InputError
from csim.folder.stream import Stream, model_in_use
from csim.records import Model
from csim.settings import Settings
from csim.sources.arrival import Arrival

_SETTINGS = Settings(epochs=4)
_WAIT_SECONDS = 0.05
_WORKERS = 2


def replacement_seconds(work: Path, *, seed: int) -> float:
    """Return the seconds from the death of a node to a result of the worker that replaces its own.

    Parameters
    ----------
    work
        An empty folder.
    seed
        Draws the images.
    """
    make_stream(work / "stream", _SETTINGS, seed)
    with loopback() as inside:
        done = subprocess.run(  # noqa: S603
            [*inside, sys.executable, "-m", "csim.bench.scaling.cluster", str(work / "stream")],
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode:
        raise InputError(f"a cluster must start on this machine, it says: {done.stderr[-500:]}")
    return float(json.loads(done.stdout.splitlines()[-1]))


@contextmanager
def loopback() -> Iterator[list[str]]:
    """Give the start of a command that runs the rest where nothing but loopback exists."""
    ip = shutil.which("ip")
    if ip is None or os.geteuid() != 0:
        raise InputError(
            "a cluster of several nodes must run in a network namespace, which needs root and the "
            "program ip; run as root, and install it: apt-get install iproute2"
        )
    name = f"csim-{os.getpid()}"
    subprocess.run([ip, "netns", "add", name], check=True)  # noqa: S603
    try:
        subprocess.run([ip, "-n", name, "link", "set", "lo", "up"], check=True)  # noqa: S603
        yield [ip, "netns", "exec", name]
    finally:
        subprocess.run([ip, "netns", "del", name], check=True)  # noqa: S603


def _kill_a_node(folder: Path) -> float:
    """Kill a node whose worker is needed, while another node is idle; return the seconds."""
    node: dict[str, Any] = {"object_store_memory": 80_000_000, "include_dashboard": False}
    cluster = Cluster(
        initialize_head=True,
        head_node_args=node | {"num_cpus": 0, "_system_config": ray_pool.SYSTEM},
    )
    victim, _ = (cluster.add_node(num_cpus=1, **node) for _ in range(_WORKERS))
    ray_pool.connect(cluster.address)
    with Stream(folder, trainer=None) as stream:
        model = model_in_use(stream)
        pool = ray_pool.RayPool(stream.config, _WORKERS)
        first = _all_at_work(pool, model)
        cluster.add_node(num_cpus=1, **node)
        start = time.perf_counter()
        cluster.remove_node(victim, allow_graceful=False)
        while len(_all_at_work(pool, model) - first) == 0:
            pass
        seconds = time.perf_counter() - start
    ray_pool.disconnect()
    cluster.shutdown()  # type: ignore[no-untyped-call]
    return seconds


def _all_at_work(pool: ray_pool.RayPool, model: Model) -> set[str]:
    """Embed until every worker has given a result; return their names."""
    images = [Arrival(str(number), image) for number, image in enumerate(noisy_digits(64, 0)[0])]
    while True:
        calls = [pool.submit(model, images) for _ in range(_WORKERS)]
        while calls:
            calls = [call for call in calls if pool.result(call, _WAIT_SECONDS) is None]
        working = {row.name for row in pool.rows() if row.model is not None}
        if len(working) == _WORKERS:
            return working


if __name__ == "__main__":
    ray_pool.set_environment()  # the nodes start before anybody connects
    sys.stdout.write(json.dumps(_kill_a_node(Path(sys.argv[1]))))
