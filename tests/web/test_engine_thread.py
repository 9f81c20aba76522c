"""The engine's thread: batches, taking over from another process, stopping, failing."""

import threading
from contextlib import suppress

import pytest
from digit_folder import arrivals, rows
from waiting import wait_for

from csim.errors import FolderError
from csim.folder.stream import Stream
from csim.sources.arrival import Arrival, Decoded, Trouble
from csim.web.engine_thread import EngineThread, NotRunningError, QueueFullError
from csim.web.limits import Limits
from csim.web.source_thread import SourceThread


def pushed(count, start=0):
    return [
        Decoded(image.id, image.image, image.kept, b"print")
        for image in arrivals(start + count)[start:]
    ]


@pytest.fixture
def engine(empty):
    engine = EngineThread(empty, Limits())
    engine.start()
    yield engine
    engine.stop()


def test_what_gathers_is_taken_in_one_step(empty):
    engine = EngineThread(empty, Limits(batch_ms=200, batch_images=40))
    engine.start()
    jobs = [engine.submit(pushed(10, start)) for start in (0, 10, 20, 30)]
    assert [row.place for job in jobs for row in job.result()] == list(range(1, 41))
    engine.stop()
    sizes = [size for (size,) in rows(empty, "SELECT body FROM steps WHERE kind = 'observe'")]
    assert sum(sizes) == 40
    assert len(sizes) < 4


def test_a_step_takes_no_more_than_its_limit(empty):
    engine = EngineThread(empty, Limits(batch_ms=100, batch_images=15))
    engine.start()
    jobs = [engine.submit(pushed(10, start)) for start in (0, 10, 20)]
    for job in jobs:
        job.result()
    engine.stop()
    sizes = [size for (size,) in rows(empty, "SELECT body FROM steps WHERE kind = 'observe'")]
    assert max(sizes) <= 15


def test_a_full_queue_takes_nothing_of_a_request(empty):
    engine = EngineThread(empty, Limits(queue_images=30, request_images=30, batch_ms=1000))
    engine.start()
    first = engine.submit(pushed(20))
    with pytest.raises(QueueFullError, match="20 already do; nothing was taken"):
        engine.submit(pushed(20, 20))
    assert len(first.result()) == 20
    engine.stop()
    assert rows(empty, "SELECT count(*) FROM items WHERE place > 0") == [(20,)]


def test_stopping_finishes_what_was_accepted(empty):
    engine = EngineThread(empty, Limits(batch_ms=1000))
    engine.start()
    job = engine.submit(pushed(30))
    engine.stop()
    assert len(job.result(timeout=0)) == 30
    assert engine.state == "stopped"
    with pytest.raises(NotRunningError, match="stopping"):
        engine.submit(pushed(1, 30))
    with Stream(empty, trainer=None) as stream:  # the folder is free again
        assert stream.position == 30


def test_beside_another_engine_it_waits_and_then_takes_over(empty):
    engine = EngineThread(empty, Limits())
    with Stream(empty, trainer=None):
        engine.start()
        assert engine.state == "waiting"
        with pytest.raises(NotRunningError, match="one engine at a time"):
            engine.submit(pushed(1))
    wait_for(lambda: engine.state == "running")
    assert engine.submit(pushed(1)).result()[0].place == 1
    engine.stop()


def test_a_folder_that_cannot_be_used_is_an_error_at_the_start(tmp_path):
    with pytest.raises(FolderError, match="not a stream folder"):
        EngineThread(tmp_path, Limits()).start()


def test_a_job_that_nobody_waits_for_any_more_is_left_out(empty):
    engine = EngineThread(empty, Limits(batch_ms=300))
    engine.start()
    given_up = engine.submit(pushed(5))
    kept = engine.submit(pushed(5, 5))
    given_up.cancel()
    assert [row.id for row in kept.result()] == [image.id for image in pushed(5, 5)]
    engine.stop()
    assert rows(empty, "SELECT count(*) FROM items WHERE place > 0")[0][0] in (5, 10)


def test_a_source_is_taken_beside_what_clients_send(engine, empty):
    def source():
        for image in arrivals(40):
            yield Arrival(image.id, image.kept)
        yield Arrival("broken", b"no image")

    thread = SourceThread(empty, source(), engine)
    thread.start()
    sent = engine.submit(pushed(20, 60))
    assert len(sent.result()) == 20
    wait_for(lambda: thread.has_ended)
    engine.attend().result()
    engine.attend().result()
    assert rows(empty, "SELECT count(*) FROM items WHERE place > 0") == [(60,)]
    assert rows(empty, "SELECT id, kind FROM troubles") == [("broken", "not-an-image")]
    again = SourceThread(empty, source(), engine)  # what came before is skipped
    again.start()
    wait_for(lambda: again.has_ended)
    engine.attend().result()
    assert rows(empty, "SELECT count(*) FROM items WHERE place > 0") == [(60,)]


def test_troubles_of_a_source_are_counted(engine, empty):
    assert engine.submit_when_free([], [Trouble("x", "empty", "no bytes")])
    engine.attend().result()
    engine.submit(pushed(1)).result()
    assert rows(empty, "SELECT id FROM troubles") == [("x",)]


def test_a_failure_reaches_those_who_wait_and_a_restart_follows(empty, monkeypatch):
    engine = EngineThread(empty, Limits())
    engine.start()
    failing = threading.Event()
    real = Stream.take

    def take(self, images, *more):
        if not failing.is_set():
            failing.set()
            raise FolderError("the disk is gone")
        return real(self, images, *more)

    monkeypatch.setattr(Stream, "take", take)
    with pytest.raises(NotRunningError, match="the disk is gone"):
        engine.submit(pushed(3)).result()
    taken = []

    def is_taken():
        with suppress(NotRunningError):  # until it runs again
            taken.extend(engine.submit(pushed(3)).result())
        return bool(taken)

    wait_for(is_taken)
    assert len(taken) == 3
    engine.stop()
