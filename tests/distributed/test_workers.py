"""Plain workers that share a Redis stream, and one run that takes what they made."""

import itertools
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from digit_folder import arrivals, rows
from distributed.redis_server import RedisServer
from distributed.test_redis_source import add, ids, image_ids, run_until, taken, waiting
from folder.in_process import InProcessTrainer
from folder.story import IMAGES, retell, run_reference
from folder.test_frozen import colour, make_colour
from tiny_encoder import counting, write_encoder
from waiting import no_hang, wait_for

import csim
import csim.distributed.model_board as model_board
import csim.distributed.worker_board as worker_board
from csim.distributed.consumer_group import Entry
from csim.distributed.redis_worker import RedisWorker
from csim.distributed.view_message import from_fields, to_fields
from csim.distributed.view_source import ViewSource
from csim.errors import BrokerError
from csim.folder.audit import differing_tables
from csim.folder.run import run
from csim.folder.stream import Stream
from csim.folder.workers import Workers
from csim.records import View
from csim.sources.arrival import Decoded, Trouble
from csim.threads import one_thread


def view_source(server, name, stream, **options):
    return ViewSource(server.broker(name), stream, group="csim", consumer="run", **options)


def worker(server, name, consumer="one", **options):
    return RedisWorker(server.broker(name), consumer=consumer, **options)


def take(source, count):
    """Return the next images of a source."""
    with no_hang():
        return list(itertools.islice(filter(None, source), count))


def work(*workers, times=1):
    """Let workers take turns."""
    for worker in [*workers] * times:
        worker._work()


@pytest.fixture
def stream(folder):
    with Stream(folder, trainer=None) as stream:
        yield stream


@pytest.mark.parametrize(
    "found",
    [
        Trouble("a", "damaged", "it ends too soon"),
        Decoded(
            "a",
            np.arange(64, dtype=np.uint8).reshape(8, 8),
            b"png",
            source_name="pond",
            view=View(np.arange(3, dtype=np.float32), np.ones(2, np.float32), 7),
        ),
    ],
)
def test_what_a_worker_says_comes_back(found):
    entry = Entry("5-1", {b"id": b"a", b"image": b"bytes"})
    fields = {
        key: str(value).encode() if not isinstance(value, bytes) else value
        for key, value in to_fields(entry, found).items()
    }
    again = from_fields(Entry("9-0", fields), (8, 8))
    assert again == found
    if isinstance(found, Decoded):
        assert again.source_name == "pond"
        assert again.view.model == 7
        assert again.view.vector.tobytes() == found.view.vector.tobytes()
        assert isinstance(from_fields(Entry("9-0", fields), (9, 9)), Trouble)
    else:
        assert fields[b"image"] == b"bytes"  # for the dead letters


def test_a_worker_waits_until_a_run_has_published_its_model(server, name, stream):
    add(server, name, 3)
    early = worker(server, name)
    work(early)
    assert early.embedded == 0
    source = view_source(server, name, stream)
    assert waiting(source) == []
    work(early, times=3)
    assert early.embedded == 3
    found = take(source, 3)
    assert ids(found) == image_ids(1, 3)
    assert all(image.view.model == 1 for image in found)
    assert waiting(source) == []
    assert server.client().xlen(name) == 0


def test_results_are_taken_in_the_order_of_the_stream(server, name, stream, folder):
    add(server, name, 60)
    source = view_source(server, name, stream)
    waiting(source)
    slow = worker(server, name, "slow")
    fast = worker(server, name, "fast")
    held = slow._reader.next()  # the slow one has the first image, and nothing to show yet
    work(fast, times=8)
    assert fast.embedded == 59
    assert not any(itertools.islice(source, 20))
    assert slow._has_model()
    slow._publish(*slow._embed(held))
    counts = run_until(stream, source, 60)
    assert counts.taken == 60
    assert taken(folder) == image_ids(1, 60)
    assert server.client().xlen(f"{name}:views") == 0


