"""A folder that is moved or replaced while its engine runs: what takes its place stays whole."""

import shutil

import pytest
from digit_folder import arrivals, rows
from folder.tables import files
from waiting import wait_for

from csim.errors import FolderError
from csim.folder.copy import copy_folder
from csim.folder.layout import Layout
from csim.folder.stream import Stream
from csim.sources.arrival import Trouble

MOVED = "must stay where it is while it runs"


@pytest.fixture
def swap(asked, tmp_path):
    """Return a function that moves the folder away and puts a backup into its place."""
    copy_folder(asked, tmp_path / "backup")

    def do():
        asked.rename(tmp_path / "moved")
        (tmp_path / "backup").rename(asked)
        return files(asked)

    return do


def make_snapshot_due(stream):
    stream._snapshots._last_end = -1e9


def test_an_engine_stops_before_it_touches_a_folder_put_in_place_of_its_own(asked, swap, tmp_path):
    stream = Stream(asked, trainer=None)
    stream.take(arrivals(210)[200:])
    before = swap()
    make_snapshot_due(stream)
    with pytest.raises(FolderError, match=MOVED):
        stream.take(arrivals(220)[210:])
    with pytest.raises(FolderError, match=MOVED):
        stream.close()
    assert files(asked) == before
    with Stream(asked, trainer=None) as restored:
        assert (restored.position, restored.problems) == (200, [])
    with Stream(tmp_path / "moved", trainer=None) as again:
        assert (again.position, again.problems) == (210, [])


def test_a_folder_swapped_while_a_snapshot_is_written_loses_no_file(asked, swap, monkeypatch):
    stream = Stream(asked, trainer=None)
    seen = []
    record = stream._snapshots._record

    def record_and_swap(*args):
        record(*args)
        seen.append(swap())

    monkeypatch.setattr(stream._snapshots, "_record", record_and_swap)
    make_snapshot_due(stream)
    with pytest.raises(FolderError, match=MOVED):
        stream.take(arrivals(210)[200:])
    assert [files(asked)] == seen
    stream._resources.close()


def test_an_idle_engine_notices_too(asked, swap):
    stream = Stream(asked, trainer=None)
    before = swap()
    with pytest.raises(FolderError, match=MOVED):
        stream.attend()
    stream.close()
    assert files(asked) == before


def test_the_log_of_another_engine_survives_the_end_of_the_first(asked, swap, tmp_path):
    first = Stream(asked, trainer=None)
    first.take(arrivals(210)[200:])
    swap()
    with Stream(asked, trainer=None) as second:
        second.take(arrivals(215)[200:])
        with pytest.raises(FolderError, match=MOVED):
            first.close()
        second.take(arrivals(230)[215:])
        shutil.copytree(asked, tmp_path / "as after a kill")
    for folder in (asked, tmp_path / "as after a kill"):
        with Stream(folder, trainer=None) as again:
            assert again.position == 230


def test_a_lost_lock_file_stops_the_engine_because_another_one_could_start(asked):
    stream = Stream(asked, trainer=None)
    Layout(asked).lock.unlink()
    with pytest.raises(FolderError, match=MOVED):
        stream.take(arrivals(210)[200:])
    stream.close()
    with Stream(asked, trainer=None) as again:
        assert again.position == 200


def test_a_folder_that_was_moved_and_moved_back_goes_on(asked, tmp_path):
    with Stream(asked, trainer=None) as stream:
        asked.rename(tmp_path / "elsewhere")
        (tmp_path / "elsewhere").rename(asked)
        stream.take(arrivals(210)[200:])
    assert rows(asked, "SELECT max(place) FROM items") == [(210,)]


@pytest.mark.slow
def test_a_trainer_writes_nothing_into_the_folder_put_in_place(due, tmp_path):
    copy_folder(due, tmp_path / "backup")
    before = files(tmp_path / "backup")
    stream = Stream(due)
    due.rename(tmp_path / "moved")
    (tmp_path / "backup").rename(due)
    wait_for(lambda: stream._training._trainer.is_done)
    assert Layout(tmp_path / "moved").model(2).exists()
    with pytest.raises(FolderError, match=MOVED):
        stream.finish()
    stream.close()
    assert files(due) == before


def test_unreadable_files_are_counted_when_nothing_else_comes(asked):
    with Stream(asked, trainer=None) as stream:
        stream.note(Trouble("gone.png", "vanished", "there is no such file"))
        stream.attend()
        assert rows(asked, "SELECT id FROM troubles") == [("gone.png",)]
