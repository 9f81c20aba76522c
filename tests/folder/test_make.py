import os
import resource
import signal
from pathlib import Path

import numpy as np
import pytest
from digit_folder import SETTINGS, decoded, make_folder, rows
from digit_stream import digit_stream

from csim.errors import FolderError, InputError, SettingsError, StorageError
from csim.folder import database, make, snapshots
from csim.folder.layout import Config, Layout
from csim.folder.stream import Stream


def in_child(act):
    """Do something in a process of its own; return how that ended."""
    child = os.fork()
    if not child:
        try:
            act()
        except BaseException as error:
            os._exit(50 if isinstance(error, StorageError) else 51)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)


def images():
    return np.asarray(digit_stream().warm_up, np.uint8)


def made(root, *, progress=None, names=None, count=None, **config):
    pictures = images()[:count]
    given = Config(SETTINGS, pictures.shape[1:], **config)
    names = digit_stream().warm_up_names[:count] if names is None else names
    make.make(root, given, decoded(pictures, "labelled"), names, progress)


MOMENTS = {
    "training": None,
    "the first file": (make.checkpoint, "write"),
    "the database": (database, "create"),
    "the snapshot": (snapshots.Snapshots, "save"),
    "the last move": (os, "replace"),
}


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_killed_init_leaves_no_folder_and_can_be_repeated(tmp_path, moment):
    def act():
        if patched := MOMENTS[moment]:
            setattr(*patched, die)
        made(tmp_path / "stream", progress=None if patched else die)

    assert in_child(act) == -signal.SIGKILL
    assert not (tmp_path / "stream").exists()
    assert all(left.name.startswith(".stream.") for left in tmp_path.iterdir())
    if moment == "training":
        made(tmp_path / "stream")
        Stream(tmp_path / "stream", trainer=None).close()


def test_a_new_folder_holds_the_labelled_images_a_model_and_one_snapshot(base):
    assert rows(base, "SELECT count(*), min(place), max(place) FROM items") == [(241, -241, -1)]
    found = dict(rows(base, "SELECT i.id, c.name FROM items i JOIN classes c ON c.id = i.class_id"))
    truth = {
        f"labelled {number}": name
        for number, name in enumerate(digit_stream().warm_up_names, start=1)
    }
    assert found == truth
    assert rows(base, "SELECT DISTINCT is_told, is_accepted, score FROM items") == [(1, 1, None)]
    assert rows(base, "SELECT version, installed_at, images FROM models") == [(1, 0, 241)]
    assert rows(base, "SELECT step, position, model FROM snapshots") == [(1, 0, 1)]
    kept = {bytes(file) for (file,) in rows(base, "SELECT file FROM pictures")}
    assert kept == {arrival.kept for arrival in decoded(images(), "labelled")}
    layout = Layout(base)
    assert {file for folder in layout.folders for file in folder.iterdir()} == {
        layout.model(1),
        layout.snapshot(1),
    }


def test_what_was_decided_at_the_start_is_read_back(base):
    with Stream(base, trainer=None) as stream:
        assert stream.config.image_shape == (8, 8)
        assert stream.config.retrain_lag == 60
        assert stream.config.settings.recent == 200


@pytest.mark.parametrize("there", ["a folder", "a file", "a stream folder"])
def test_what_is_there_already_is_refused_and_not_touched(tmp_path, base, there):
    root = tmp_path / "stream"
    if there == "a file":
        root.write_text("mine")
    elif there == "a folder":
        root.mkdir()
    else:
        root = base
    before = [(file, file.stat().st_mtime_ns) for file in (root, *root.rglob("*"))]
    with pytest.raises(FolderError, match="must not exist yet, it does"):
        made(root)
    assert [(file, file.stat().st_mtime_ns) for file in (root, *root.rglob("*"))] == before


def test_a_path_where_nothing_can_be_made_is_refused(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StorageError, match="choose another path"):
        made(tmp_path / "file" / "stream")
    with pytest.raises(StorageError, match="choose another path"):
        made(Path("/proc/no such place/stream"))
    assert [left.name for left in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("room", [1_000, 100_000])
def test_a_full_disk_is_reported_and_leaves_nothing(tmp_path, room):
    def act():
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
        made(tmp_path / "stream")

    assert in_child(act) == 50  # StorageError
    assert list(tmp_path.iterdir()) == []


def test_parents_are_made_and_odd_names_are_fine(tmp_path):
    root = tmp_path / "a b" / "ü ?#%" / "stream"
    made(root, count=60, names=["one", "two"] * 30)
    assert [left.name for left in root.parent.iterdir()] == ["stream"]
    with Stream(root, trainer=None) as stream:
        assert stream.position == 0


@pytest.mark.parametrize("wrong", ["", "two\nlines", "x" * 300])
def test_a_name_that_cannot_be_taken_leaves_nothing(tmp_path, wrong):
    with pytest.raises(InputError, match="a class name"):
        made(tmp_path / "stream", names=[wrong] * 241)
    assert list(tmp_path.iterdir()) == []


def test_names_are_cleaned_so_that_one_class_is_not_two(tmp_path):
    made(tmp_path / "stream", names=["heron ", "heron"] * 20 + ["coot"] * 20, count=60)
    assert rows(tmp_path / "stream", "SELECT name FROM classes ORDER BY name") == [
        ("coot",),
        ("heron",),
    ]


def test_the_same_images_and_seed_make_the_same_model(base, tmp_path):
    again = make_folder(tmp_path / "stream", SETTINGS)
    assert rows(again, "SELECT sha256 FROM models") == rows(base, "SELECT sha256 FROM models")


@pytest.mark.parametrize("wrong", [{"retrain_lag": -1}, {"picture_room": -1}])
def test_what_cannot_be_is_refused(wrong):
    with pytest.raises(SettingsError, match="must be 0"):
        Config(SETTINGS, (8, 8), **wrong)