def test_a_run_that_starts_again_takes_what_it_had_not_committed(server, name, stream):
    add(server, name, 20)
    source = view_source(server, name, stream)
    waiting(source)
    work(worker(server, name), times=6)
    first = take(source, 20)
    assert ids(first) == image_ids(1, 20)
    source.settle([*image_ids(1, 5), "image 20"], [])
    again = view_source(server, name, stream)
    assert ids(take(again, 14)) == image_ids(6, 19)


def test_images_of_a_dead_worker_are_embedded_by_another_even_if_results_pile_up(
    server, name, stream
):
    add(server, name, 40)
    source = view_source(server, name, stream)
    waiting(source)
    dead = worker(server, name, "dead")
    assert len(dead._reader.next()) == 1
    heir = worker(server, name, "heir", claim_after=0.01, most=10)
    with no_hang():
        found = []
        while len(found) < 40:
            work(heir)
            found += waiting(source)
            source.settle(ids(found), [])
    assert ids(found) == image_ids(1, 40)


def test_workers_pause_while_results_pile_up(server, name, stream):
    add(server, name, 40)
    waiting(view_source(server, name, stream))
    busy = worker(server, name, most=10)
    work(busy, times=10)
    assert 10 <= server.client().xlen(f"{name}:views") < 40
    assert server.client().xlen(name) > 0


def test_what_a_worker_cannot_use_goes_to_the_dead_letters_with_its_bytes(
    server, name, stream, tmp_path
):
    client = server.client()
    client.xadd(name, {"id": "text", "image": "just text"})
    client.xadd(name, {"id": "late", "path": "late.png", "sha256": "0"})
    add(server, name, 2)
    source = view_source(server, name, stream)
    waiting(source)
    busy = worker(server, name, files=tmp_path, claim_after=0.01)
    with no_hang():
        while busy.embedded < 4:
            work(busy)
    assert run_until(stream, source, 4).troubles == 2
    letters = {fields[b"id"]: fields for _, fields in client.xrange(f"{name}:dead")}
    assert letters[b"text"][b"image"] == b"just text"
    assert letters[b"late"][b"kind"] == b"vanished"


def test_the_run_knows_its_workers_and_what_waits_for_them(server, name, stream, monkeypatch):
    add(server, name, 30)
    source = view_source(server, name, stream)
    assert source.describe() == Workers((), lag=30, retries=0)
    waiting(source)
    heir = worker(server, name, "heir")
    work(heir, worker(server, name, "other"), times=2)
    heir._reader.retries = 2
    heir._workers._announce_at = 0  # it speaks every few seconds
    work(heir)
    found = source.describe()
    assert [(row.name, row.csim, row.model) for row in found.workers] == [
        ("heir", csim.__version__, 1),
        ("other", csim.__version__, None),  # it had none yet when it spoke last
    ]
    assert (found.lag, found.retries) == (30, 2)  # none is in the folder yet
    source.settle(ids(take(source, 3)), [])
    assert source.describe().lag == 27
    monkeypatch.setattr(worker_board, "_ALIVE_SECONDS", -1)
    assert source.describe().workers == ()  # nobody was heard of lately
    monkeypatch.setattr(worker_board, "_FORGET_SECONDS", -1)
    source.describe()
    assert not server.client().exists(f"{name}:workers")


def test_a_worker_of_another_version_is_refused(server, name, stream, monkeypatch):
    waiting(view_source(server, name, stream))
    monkeypatch.setattr(model_board, "__version__", "9.9")
    with pytest.raises(BrokerError, match=r"must have the same version, this is csim 9\.9"):
        work(worker(server, name))


