import gc
import itertools

import numpy as np
import pytest
from digit_folder import arrivals, rows
from folder.in_process import InProcessTrainer
from folder.story import tell
from waiting import no_hang

import csim.folder.run as run_module
from csim.folder.run import run
from csim.folder.stream import Stream
from csim.messages import AddClass, Named
from csim.sources.arrival import Arrival, Trouble


def source(count, first=1):
    return [Arrival(arrival.id, arrival.kept) for arrival in arrivals(count)[first - 1 :]]


def taken(folder):
    found = rows(folder, "SELECT id FROM items WHERE place > 0 ORDER BY place")
    return [item_id for (item_id,) in found]


@pytest.fixture
def stream(folder):
    with Stream(folder, trainer=None) as stream:
        yield stream


def test_all_images_of_a_source_are_taken_in_order(stream, folder):
    counts, is_over = run(stream, source(70))
    assert (counts.taken, counts.known, counts.troubles, is_over) == (70, 0, 0, True)
    assert taken(folder) == [f"image {place}" for place in range(1, 71)]


def test_what_was_taken_before_is_passed_over(stream, folder):
    run(stream, source(30))
    counts, _ = run(stream, source(50))
    assert (counts.taken, counts.known) == (20, 30)
    assert taken(folder) == [f"image {place}" for place in range(1, 51)]


def test_an_id_that_comes_twice_in_one_run_is_one_image(stream, folder):
    counts, _ = run(stream, [*source(10), *source(10), *source(12)])
    assert (counts.taken, counts.known) == (12, 20)
    assert taken(folder) == [f"image {place}" for place in range(1, 13)]


def test_another_image_under_a_known_name_is_counted_and_the_first_one_stays(stream, folder):
    first, second = source(2)
    again = Arrival(first.id, first.picture, is_fresh=True)
    other = Arrival(first.id, second.picture, is_fresh=True)
    unseen = Arrival(first.id, second.picture)  # it changed while nobody watched
    seconds = itertools.count(0, 10)  # the first image is written before the next one comes
    live = [first, None, again, other, unseen]
    counts, _ = run(stream, live, clock=lambda: next(seconds))
    assert (counts.taken, counts.known, counts.troubles) == (1, 2, 1)
    assert counts.last.kind == "name-reused"
    assert taken(folder) == [first.id]
    stream.close()
    assert rows(folder, "SELECT id, kind FROM troubles") == [(first.id, "name-reused")]


def test_a_limit_stops_after_so_many_and_a_later_run_goes_on(stream, folder):
    counts, is_over = run(stream, source(40), limit=15)
    assert (counts.taken, is_over) == (15, False)
    counts, is_over = run(stream, source(40))
    assert (counts.taken, counts.known, is_over) == (25, 15, True)


def test_troubles_are_counted_kept_and_tried_again_next_time(stream, folder):
    mixed = [
        *source(5),
        Trouble("gone.png", "vanished", "there is no such file"),
        Arrival("text.png", b"no image at all"),
        Arrival("array", np.zeros((8, 8), np.uint8)),
    ]
    counts, _ = run(stream, mixed)
    assert (counts.taken, counts.troubles) == (6, 2)
    assert counts.last.id == "text.png"
    stream.attend()
    again, _ = run(stream, mixed)
    assert (again.taken, again.troubles, again.known) == (0, 2, 6)
    stream._log.write_troubles()
    assert rows(folder, "SELECT id, kind FROM troubles ORDER BY id") == [
        ("gone.png", "vanished"),
        ("text.png", "not-an-image"),
    ]
    run(stream, [Arrival("text.png", np.ones((8, 8), np.uint8))])  # mended
    assert rows(folder, "SELECT id FROM troubles") == [("gone.png",)]


def test_the_images_of_a_live_source_share_a_step_until_two_seconds_are_over(stream, folder):
    seconds = iter([0.0, 1.0, 2.1, 10.0, 12.0])  # for the first image of a step, and at each None
    live = [*source(3), None, *source(5, first=4), None, None, *source(6, first=6), None, None]
    run(stream, live, clock=lambda: next(seconds))
    assert taken(folder) == [f"image {place}" for place in range(1, 7)]
    steps = rows(folder, "SELECT position FROM steps WHERE kind = 'observe' ORDER BY step")
    assert steps == [(5,), (6,)]


def test_messages_are_taken_while_images_wait_for_their_step(asked):
    tell(asked, [Named(1, "owl")])
    seen = []

    def live():
        yield from source(202, first=201)
        yield None
        seen.extend(rows(asked, "SELECT status FROM questions WHERE id = 1"))
        yield None

    with Stream(asked, trainer=None) as stream:
        run(stream, live(), clock=lambda: 0.0)
        assert stream.position == 202
    assert seen == [("answered",)]


def test_a_stopped_run_takes_the_images_that_wait(stream, folder):
    counts, is_over = run(
        stream, [*source(3), None, *source(9, first=4)], clock=lambda: 0.0, is_stopped=lambda: True
    )
    assert (counts.taken, is_over) == (3, False)
    assert len(taken(folder)) == 3


def test_whoever_stops_it_finds_all_that_was_given_up_to_there_safe(stream, folder):
    live = [*source(10), None, *source(20, first=11), None, *source(30, first=21)]
    seconds = itertools.count(0, 10)
    counts, is_over = run(
        stream,
        live,
        is_stopped=lambda: len(taken(folder)) >= 20,
        clock=lambda: next(seconds),
    )
    assert (counts.taken, is_over) == (20, False)
    assert len(taken(folder)) == 20


