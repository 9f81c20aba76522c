import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor, wait

import numpy as np
import pytest
from sources.image_files import encode, noise, save, shades
from waiting import HANG_SECONDS

from csim.errors import SettingsError
from csim.sources import prefetch
from csim.sources.arrival import Arrival, Decoded, Trouble
from csim.sources.decode import decode
from csim.sources.directory import Directory
from csim.sources.prefetch import decoded

SHAPE = (8, 8)


def arrivals(count):
    return [
        Arrival(str(number), np.full((8, 8), number % 256, np.uint8)) for number in range(count)
    ]


def ids(found):
    return [None if one is None else one.id for one in found]


@pytest.mark.parametrize("workers", [1, 2, 5, None])
@pytest.mark.parametrize("ahead", [1, 2, 7, 512])
def test_images_come_in_the_sources_order_and_each_with_its_own_pixels(workers, ahead):
    found = list(decoded(arrivals(300), SHAPE, ahead=ahead, workers=workers))
    assert ids(found) == [str(number) for number in range(300)]
    assert [one.image[0, 0] for one in found] == [number % 256 for number in range(300)]


def test_the_order_holds_when_some_images_take_much_longer():
    large = encode(noise(700, 700, 3))
    small = encode(noise(8, 8))
    source = [Arrival(str(number), large if number % 7 == 0 else small) for number in range(60)]
    assert ids(decoded(source, SHAPE, workers=4)) == [arrival.id for arrival in source]


def test_the_same_comes_out_as_from_a_plain_loop(tmp_path):
    for number in range(50):
        save(encode(noise(9, 9 + number % 3, seed=number)), tmp_path / f"{number}.png")
    save(b"text", tmp_path / "33b.png")
    together = list(decoded(Directory(tmp_path), SHAPE))
    alone = [decode(arrival, SHAPE) for arrival in Directory(tmp_path)]
    assert together == alone
    for one, other in zip(together, alone, strict=True):
        assert isinstance(one, Trouble) or (
            (one.image == other.image).all() and one.kept == other.kept
        )


def test_troubles_of_the_source_and_of_decoding_stand_where_they_happened():
    source = [
        *arrivals(3),
        Trouble("closed", "unreadable", "no"),
        Arrival("text", b"text"),
        Arrival("3", noise(8, 8)),
    ]
    found = list(decoded(source, SHAPE))
    assert ids(found) == ["0", "1", "2", "closed", "text", "3"]
    assert [type(one) for one in found[2:]] == [Decoded, Trouble, Trouble, Decoded]


def test_before_a_none_everything_that_came_before_it_is_given():
    first, second, third = arrivals(3)
    source = iter([first, second, None, None, third, None])
    found = decoded(source, SHAPE)
    assert ids(next(found) for _ in range(4)) == ["0", "1", None, None]
    assert next(source) is third  # nothing beyond the None was asked for
    assert ids(found) == [None]


def test_an_empty_source_gives_nothing():
    assert list(decoded([], SHAPE)) == []


def test_an_error_of_the_source_comes_after_what_came_before_it():
    def failing():
        yield from arrivals(40)
        raise ConnectionResetError("the camera is gone")

    found = decoded(failing(), SHAPE)
    assert ids(next(found) for _ in range(40)) == [str(number) for number in range(40)]
    with pytest.raises(ConnectionResetError, match="the camera is gone"):
        next(found)
    assert list(found) == []


@pytest.mark.parametrize("ahead", [1, 10, 100])
def test_no_more_is_asked_of_the_source_than_allowed(ahead):
    asked = []

    def endless():
        for number in range(10**9):
            asked.append(number)
            yield Arrival(str(number), np.zeros((8, 8), np.uint8))

    found = decoded(endless(), SHAPE, ahead=ahead, workers=3)
    for given in range(1, 400):
        next(found)
        assert len(asked) <= given + ahead + 64  # a finished batch may wait to be read
    found.close()


def decoding_threads():
    return [thread for thread in threading.enumerate() if thread.name.startswith("csim-decode")]


def test_closing_ends_the_threads_and_the_rest_is_not_decoded(monkeypatch):
    begun = []
    is_closed = threading.Event()

    class Pool(ThreadPoolExecutor):
        def shutdown(self, **options):
            is_closed.set()
            super().shutdown(**options)

    def noted(arrival, shape, bits):
        begun.append(arrival)
        if arrival.id != "0":
            is_closed.wait(HANG_SECONDS)
        return decode(arrival, shape, bits)

    monkeypatch.setattr(prefetch, "ThreadPoolExecutor", Pool)
    monkeypatch.setattr(prefetch, "decode", noted)
    found = decoded(arrivals(400), SHAPE, workers=2)
    next(found)
    assert decoding_threads()
    found.close()
    assert not decoding_threads()
    assert len(begun) <= 4  # the first, and the one that each of three threads was at


def test_the_threads_end_with_the_source_and_with_its_error():
    list(decoded(arrivals(100), SHAPE))
    assert not decoding_threads()
    with pytest.raises(ZeroDivisionError):
        list(decoded((1 / 0 for _ in range(3)), SHAPE))
    assert not decoding_threads()


def test_one_that_is_never_read_leaves_no_threads():
    decoded(arrivals(3), SHAPE)
    assert not decoding_threads()


@pytest.mark.parametrize("wrong", [{"ahead": 0}, {"workers": 0}, {"ahead": -3}])
def test_numbers_below_one_are_refused_at_once(wrong):
    with pytest.raises(SettingsError, match="at least 1"):
        decoded([], SHAPE, **wrong)


class QuickPool(ThreadPoolExecutor):
    """Threads that have decoded what they are given before the source is asked for more."""

    def submit(self, *work):
        future = super().submit(*work)
        wait([future])
        return future


def test_a_slow_source_is_not_waited_for_once_images_are_ready(monkeypatch):
    asked = []

    def slow():
        for arrival in arrivals(80):
            asked.append(arrival)
            yield arrival

    monkeypatch.setattr(prefetch, "ThreadPoolExecutor", QuickPool)
    waiting = [len(asked) - given for given, _ in enumerate(decoded(slow(), SHAPE), 1)]
    assert max(waiting) < 40  # a full batch would be 64


def test_thumbnails_are_decoded_by_one_thread(monkeypatch):
    decoders = Counter()

    def noted(arrival, shape, bits):
        decoders[threading.get_ident()] += 1
        return decode(arrival, shape, bits)

    monkeypatch.setattr(prefetch, "decode", noted)
    monkeypatch.setattr(prefetch, "ThreadPoolExecutor", QuickPool)
    monkeypatch.setattr(prefetch.time, "thread_time", lambda: 0.0)  # no image takes long
    thumbnail = encode(shades(28, 28))
    assert (
        sum(1 for _ in decoded([Arrival(str(number), thumbnail) for number in range(1500)], SHAPE))
        == 1500
    )
    assert max(decoders.values()) >= 1499  # the first came before it was known how long one takes
    assert threading.get_ident() not in decoders
