"""A stream on a Ray cluster whose nodes and workers die, to be compared with one without Ray.

Run as `python ray_story.py FOLDER REFERENCE`. It starts a cluster of three nodes on this machine.
It kills two coordinators, then a worker and a node while a third goes on, adds a node, and prints
what happened as JSON. `python ray_story.py FOLDER coordinate ADDRESS PAUSE` is a coordinator.
"""

import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import ray
from digit_folder import arrivals
from folder.story import retell
from ray.cluster_utils import Cluster
from ray.exceptions import RayError
from waiting import no_hang, wait_for

import csim.distributed.embedded_source as embedded_source
from csim.distributed import ray_pool
from csim.distributed.embedded_source import EmbeddedSource
from csim.distributed.ray_pool import RayPool
from csim.distributed.ray_trainer import RayTrainer
from csim.errors import BrokerError
from csim.folder.audit import differing_tables
from csim.folder.reader import Reader
from csim.folder.run import run
from csim.folder.stream import Stream, model_in_use
from csim.sources.arrival import Arrival, Trouble

IMAGES = 420
NODE = {"num_cpus": 1, "object_store_memory": 80_000_000, "include_dashboard": False}


class Troubled:
    """A source that does something before some of its images."""

    def __init__(self, deeds):
        self._deeds = deeds

    def __iter__(self):
        for number, arrival in enumerate(arrivals(IMAGES), start=1):
            if deed := self._deeds.pop(number, None):
                deed()
            yield Arrival(arrival.id, arrival.kept)
        yield Arrival("text", b"no image at all")
        yield Trouble("gone", "vanished", "there is no such file")


class Paused:
    """A source that has nothing new from an image on."""

    def __init__(self, pause):
        self._pause = pause

    def __iter__(self):
        sys.stdout.write("begins\n")
        sys.stdout.flush()
        yield from (Arrival(found.id, found.kept) for found in arrivals(self._pause))
        while True:
            time.sleep(0.05)
            yield None


def coordinate(folder, address, pause):
    """Run a stream on a cluster until this process is killed."""
    embedded_source._IMAGES_PER_CALL = 20
    ray_pool.connect(address)
    with Stream(folder, trainer=RayTrainer) as stream:
        run(stream, EmbeddedSource(Paused(pause), stream, RayPool(stream.config)))


def kill_coordinators(folder, address):
    """Kill one coordinator soon after it began, and one after it has written images."""
    rng = random.Random(int(os.environ.get("CSIM_KILL_SEED", "5")))  # noqa: S311
    for pause, has_to_write in ((100, False), (200, True)):
        before = position(folder)
        coordinator = subprocess.Popen(
            [sys.executable, __file__, folder, "coordinate", address, str(pause)],
            stdout=subprocess.PIPE,
        )
        assert coordinator.stdout.readline() == b"begins\n"
        if has_to_write:
            wait_for(lambda before=before: position(folder) > before)
        time.sleep(rng.uniform(0, 2))
        coordinator.send_signal(signal.SIGKILL)
        coordinator.wait()
    return position(folder)


def position(folder):
    with Reader(folder) as reader:
        return reader.history.position()


def kill_worker(pool):
    """Kill the process of a worker that is ready, with SIGKILL."""
    wait_for(lambda: pool.refresh() or kill_one_of(pool._workers))


def kill_one_of(workers):
    """Kill the first worker that answers; the pool may still list those of a dead node."""
    for worker in workers:
        if worker.is_ready:
            with contextlib.suppress(RayError):
                pid = ray.get(worker.actor.__ray_call__.remote(lambda _: os.getpid()))
                os.kill(pid, signal.SIGKILL)
                return True
    return False


def is_full(pool):
    """Return whether every live node has its worker; Ray may drop a node of a busy machine."""
    pool.refresh()
    return pool.workers == ray.cluster_resources()["CPU"]


def kill_node(cluster, pool):
    """Kill a node and all its processes, without a farewell, while its worker has a call."""
    wait_for(lambda: is_full(pool))
    cluster.remove_node(cluster.worker_nodes.copy().pop(), allow_graceful=False)


def versions(pool, stream):
    """Return the model versions of all workers, once each has had a call."""
    image = [Arrival("again", arrivals(1)[0].kept)]
    calls = [pool.submit(model_in_use(stream), image) for _ in range(pool.workers)]
    for call in calls:
        wait_for(lambda call=call: pool.result(call, 1) is not None)
    return sorted({row.model for row in pool.rows()})


def refusal(pool, stream):
    """Return why a coordinator of another version refuses new workers."""
    for worker in pool._workers:
        ray.kill(worker.actor)
    ray_pool.__version__ = "9.9"
    others = RayPool(stream.config)
    try:
        wait_for(lambda: others.refresh() or others.workers)
    except BrokerError as error:
        return str(error)
    return ""


def main(folder, reference):
    embedded_source._IMAGES_PER_CALL = 20
    cluster = Cluster(
        initialize_head=True,
        head_node_args=NODE | {"_system_config": ray_pool.SYSTEM},
    )
    for _ in range(2):
        cluster.add_node(**NODE)
    retell(reference, folder)
    taken = kill_coordinators(folder, cluster.address)
    ray_pool.connect(cluster.address)
    with Stream(folder, trainer=RayTrainer) as stream:
        pool = RayPool(stream.config)
        deeds = {
            210: lambda: kill_worker(pool),
            260: lambda: kill_node(cluster, pool),
            320: lambda: cluster.add_node(**NODE),
            360: lambda: kill_worker(pool),
        }
        counts, _ = run(stream, EmbeddedSource(Troubled(deeds), stream, pool))
        stream.finish()
        wait_for(lambda: is_full(pool))
        again, _ = run(stream, EmbeddedSource(Troubled({}), stream, pool))
        found = versions(pool, stream)
        in_use = model_in_use(stream).version
        refused = refusal(pool, stream)
    ray_pool.disconnect()
    cluster.shutdown()
    outcome = {
        "taken_by_killed": taken,
        "taken": taken + counts.taken,
        "troubles": counts.troubles,
        "known": again.known,
        "retries": pool.retries,
        "differing": sorted(differing_tables(reference, folder)),
        "deeds": len(deeds),
        "versions": found,
        "in_use": in_use,
        "refusal": refused,
    }
    sys.stdout.write(json.dumps(outcome))


if __name__ == "__main__":
    ray_pool.set_environment()
    with no_hang():
        if sys.argv[2] == "coordinate":
            coordinate(Path(sys.argv[1]), sys.argv[3], int(sys.argv[4]))
        else:
            main(Path(sys.argv[1]), Path(sys.argv[2]))
            shutil.rmtree(sys.argv[1])