def test_a_stop_is_heard_among_known_images(stream, folder, monkeypatch):
    run(stream, source(5))
    monkeypatch.setattr(run_module, "_ATTEND_SECONDS", 0.0)
    counts, is_over = run(stream, source(5) * 1000, is_stopped=lambda: True)
    assert not is_over
    assert counts.known < 500


def test_a_stop_is_heard_among_broken_images(stream, folder, monkeypatch):
    monkeypatch.setattr(run_module, "_ATTEND_SECONDS", 0.0)
    broken = [Arrival(f"{number}.png", b"no image at all") for number in range(5000)]
    counts, is_over = run(stream, broken, is_stopped=lambda: True)
    assert not is_over
    assert 0 < counts.troubles < 500
    assert rows(folder, "SELECT count(*) FROM troubles") == [(counts.troubles,)]


def test_messages_are_taken_among_known_images(stream, folder, monkeypatch):
    run(stream, source(5))
    monkeypatch.setattr(run_module, "_ATTEND_SECONDS", 0.0)

    def known():
        yield from source(5)
        tell(folder, [AddClass("heron")])
        while not rows(folder, "SELECT step FROM inbox")[0][0]:
            yield from source(5)

    with no_hang():
        run(stream, known())
    assert rows(folder, "SELECT name FROM classes WHERE name = 'heron'") == [("heron",)]


def test_known_images_between_new_ones_do_not_cut_the_batch(stream, folder):
    run(stream, source(5))
    before = rows(folder, "SELECT count(*) FROM steps")[0][0]
    mixed = [arrival for new in source(60, first=6) for arrival in (new, *source(5))]
    run(stream, mixed)
    assert rows(folder, "SELECT count(*) FROM steps")[0][0] == before + 1


class NeverDone:
    """A trainer that never comes to an end."""

    is_done = False

    def __init__(self, _):
        pass

    def begin(self, version):
        pass

    def finish(self):
        raise AssertionError("it never comes to an end")

    def stop(self):
        pass


def test_a_stop_is_heard_while_training_is_awaited_and_nothing_is_lost(due):
    with no_hang(), Stream(due, trainer=NeverDone, is_stopped=lambda: True) as stream:
        counts, is_over = run(stream, source(300), is_stopped=lambda: True)
        assert (stream.position, counts.taken, counts.known) == (230, 30, 200)
        assert stream.finish() == []
    with Stream(due, trainer=InProcessTrainer) as stream:
        counts, is_over = run(stream, source(300))
        assert (counts.taken, counts.known, is_over) == (70, 230, True)
    assert taken(due) == [f"image {place}" for place in range(1, 301)]


def test_an_empty_source_is_fine(stream):
    counts, is_over = run(stream, [])
    assert (counts.taken, is_over) == (0, True)


def test_a_source_that_fails_loses_nothing_of_what_it_gave(folder):
    def broken():
        yield from source(7)
        raise ConnectionError

    with Stream(folder, trainer=None) as stream, pytest.raises(ConnectionError):
        run(stream, broken())
    with Stream(folder, trainer=None) as stream:
        run(stream, source(9))
    assert taken(folder) == [f"image {place}" for place in range(1, 10)]


class Acknowledged:
    """A source that notes what became of its images, and that they are in the folder by then."""

    def __init__(self, found, folder):
        self._found = found
        self._folder = folder
        self.taken = []
        self.troubles = []

    def __iter__(self):
        return iter(self._found)

    def settle(self, taken_ids, troubles):
        assert set(taken_ids) <= set(taken(self._folder))
        self.taken += taken_ids
        self.troubles += [(trouble.id, trouble.kind) for trouble in troubles]


def test_a_source_hears_what_is_safe_and_what_cannot_be_used(stream, folder):
    run(stream, source(3))
    found = [
        *source(5),
        Trouble("gone.png", "vanished", "there is no such file"),
        Arrival("text.png", b"no image at all"),
        *source(6),
    ]
    told = Acknowledged(found, folder)
    run(stream, told)
    assert sorted(set(told.taken)) == sorted(taken(folder))
    assert sorted(told.troubles) == [("gone.png", "vanished"), ("text.png", "not-an-image")]


class SlowTrainer(InProcessTrainer):
    is_done = False


def test_a_source_does_not_hear_of_images_that_a_stop_left_out(due):
    with Stream(due, trainer=SlowTrainer, is_stopped=lambda: True) as stream:
        told = Acknowledged(source(300, first=201), due)
        counts, _ = run(stream, told)
    assert counts.taken == 30  # then it would wait for the model, and is stopped
    assert told.taken == taken(due)[200:]


def test_an_image_that_was_repaired_is_taken_in_the_same_run(stream, folder):
    [good] = source(1)
    seconds = itertools.count(0, 10)
    live = [Arrival(good.id, b"not yet"), None, good]
    counts, _ = run(stream, live, clock=lambda: next(seconds))
    assert (counts.taken, counts.troubles, counts.known) == (1, 1, 0)
    assert taken(folder) == [good.id]


def test_a_run_leaves_the_garbage_collector_as_it_was(folder):
    before = gc.get_freeze_count()
    during = []
    with Stream(folder, trainer=None) as stream:
        run(stream, iter(arrivals(20)), on_batch=lambda _: during.append(gc.get_freeze_count()))
    assert during[-1] > before
    assert gc.get_freeze_count() == before
