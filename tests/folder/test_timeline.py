import sqlite3
from contextlib import closing

from digit_folder import arrivals, rows

import csim.records as r
from csim.folder import inbox
from csim.folder.layout import Layout
from csim.folder.reader import Reader
from csim.folder.stream import Stream
from csim.folder.timeline import Sums, add
from csim.messages import Named


def test_the_sums_of_a_minute_are_those_of_its_events(asked):
    with Stream(asked, trainer=None, clock=lambda: 600.0) as stream:
        inbox.post(stream._connection, [Named(1, "owl")])
        events = stream.take(arrivals(230)[200:])
    revised = sum(isinstance(event, r.Revised) for event in events)
    accepted = sum(isinstance(event, r.Accepted) for event in events)
    with Reader(asked) as reader:
        assert reader.timeline.parts(10, 1, 2) == [Sums(30, accepted, revised, 1, 1), Sums()]
        assert reader.timeline.first_minute() == 10


def test_all_minutes_together_hold_what_the_tables_count(reference):
    found = rows(reference, "SELECT sum(images), sum(accepted), sum(classes) FROM timeline")
    images = rows(reference, "SELECT count(*), sum(is_accepted) FROM items WHERE place > 0")
    classes = rows(reference, "SELECT count(*) FROM classes WHERE today = id")
    assert found == [(*images[0], classes[0][0])]


def test_an_event_without_a_sum_adds_no_row(asked):
    before = rows(asked, "SELECT * FROM timeline")
    with closing(sqlite3.connect(Layout(asked).database)) as connection, connection:
        add(connection, [r.Skipped(1, 1)], 60.0)
    assert rows(asked, "SELECT * FROM timeline") == before
