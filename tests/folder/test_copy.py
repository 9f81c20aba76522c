import shutil
import threading
from contextlib import suppress

import pytest
from digit_folder import arrivals, rows
from folder.story import knowledge, tell
from folder.tables import dump, files, tables
from waiting import wait_for

from csim.errors import FolderError, StorageError
from csim.folder.copy import copy_folder
from csim.folder.jobs import train
from csim.folder.layout import Layout
from csim.folder.output import Output
from csim.folder.stream import Stream
from csim.records import AddClass


def test_a_copy_of_a_folder_at_rest_has_all_of_it(asked, tmp_path):
    size = copy_folder(asked, tmp_path / "to" / "copy")
    copy = tmp_path / "to" / "copy"
    assert dump(copy) == dump(asked)
    ours = files(copy)
    theirs = files(asked)
    assert {name: ours[name] for name in ours if name != "stream.db"} == {
        name: theirs[name] for name in theirs if name != "stream.db"
    }
    assert size == sum(file.stat().st_size for file in copy.rglob("*") if file.is_file())
    assert [left.name for left in copy.parent.iterdir()] == ["copy"]


def test_copies_taken_while_the_stream_runs_open_and_go_on_to_the_same_end(folder, tmp_path):
    images = arrivals(300)
    is_over = threading.Event()
    copies = []

    def run():
        with Stream(folder, trainer=None) as stream:
            for start in range(0, len(images), 5):
                if start % 20 == 0:
                    stream._snapshots._last_end = -100  # a snapshot is due: older files go
                stream.take(images[start : start + 5])
                if start in (100, 200):  # let two copies end, of which one began here
                    ended = len(copies)
                    wait_for(lambda ended=ended: len(copies) >= ended + 2)
        is_over.set()

    runner = threading.Thread(target=run)
    runner.start()
    while runner.is_alive():
        with suppress(FolderError):  # on a busy machine it may change five times while it is copied
            copy_folder(folder, tmp_path / str(len(copies)))
            copies.append(tmp_path / str(len(copies)))
    assert is_over.is_set()
    begun = []
    for copy in copies[:: max(1, len(copies) // 4)]:
        with Stream(copy, trainer=None) as stream:
            assert stream.problems == []
            begun.append(stream.position)
            stream.take(images[stream.position :])
        assert tables(copy) == tables(folder)
    assert len(set(begun)) > 1
    assert begun == sorted(begun)


def test_a_copy_replays_what_came_after_its_last_snapshot(asked, tmp_path):
    stream = Stream(asked, trainer=None)
    stream._snapshots._last_end = float("inf")
    stream.take(arrivals(240)[200:])
    tell(asked, [AddClass("waits")], not_before=300)
    copy_folder(asked, tmp_path / "copy")
    before = knowledge(stream)
    stream.close()
    with Stream(tmp_path / "copy", trainer=None) as again:
        assert knowledge(again) == before
    assert rows(tmp_path / "copy", "SELECT kind, step FROM inbox") == [("AddClass", None)]


def test_a_copy_can_do_the_training_that_was_under_way(due, tmp_path):
    copy_folder(due, tmp_path / "copy")
    train(Layout(tmp_path / "copy"), 2)
    with Stream(tmp_path / "copy") as stream:
        stream.finish(ask=False)
    assert rows(
        tmp_path / "copy", "SELECT max(version) FROM models WHERE installed_at NOTNULL"
    ) == [(2,)]


def test_a_copy_has_written_no_output_yet(asked, tmp_path):
    output = Output(Layout(asked).database, tmp_path / "out.jsonl", None)
    output.catch_up()
    output.close()
    assert rows(asked, "SELECT count(*) FROM outputs") == [(1,)]
    copy_folder(asked, tmp_path / "copy")
    assert rows(tmp_path / "copy", "SELECT count(*) FROM outputs") == [(0,)]
    assert rows(asked, "SELECT count(*) FROM outputs") == [(1,)]


def test_what_is_there_already_is_not_overwritten(asked, tmp_path):
    (tmp_path / "mine").write_text("mine")
    for target in (tmp_path / "mine", asked):
        with pytest.raises(FolderError, match="must not exist yet"):
            copy_folder(asked, target)
    assert (tmp_path / "mine").read_text() == "mine"


def test_what_is_no_stream_folder_is_refused(tmp_path):
    with pytest.raises(FolderError, match="is not a stream folder"):
        copy_folder(tmp_path / "nothing", tmp_path / "copy")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_lacks_a_file_it_needs_is_not_copied(asked, tmp_path):
    Layout(asked).model(1).unlink()
    with pytest.raises(FolderError, match="try again"):
        copy_folder(asked, tmp_path / "copy")
    assert not (tmp_path / "copy").exists()
    assert [left.name for left in tmp_path.iterdir()] == ["asked"]


def test_a_path_that_cannot_be_written_is_refused(asked, tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StorageError, match="choose another path"):
        copy_folder(asked, tmp_path / "file" / "copy")


def test_copying_changes_nothing_in_the_original(asked, tmp_path):
    before = files(asked)
    copy_folder(asked, tmp_path / "copy")
    assert files(asked) == before
    shutil.rmtree(tmp_path / "copy")
