import io
import sqlite3
from contextlib import closing

import numpy as np
import pytest
from digit_folder import arrivals, rows
from PIL import Image

from csim.errors import FolderError, QuestionError, StorageError
from csim.folder.layout import Layout
from csim.folder.query import Query
from csim.folder.reader import Reader
from csim.folder.stream import Stream
from csim.records import Accepted, Asked, Rejected, Retrained

pytestmark = pytest.mark.slow


@pytest.fixture
def reader(reference):
    with Reader(reference) as reader:
        yield reader


def class_today(folder):
    """Return each class id's class of today."""
    return dict(rows(folder, "SELECT id, today FROM classes"))


def test_classes_are_those_of_today_with_counts_that_add_up(reader, reference):
    today = class_today(reference)
    names = dict(rows(reference, "SELECT id, name FROM classes"))
    placed = rows(
        reference, "SELECT place, class_id, is_told FROM items WHERE class_id IS NOT NULL"
    )
    found = {entry.id: entry for entry in reader.classes()}
    assert list(found) == sorted({current for current in today.values() if current is not None})
    for current, entry in found.items():
        here = [
            (place, is_told) for place, class_id, is_told in placed if today[class_id] == current
        ]
        assert entry.name == names[current]
        assert entry.images == sum(place > 0 for place, _ in here)
        assert entry.told == sum(is_told for _, is_told in here)
    (learned,) = rows(reference, "SELECT class_ids FROM models ORDER BY version DESC LIMIT 1")[0]
    for current, entry in found.items():
        assert entry.is_learned == (str(current) in learned.strip("[]").split(", "))


def test_the_classes_are_those_that_the_engine_has(reference, reader):
    with Stream(reference, trainer=None) as stream:
        assert {
            entry.id: entry.name for entry in reader.classes()
        } == stream._engine.dialogue.catalogue.names()


def test_questions_are_found_by_status_and_add_up(reader, reference):
    everything = reader.questions(None)
    assert [question.id for question in everything] == [
        question_id for (question_id,) in rows(reference, "SELECT id FROM questions ORDER BY id")
    ]
    for status in {question.status for question in everything}:
        of_it = reader.questions(status)
        assert of_it == [question for question in everything if question.status == status]
        assert reader.count(status) == len(of_it)
    assert reader.count("no such status") == 0
    for question in everything:
        assert question.representative in question.members
        assert (question.name is None) or question.status == "answered"


def test_a_question_that_was_never_asked_is_said(reader):
    with pytest.raises(
        QuestionError, match=rf"no question has the id 999; {reader.count('open')} are open"
    ):
        reader.question(999)


def test_images_come_in_order_with_the_class_they_have_today(reader, reference):
    names = dict(rows(reference, "SELECT id, name FROM classes"))
    today = class_today(reference)
    found = list(reader.items())
    assert [item.place for item in found] == sorted(item.place for item in found)
    raw = dict(rows(reference, "SELECT place, class_id FROM items"))
    for item in found:
        class_id = raw[item.place]
        assert item.name == (None if class_id is None else names.get(today[class_id]))
    assert found[0] == reader.item(found[0].place)
    assert found[-1] == reader.item(420)


def test_a_picture_is_the_very_file(reader):
    files = {arrival.id: arrival.kept for arrival in arrivals(420)}
    with_picture = [item for item in reader.items() if item.place > 0 and item.has_picture]
    assert with_picture
    for item in with_picture[::10]:
        assert reader.picture(item.place) == files[item.id]
    without = next(item for item in reader.items() if not item.has_picture)
    assert reader.picture(without.place) is None
    assert reader.picture(10**6) is None


def test_the_events_are_all_that_happened_in_order(reader, reference):
    events = reader.history.events()
    arrived = [event for event in events if isinstance(event, Accepted | Rejected)]
    assert [event.item_id for event in arrived] == [f"image {place}" for place in range(1, 421)]
    assert len(events) == 420 + rows(reference, "SELECT count(*) FROM events")[0][0]
    assert [event.position for event in events] == sorted(event.position for event in events)
    versions = [event.model for event in events if isinstance(event, Retrained)]
    assert versions == [
        v for (v,) in rows(reference, "SELECT version FROM models ORDER BY version")
    ]
    now = 0
    for event in events:  # every image was decided about by the model in use
        if isinstance(event, Retrained):
            now = event.model
        if isinstance(event, Accepted | Rejected):
            assert event.model == now


def test_the_images_of_a_question_are_decoded_from_their_pictures(reader):
    images = {arrival.id: arrival.image for arrival in arrivals(420)}
    asked = [event.question for event in reader.history.events() if isinstance(event, Asked)]
    for question in asked:
        kept = reader.picture(question.representative.position)
        assert kept is not None  # of every image that a person was asked about
        assert (
            np.asarray(Image.open(io.BytesIO(kept))) == images[question.representative.id]
        ).all()
        assert (question.representative.image == images[question.representative.id]).all()


def test_a_reader_sees_each_new_step_while_the_engine_runs(asked):
    with Reader(asked) as reader, Stream(asked, trainer=None) as stream:
        for until in (210, 220, 230):
            stream.take(arrivals(until)[stream.position :])
            assert reader.counts.images() == reader.history.position() == until


def test_a_reader_cannot_write(asked):
    with (
        closing(Query(Layout(asked).database)) as query,
        pytest.raises(StorageError, match="readonly"),
    ):
        query.rows("DELETE FROM items")


def test_what_is_no_stream_folder_is_refused(tmp_path):
    with pytest.raises(FolderError, match="is not a stream folder"):
        Reader(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_page_is_said_when_it_is_met(asked):
    path = Layout(asked).database
    with closing(sqlite3.connect(path)) as connection:
        (root,) = connection.execute(
            "SELECT rootpage FROM sqlite_master WHERE name = 'items'"
        ).fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    content = bytearray(path.read_bytes())
    content[(root - 1) * size : root * size] = b"\xff" * size
    path.write_bytes(content)
    with (
        Reader(asked) as reader,
        pytest.raises(FolderError, match=r"stream\.db is damaged .*backup"),
    ):
        list(reader.items())
