import os
import shutil
import threading
from contextlib import suppress

import pytest
from digit_folder import arrivals, make_folder, rows, save
from folder.in_process import InProcessTrainer
from folder.story import IMAGES, knowledge, retell, tell
from folder.tables import dump, files, tables
from waiting import wait_for

from csim.errors import BusyError, FolderError, StorageError
from csim.folder.copy import copy_folder, restore_folder
from csim.folder.jobs import train
from csim.folder.layout import Layout
from csim.folder.output import Output
from csim.folder.stream import Stream
from csim.messages import AddClass


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


def crashed(folder, tmp_path):
    """Return a folder as a killed engine leaves it: its last steps are in the log alone."""
    with Stream(folder, trainer=None) as stream:
        stream._snapshots._last_end = float("inf")
        stream.take(arrivals(230)[200:])
        return shutil.copytree(folder, tmp_path / "crashed")


def test_a_backup_copied_over_a_crashed_folder_is_the_backup(asked, tmp_path):
    wanted = dump(asked)
    copy_folder(asked, tmp_path / "backup")
    broken = crashed(asked, tmp_path)
    assert (broken / "stream.db-wal").stat().st_size > 0
    shutil.copytree(tmp_path / "backup", broken, dirs_exist_ok=True)
    assert dump(broken) == wanted
    with Stream(broken, trainer=None) as stream:
        assert (stream.position, stream.problems) == (200, [])


def test_a_backup_that_was_read_still_survives_a_plain_copy(asked, tmp_path):
    copy_folder(asked, tmp_path / "backup")
    assert rows(tmp_path / "backup", "SELECT max(place) FROM items") == [(200,)]
    broken = crashed(asked, tmp_path)
    shutil.copytree(tmp_path / "backup", broken, dirs_exist_ok=True)
    assert rows(broken, "SELECT max(place) FROM items") == [(200,)]


def test_a_backup_restored_over_a_crashed_folder_is_the_backup_and_nothing_is_lost(asked, tmp_path):
    copy_folder(asked, tmp_path / "backup")
    wanted = dump(tmp_path / "backup")
    broken = crashed(asked, tmp_path)
    replaced = restore_folder(tmp_path / "backup", broken)
    assert dump(broken) == dump(tmp_path / "backup") == wanted
    with Stream(broken, trainer=None) as stream:
        assert (stream.position, stream.problems) == (200, [])
    with Stream(replaced, trainer=None) as stream:
        assert stream.position == 230
    again = restore_folder(tmp_path / "backup", broken)
    assert again not in (None, replaced)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        ["asked", "backup", "crashed", replaced.name, again.name]
    )


def test_a_backup_is_restored_where_nothing_is_and_over_a_database_that_is_damaged(asked, tmp_path):
    copy_folder(asked, tmp_path / "backup")
    assert restore_folder(tmp_path / "backup", tmp_path / "to" / "new") is None
    assert dump(tmp_path / "to" / "new") == dump(asked)
    (asked / "stream.db").write_bytes(b"damage" * 1000)
    restore_folder(tmp_path / "backup", asked)
    assert dump(asked) == dump(tmp_path / "backup")


def test_a_folder_that_runs_is_not_replaced(asked, tmp_path):
    copy_folder(asked, tmp_path / "backup")
    with Stream(asked, trainer=None) as stream:
        with pytest.raises(BusyError, match="one engine at a time"):
            restore_folder(tmp_path / "backup", asked)
        stream.take(arrivals(210)[200:])
    assert rows(asked, "SELECT max(place) FROM items") == [(210,)]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["asked", "backup"]


def test_what_is_no_stream_folder_is_neither_replaced_nor_restored(asked, tmp_path):
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "precious.png").write_text("precious")
    with pytest.raises(FolderError, match="must be a stream folder, or not exist"):
        restore_folder(asked, tmp_path / "photos")
    with pytest.raises(FolderError, match="is not a stream folder"):
        restore_folder(tmp_path / "photos", asked)
    with pytest.raises(FolderError, match="must not be the backup itself"):
        restore_folder(asked, asked)
    assert (tmp_path / "photos" / "precious.png").read_text() == "precious"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["asked", "photos"]


def test_a_busy_stream_may_write_snapshots_while_its_database_is_copied(asked, tmp_path):
    images = iter(range(200, 300, 5))
    with Stream(asked, trainer=None) as stream:

        def go_on(_):
            for _ in range(3):  # the two snapshots that the copy needs are deleted
                start = next(images)
                stream.take(arrivals(300)[start : start + 5])
                save(stream)

        copy_folder(asked, tmp_path / "copy", on_progress=go_on)
        assert stream.position > 200
    with Stream(tmp_path / "copy", trainer=None) as copy:
        assert (copy.position, copy.problems) == (200, [])


def test_all_files_of_a_folder_and_of_its_copy_have_the_permissions_of_the_umask(asked, tmp_path):
    before = os.umask(0o002)
    try:
        root = make_folder(tmp_path / "new")
        with Stream(root, trainer=None) as stream:
            stream.take(arrivals(10))
            modes = {file.stat().st_mode & 0o777 for file in root.rglob("*") if file.is_file()}
            assert (root / "stream.db-wal").exists()
        copy_folder(root, tmp_path / "copy")
    finally:
        os.umask(before)
    assert modes == {0o664}
    copied = [file for file in (tmp_path / "copy").rglob("*") if file.is_file()]
    assert {file.stat().st_mode & 0o777 for file in copied} == {0o664}


@pytest.mark.slow
def test_backups_of_a_busy_stream_go_on_to_the_end_of_an_undisturbed_one(base, reference, tmp_path):
    busy = retell(reference, shutil.copytree(base, tmp_path / "busy"))
    copies = []
    with Stream(busy) as stream:  # with answers, edits and models of a trainer process
        for start in range(0, IMAGES, 30):
            copies.append(tmp_path / f"at {start}")
            copier = threading.Thread(target=copy_folder, args=(busy, copies[-1]))
            copier.start()
            stream.take(arrivals(IMAGES)[start : start + 30])
            copier.join()
        stream.finish()
    assert tables(busy) == tables(reference)
    unfinished = "SELECT 1 FROM models WHERE installed_at IS NULL"
    in_training = [copy for copy in copies if rows(copy, unfinished)]
    assert in_training
    for copy in {*copies[::4], in_training[0]}:
        restored = tmp_path / "restored" / copy.name
        restore_folder(copy, restored)
        with Stream(restored, trainer=InProcessTrainer) as stream:
            assert stream.problems == []
            stream.take(arrivals(IMAGES)[stream.position :])
            stream.finish()
        assert tables(restored) == tables(reference)
