import json
from contextlib import closing

import pytest
from digit_folder import arrivals, rows
from folder.story import tell

from csim.folder.database import open_for_reading
from csim.folder.layout import Layout
from csim.folder.lines import FIELDS, lines
from csim.folder.reader import Reader
from csim.folder.stream import Stream
from csim.messages import Named
from csim.records import (
    Accepted,
    Labelled,
    Rejected,
    Revised,
)
from csim.utc import utc

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def told(reference):
    """Return all lines of a stream with everything that a person can say, each with its step."""
    with closing(open_for_reading(Layout(reference).database)) as connection:
        return list(lines(connection))


def names_today(folder):
    names = dict(rows(folder, "SELECT id, name FROM classes"))
    return {
        class_id: names.get(today)
        for class_id, today in rows(folder, "SELECT id, today FROM classes")
    }


def expected(folder):
    """Yield the lines as they follow from items and events, gone through step by step."""
    names = names_today(folder)
    model = 1
    steps = "SELECT step, kind, body, time FROM steps ORDER BY step"
    for step, kind, body, time in rows(folder, steps):
        model = body if kind == "install" else model
        log = []
        query = "SELECT place, id, is_accepted, nearest, score, model FROM items WHERE step = ?"
        for place, item_id, is_accepted, nearest, score, version in rows(folder, query, step):
            decision = "accepted" if is_accepted else "rejected"
            name = names[nearest] if is_accepted else None
            line = (f"{place}", item_id, decision, name, round(score, 6), version, None, place)
            log.append((place, 0, line))
        for number, position, event, text in rows(
            folder, "SELECT number, position, kind, body FROM events WHERE step = ?", step
        ):
            values = json.loads(text)
            if event == "Labelled":
                decision = "told" if values["is_told"] else "labelled"
                found = (decision, names[values["class_id"]], None, model, values["question_id"])
            elif event == "Revised":
                found = (
                    "revised",
                    names[values["after"]] if values["after"] is not None else None,
                    None,
                    model,
                    None,
                )
            else:
                continue
            log.append(
                (position, number, (f"{position}.{number}", values["item_id"], *found, position))
            )
        for _, _, line in sorted(log, key=lambda entry: entry[:2]):
            yield step, (*line, utc(time))


def test_the_lines_say_what_the_events_say(told, reference):
    assert [(step, tuple(line.values())) for step, line in told] == list(expected(reference))
    assert {tuple(line) for _, line in told} == {FIELDS}
    decisions = {line["decision"] for _, line in told}
    assert decisions == {"accepted", "rejected", "told", "labelled", "revised"}


def test_every_image_has_one_line_at_arrival_and_its_number_is_its_own(told, reference):
    arrived = [line["item"] for _, line in told if line["decision"] in ("accepted", "rejected")]
    assert arrived == [
        item_id
        for (item_id,) in rows(reference, "SELECT id FROM items WHERE place > 0 ORDER BY place")
    ]
    assert len({line["line"] for _, line in told}) == len(told)


def test_an_images_last_line_is_the_class_it_has_today(told, reference):
    last = {line["item"]: line["class"] for _, line in told}
    with Reader(reference) as reader:
        for item in reader.items():
            if item.place > 0:
                assert last[item.id] == item.name, item


def test_the_events_lead_to_the_class_that_each_image_has(reference):
    given = {}
    with Reader(reference) as reader:
        for event in reader.history.events():
            if isinstance(event, Accepted | Labelled):
                given[event.item_id] = event.class_id
            elif isinstance(event, Rejected):
                given[event.item_id] = None
            elif (
                isinstance(event, Revised) and event.item_id in given
            ):  # warm-up images have no arrival
                given[event.item_id] = event.after
    assert given == dict(rows(reference, "SELECT id, class_id FROM items WHERE place > 0"))


def test_the_lines_after_a_step_are_the_rest_of_all_lines(told, reference):
    with closing(open_for_reading(Layout(reference).database)) as connection:
        for after in (1, 5, 17, 40, 10**6):
            assert list(lines(connection, after)) == [entry for entry in told if entry[0] > after]


def test_a_folder_in_which_nothing_happened_has_no_lines(base):
    with closing(open_for_reading(Layout(base).database)) as connection:
        assert list(lines(connection)) == []


@pytest.mark.parametrize("moment", ["FROM items", "FROM current_classes", "FROM events"])
def test_lines_can_be_read_while_the_engine_goes_on(asked, moment):
    """Between two queries of a reader, a class is added and given to an image."""
    with (
        Stream(asked, trainer=None) as stream,
        closing(open_for_reading(Layout(asked).database)) as connection,
    ):
        before = list(lines(connection))

        def meanwhile(statement):
            if moment in statement and not rows(asked, "SELECT 1 FROM inbox"):
                tell(asked, [Named(1, "a class that is quite new")])
                stream.take(arrivals(205)[200:])

        connection.set_trace_callback(meanwhile)
        found = list(lines(connection))
        connection.set_trace_callback(None)
        after = list(lines(connection))
    assert rows(asked, "SELECT count(*) FROM inbox WHERE step NOTNULL") == [(1,)]
    assert found in (before, after)  # all of one moment
