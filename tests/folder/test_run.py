import numpy as np
import pytest
from digit_folder import arrivals, rows

from csim.folder.run import run
from csim.folder.stream import Stream
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


def test_when_nothing_new_comes_what_has_come_is_taken_at_once(stream, folder):
    seen = []
    run(
        stream,
        [*source(3), None, *source(5, first=4), None, None],
        on_batch=lambda counts: seen.append(counts.taken),
    )
    assert seen[:2] == [3, 5]
    assert taken(folder) == [f"image {place}" for place in range(1, 6)]


def test_whoever_stops_it_finds_all_that_was_given_up_to_there_safe(stream, folder):
    live = [*source(10), None, *source(20, first=11), None, *source(30, first=21)]
    counts, is_over = run(stream, live, is_stopped=lambda: len(taken(folder)) >= 20)
    assert (counts.taken, is_over) == (20, False)
    assert len(taken(folder)) == 20


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
