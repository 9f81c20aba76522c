"""The checks after a kill notice what they are there for; the load sends what it says."""

import io
import shutil
import sqlite3
from contextlib import closing

import numpy as np
import pytest
from digit_folder import SETTINGS, arrivals, make_folder, rows
from folder.story import tell
from PIL import Image

from csim.bench.service.killing import Confirmed
from csim.bench.service.process import ServiceProcess, png_files
from csim.errors import CsimError
from csim.folder.reader import Reader
from csim.folder.stream import Stream
from csim.messages import Named
from csim.web.images import answer

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    """Return a folder with 120 images and an answer; read-only."""
    root = make_folder(tmp_path_factory.mktemp("base") / "stream", SETTINGS)
    with Stream(root, trainer=None) as stream:
        stream.take(arrivals(120))
        tell(root, [Named(1, "heron")])
        stream.attend()
    return root


@pytest.fixture
def folder(base, tmp_path):
    return shutil.copytree(base, tmp_path / "stream")


@pytest.fixture
def decisions(base):
    """Return what the service says about ten images."""
    with Reader(base) as reader:
        found = reader.decisions.of([image.id for image in arrivals(10)])
    return {item_id: answer(row) for item_id, row in found.items()}


def faults(folder, confirmed):
    with Reader(folder) as reader:
        confirmed.compare(reader)
    return confirmed.faults


def change(folder, statement, *values):
    with closing(sqlite3.connect(folder / "stream.db")) as connection, connection:
        connection.execute(statement, values)


def test_what_is_all_there_has_no_fault(folder, decisions):
    confirmed = Confirmed()
    confirmed.add(decisions, {1: "heron"})
    confirmed.add(decisions, {})  # sent again, with the same decisions
    assert faults(folder, confirmed) == []


def test_an_image_that_is_gone_is_noticed(folder, decisions):
    confirmed = Confirmed()
    confirmed.add(decisions, {})
    lost = next(iter(decisions))
    change(folder, "DELETE FROM items WHERE id = ?", lost)
    assert faults(folder, confirmed) == [f"image {lost} is lost"]


@pytest.mark.parametrize("field", ["position", "decision", "class", "score", "model", "time"])
def test_another_decision_for_the_same_image_is_noticed(decisions, field):
    confirmed = Confirmed()
    confirmed.add(decisions, {})
    item_id = next(iter(decisions))
    confirmed.add({item_id: {**decisions[item_id], field: "other"}}, {})
    assert confirmed.faults == [f"image {item_id} has another {field} when it is sent again"]


def test_an_answer_that_is_gone_is_noticed(folder):
    confirmed = Confirmed()
    confirmed.add({}, {1: "heron"})
    change(folder, "UPDATE questions SET status = 'open', class_id = NULL WHERE id = 1")
    assert faults(folder, confirmed) == ["the answer to question 1 is lost"]


def test_an_answer_that_was_never_written_is_noticed(folder):
    confirmed = Confirmed()
    confirmed.add({}, {1: "heron"})
    change(folder, "DELETE FROM inbox")
    assert faults(folder, confirmed) == ["the answer to question 1 is lost"]


def test_an_answer_that_was_taken_twice_is_noticed(folder):
    change(
        folder,
        "INSERT INTO inbox (key, not_before, kind, body, step)"
        " SELECT 'again', not_before, kind, body, step FROM inbox",
    )
    assert faults(folder, Confirmed()) == ["an answer was taken twice"]


def test_an_answer_that_still_waits_is_noticed(folder):
    change(folder, "UPDATE inbox SET step = NULL")
    assert faults(folder, Confirmed()) == ["an answer still waits after a clean stop"]


def test_the_files_of_the_load_are_images_with_known_classes():
    files, names = png_files(30, seed=3)
    assert list(files) == list(names)
    for file in files.values():
        with Image.open(io.BytesIO(file)) as image:
            assert (image.format, np.asarray(image).shape) == ("PNG", (8, 8))
    assert len(set(files.values())) == 30
    assert png_files(30, seed=3)[0] == files != png_files(30, seed=4)[0]


def test_a_service_that_does_not_start_is_an_error(tmp_path):
    with pytest.raises(CsimError, match="must start"):
        ServiceProcess(tmp_path)


def test_the_answer_of_the_story_is_there(base):
    assert rows(base, "SELECT status FROM questions WHERE id = 1") == [("answered",)]
