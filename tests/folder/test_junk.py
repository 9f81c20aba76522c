"""Junk and labels of given images in a stream folder: tables, lines, exports, crashes."""

import shutil
from contextlib import closing

import pytest
from digit_folder import arrivals, crash, make_folder, name_of, rows
from folder.in_process import InProcessTrainer
from folder.story import knowledge, tell
from folder.tables import dump

from csim.export.image_folder import write_images
from csim.export.labels import labels
from csim.export.model import write_model
from csim.folder.database import open_for_reading
from csim.folder.layout import Layout
from csim.folder.lines import lines
from csim.folder.reader import Reader
from csim.folder.status import read_status
from csim.folder.stream import Stream
from csim.messages import Junk, LabelImages, Named, Undo
from csim.records import JUNK

pytestmark = pytest.mark.slow
UNSEEN = ("3", "8")  # digits that a person calls junk


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """A folder whose person calls some digits junk, and labels two images unasked; read-only."""
    root = make_folder(tmp_path_factory.mktemp("junk") / "stream")
    with Stream(root, trainer=InProcessTrainer) as stream:
        for start in range(0, 400, 50):
            stream.take(arrivals(400)[start : start + 50])
            with Reader(root) as reader:
                shown = {q.id: reader.item(q.representative).id for q in reader.questions()}
            names = {question: name_of(item_id) for question, item_id in shown.items()}
            tell(
                root,
                [
                    Junk(question) if name in UNSEEN else Named(question, name)
                    for question, name in names.items()
                ],
            )
            stream.attend()
        free = [item.id for item in stream._engine.discovery.pool.items()][-2:]
        tell(root, [LabelImages((free[0],), "owl"), LabelImages((free[1],), None)])
        stream.finish()
    return root


@pytest.fixture
def folder(told, tmp_path):
    return shutil.copytree(told, tmp_path / "stream")


@pytest.fixture
def reader(told):
    with Reader(told) as reader:
        yield reader


def test_junk_has_no_class_and_is_counted_apart(reader):
    items = [item for item in reader.items() if item.place > 0]
    junk = [item for item in items if item.is_junk]
    assert {item.name for item in junk} == {None}
    status = read_status(reader)
    assert status.junk == len(junk) > 10
    assert status.waiting == sum(item.name is None and not item.is_junk for item in items)
    parts = reader.counts.by_part(3)
    assert sum(part.images for part in parts if part.class_id == JUNK) == len(junk)
    pictured = sum(item.name is not None and item.has_picture for item in reader.items())
    assert reader.counts.pictures(with_class=True) == pictured


def test_labels_that_nobody_asked_for_are_labels_but_not_questions(reader):
    given = [q for q in reader.question_pages.page(None, after=0, most=500) if q.is_given]
    assert [(q.status, q.class_name, q.is_junk) for q in given] == [
        ("answered", "owl", False),
        ("answered", None, True),
    ]
    asked = len(reader.questions(None)) - len(given)
    assert len(reader.history.questions_asked()) == asked
    assert len(reader.history.labels_spent()) == len(reader.questions("answered"))


def test_lines_and_labels_say_junk(told, reader):
    with closing(open_for_reading(Layout(told).database)) as connection:
        last = {line["item"]: line for _, line in lines(connection)}
    for row in labels(reader):
        line = last[row["item"]]
        assert (line["decision"] == "junk") == row["junk"]
        assert line["class"] == row["class"]
        if row["junk"]:
            assert (row["class"], row["decided_by"] == "none") == (None, False)


def test_pictures_of_junk_are_not_exported(reader, tmp_path):
    copied = write_images(reader, tmp_path / "images", every=True)
    assert copied.junk == sum(item.is_junk for item in reader.items())
    assert copied.classes <= len(reader.classes())


def test_the_card_of_a_model_says_which_column_is_junk(reader, tmp_path):
    card = write_model(reader, tmp_path / "model")
    (column,) = [column for column in card["columns"] if column["class_id"] == JUNK]
    assert column["name"] is None
    assert 0 <= column["threshold"] <= 1
    assert "junk" in card["use"][-1]


def test_a_crash_loses_nothing_of_it(folder):
    with Reader(folder) as reader:
        junk = next(q.id for q in reader.questions("answered") if q.is_junk)
    stream = Stream(folder, trainer=InProcessTrainer)
    stream.take(arrivals(420)[400:])
    free = [item.id for item in stream._engine.discovery.pool.items()][-3:]
    tell(folder, [Undo(junk), Junk(junk), LabelImages(tuple(free), None), Undo(junk)])
    stream.attend()
    before = knowledge(stream)
    tables = dump(folder)
    crash(stream)
    with Stream(folder, trainer=InProcessTrainer) as again:
        assert knowledge(again) == before
        assert dump(folder) == tables
    kinds = [refusal for (refusal,) in rows(folder, "SELECT refusal FROM inbox")]
    assert kinds[-4:] == [None] * 4