@pytest.mark.slow
def test_a_new_model_reaches_the_workers_while_the_stream_runs(server, name, base, tmp_path):
    reference = run_reference(shutil.copytree(base, tmp_path / "reference"))
    folder = retell(reference, shutil.copytree(base, tmp_path / "stream"))
    add(server, name, IMAGES)
    is_over = threading.Event()
    busy = [worker(server, name, consumer, most=60) for consumer in ("one", "two")]
    helpers = [
        threading.Thread(target=one.run, args=(is_over.is_set,), daemon=True) for one in busy
    ]
    # Worker and engine share this process: one would lift the other's limit of one thread.
    with Stream(folder, trainer=InProcessTrainer) as stream, no_hang(), one_thread():
        for helper in helpers:
            helper.start()
        run(stream, view_source(server, name, stream), limit=IMAGES)
        published = int(server.client().hget(f"{name}:model", "version"))
        assert published > 1
        wait_for(lambda: all(one._model.version == published for one in busy))
        stream.finish()
        is_over.set()
        for helper in helpers:
            helper.join()
    assert differing_tables(reference, folder) == set()
    versions = rows(folder, "SELECT DISTINCT model FROM items WHERE place > 0 ORDER BY model")
    assert len(versions) > 1
    installed = dict(rows(folder, "SELECT version, installed_at FROM models"))
    for version, first, last in rows(
        folder, "SELECT model, min(place), max(place) FROM items WHERE place > 0 GROUP BY model"
    ):
        assert first > installed[version]
        assert last <= installed.get(version + 1, IMAGES)  # none after the next one took over


def test_a_frozen_encoder_in_workers_sends_no_pixels_and_gives_the_same_events(
    server, name, tmp_path
):
    encoder = write_encoder(tmp_path / "pixels.onnx")
    reference = make_colour(tmp_path / "reference", encoder)
    folder = shutil.copytree(reference, tmp_path / "stream")
    with Stream(reference, trainer=None) as stream:
        stream.take(colour(60))
    add(server, name, 60)
    with Stream(folder, trainer=None) as stream:
        source = view_source(server, name, stream)
        waiting(source)
        busy = worker(server, name)
        with no_hang():
            while busy.embedded < 60:
                work(busy)
        views = server.client().xrange(f"{name}:views")
        assert {fields[b"pixels"] for _, fields in views} == {b""}
        with counting() as passes:
            assert run_until(stream, source, 60).taken == 60
        assert passes == []  # the run itself embeds nothing
    assert differing_tables(reference, folder) == set()


def start(*arguments):
    return subprocess.Popen(
        [sys.executable, "-m", "csim", *map(str, arguments)], stderr=subprocess.DEVNULL
    )


@pytest.mark.slow
@pytest.mark.long
def test_workers_run_and_server_that_are_killed_cost_no_image(base, tmp_path):
    """Kill everything at random moments; the events are those of one calm process."""
    seed = int(os.environ.get("CSIM_KILL_SEED", "5"))
    rng = random.Random(seed)  # noqa: S311
    reference = run_reference(shutil.copytree(base, tmp_path / "reference"))
    folder = retell(reference, shutil.copytree(base, tmp_path / "stream"))
    (tmp_path / "redis").mkdir()
    server = RedisServer(tmp_path / "redis")
    url = server.url("pond")
    add(server, "pond", IMAGES)
    commands = {
        "one": ("worker", url, "--claim-after", 1),
        "two": ("worker", url, "--claim-after", 1),
        "run": ("run", folder, url, "--from-workers", "--out", server.url("out")),
    }
    running = {name: start(*command) for name, command in commands.items()}
    victims = ["one", "server", "run", "two", "run", "server"]
    with no_hang():
        for victim in victims:
            progress = server.client().xlen("out")
            if progress < IMAGES:
                wait_for(lambda before=progress: server.client().xlen("out") > before)
            time.sleep(rng.uniform(0, 0.5))
            if victim == "server":
                server.kill()
                server.start()
                continue
            running[victim].send_signal(signal.SIGKILL)
            running[victim].wait()
            running[victim] = start(*commands[victim])
        wait_for(lambda: len(taken(folder)) == IMAGES and not server.client().xlen("pond:views"))
    for process in running.values():
        process.send_signal(signal.SIGTERM)
        process.wait()
    with Stream(folder) as stream:
        stream.finish()
    assert taken(folder) == [arrival.id for arrival in arrivals(IMAGES)]
    assert differing_tables(reference, folder) == set()
    assert server.client().xlen("pond") == 0
    lines = [entry_id for entry_id, _ in server.client().xrange("out")]
    assert len(lines) == len(set(lines)) >= IMAGES
    server.stop()
