import errno
import os
import stat
from pathlib import Path

import pytest

from csim.errors import InputError, StorageError
from csim.export.destination import atomic_output


@pytest.fixture
def home(tmp_path):
    """Return a place to write to that lies beside a stream folder."""
    (tmp_path / "stream").mkdir()
    return tmp_path


def write(home, name, words="new", **options):
    with atomic_output(home / name, outside=home / "stream", **options) as beside:
        beside.write_text(words)


def entries(home):
    return sorted(entry.name for entry in home.iterdir() if entry.name != "stream")


def test_a_file_appears_when_the_block_ends_and_not_before(home):
    with atomic_output(home / "deep/er/file", outside=home / "stream") as beside:
        beside.write_text("half")
        assert not (home / "deep/er/file").exists()
        beside.write_text("whole")
    assert (home / "deep/er/file").read_text() == "whole"
    assert os.listdir(home / "deep/er") == ["file"]


def test_a_folder_appears_whole_too(home):
    with atomic_output(home / "folder", outside=home / "stream") as beside:
        beside.mkdir()
        (beside / "inside").write_text("x")
    assert entries(home) == ["folder"]
    assert (home / "folder/inside").read_text() == "x"


def fail(home, make, error):
    with atomic_output(home / "file", outside=home / "stream") as beside:
        make(beside)
        raise error


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_a_block_that_fails_leaves_nothing_behind(home, error):
    for make in (Path.touch, Path.mkdir):
        with pytest.raises(error):
            fail(home, make, error())
        assert entries(home) == []


def test_a_file_that_is_there_stays_as_it_is(home):
    (home / "file").write_text("old")
    with pytest.raises(InputError, match="must not exist yet"):
        write(home, "file")
    assert (home / "file").read_text() == "old"


def test_a_file_is_replaced_if_told_and_stays_if_that_fails(home):
    (home / "file").write_text("old")
    with (
        pytest.raises(ValueError, match="half"),
        atomic_output(home / "file", outside=home / "stream", overwrite=True),
    ):
        raise ValueError("half-way")
    assert (home / "file").read_text() == "old"
    write(home, "file", overwrite=True)
    assert (home / "file").read_text() == "new"


def test_what_is_no_file_is_never_replaced(home):
    (home / "folder").mkdir()
    os.mkfifo(home / "pipe")
    for name in ("folder", "pipe"):
        with pytest.raises(InputError, match="plain file"):
            write(home, name, overwrite=True)
    assert stat.S_ISFIFO(os.stat(home / "pipe").st_mode)


@pytest.mark.parametrize(
    "name",
    ["stream/labels.csv", "stream", "stream/../stream/models/x", "link/x", "stream/stream.db"],
)
def test_nothing_is_put_into_the_stream_folder(home, name):
    (home / "link").symlink_to(home / "stream")
    (home / "stream/stream.db").write_text("precious")
    with pytest.raises(InputError, match="must not be inside the stream folder"):
        write(home, name, overwrite=True)
    assert (home / "stream/stream.db").read_text() == "precious"


def test_a_full_disk_is_told_in_words(home):
    with pytest.raises(StorageError, match="No space left"):
        fail(home, Path.touch, OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
    assert entries(home) == []


def test_a_place_that_cannot_be_written_to_is_told_in_words(home):
    (home / "file").write_text("")
    with pytest.raises(StorageError, match=r"Not a directory|File exists"):
        write(home, "file/below/it")


def test_others_may_read_what_the_user_lets_them_read(home):
    before = os.umask(0o022)
    try:
        write(home, "file")
    finally:
        os.umask(before)
    assert stat.S_IMODE(os.stat(home / "file").st_mode) == 0o644
