"""Events since an event: all of them once, in an order that never changes."""

import pytest
from digit_folder import rows

from csim.errors import InputError
from csim.folder.feed import START, EventId
from csim.folder.reader import Reader


def test_the_feed_has_every_arrival_and_every_event_in_order(reference):
    with Reader(reference) as reader:
        events = reader.feed.after(START, 100_000)
    assert [event.id for event in events] == sorted(event.id for event in events)
    arrivals = [event for event in events if event.id.number == 0]
    others = [event.id.number for event in events if event.id.number]
    count = rows(reference, "SELECT count(*) FROM items WHERE place > 0")[0][0]
    assert [event.body["position"] for event in arrivals] == list(range(1, count + 1))
    assert others == [number for (number,) in rows(reference, "SELECT number FROM events")]


@pytest.mark.parametrize("most", [1, 7, 100])
def test_reading_some_at_a_time_gives_the_same_events(asked, most):
    with Reader(asked) as reader:
        everything = reader.feed.after(START, 100_000)
        found = []
        last = START
        while some := reader.feed.after(last, most):
            assert len(some) <= most
            found += some
            last = some[-1].id
        assert found == everything
        assert reader.feed.last() == everything[-1].id
        assert reader.feed.after(reader.feed.last(), 10) == []


def test_an_arrival_says_what_was_decided(asked):
    with Reader(asked) as reader:
        events = reader.feed.after(START, 100_000)
    accepted = next(event for event in events if event.kind == "Accepted")
    assert set(accepted.body) == {"position", "item_id", "class_id", "score", "model"}
    rejected = next(event for event in events if event.kind == "Rejected")
    assert set(rejected.body) == {"position", "item_id", "nearest", "score", "model"}
    assert accepted.time is not None


def test_an_id_reads_as_it_is_written():
    assert str(EventId.parse("12.340.5")) == "12.340.5"
    for text in ("", "1", "1.2", "1.2.3.4", "a.b.c", "1.2.-3", "1..2", "１.2.3"):
        with pytest.raises(InputError, match="three numbers"):
            EventId.parse(text)
