import multiprocessing
import os
import resource
import signal
import stat
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from csim import atomic
from csim.errors import FolderError, StorageError

LARGE = 20_000_000  # bytes


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@contextmanager
def small_disk(size=1000):
    """Refuse larger files inside the block, as a full disk does."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def test_a_file_is_written_and_replaced(tmp_path):
    path = tmp_path / "file"
    for content in (b"first", b"second", b""):
        atomic.write_file(path, content)
        assert path.read_bytes() == content
    assert names(tmp_path) == ["file"]


def test_files_and_folders_have_the_permissions_that_the_user_chose(tmp_path):
    for mask, mode in ((0o022, 0o644), (0o077, 0o600)):
        before = os.umask(mask)
        try:
            atomic.write_file(tmp_path / "file", b"")
            with atomic.new_folder(tmp_path / f"folder {mask}"):
                pass
        finally:
            os.umask(before)
        assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == mode
        assert stat.S_IMODE((tmp_path / f"folder {mask}").stat().st_mode) == 0o777 & ~mask


@pytest.mark.parametrize("name", ["x" * 255, "é" * 127, "a b?#%", ".hidden"])
def test_a_name_may_be_as_long_and_odd_as_the_system_allows(tmp_path, name):
    atomic.write_file(tmp_path / name, b"content")
    assert names(tmp_path) == [name]


def test_a_failed_write_leaves_the_old_file_and_no_trace(tmp_path):
    path = tmp_path / "file"
    atomic.write_file(path, b"old")
    with small_disk(), pytest.raises(OSError, match="File too large"):
        atomic.write_file(path, b"x" * 5000)
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["file"]


def test_a_file_never_replaces_a_folder(tmp_path):
    (tmp_path / "folder").mkdir()
    with pytest.raises(IsADirectoryError):
        atomic.write_file(tmp_path / "folder", b"content")
    with pytest.raises(FileNotFoundError):
        atomic.write_file(tmp_path / "missing" / "file", b"content")
    assert names(tmp_path) == ["folder"]


@pytest.mark.parametrize("create", [Path.touch, Path.mkdir])
def test_a_new_path_appears_after_the_block(tmp_path, create):
    with atomic.new_path(tmp_path / "new") as part:
        create(part)
        assert names(tmp_path) == [part.name]
        assert part.name.startswith(".new.")
        assert part.name.endswith(".part")
    assert names(tmp_path) == ["new"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
@pytest.mark.parametrize("create", [Path.touch, Path.mkdir, lambda path: None])
def test_a_block_that_raises_leaves_nothing(tmp_path, create, error):
    def fail():
        with atomic.new_path(tmp_path / "new") as part:
            create(part)
            raise error

    with pytest.raises(error):
        fail()
    assert names(tmp_path) == []


def test_a_block_that_writes_nothing_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError), atomic.new_path(tmp_path / "new"):
        pass


def test_a_new_folder_appears_with_its_content_and_parents(tmp_path):
    path = tmp_path / "a" / "b" / "new"
    with atomic.new_folder(path) as part:
        (part / "inside").mkdir()
        (part / "inside" / "file").write_text("content")
        assert not path.exists()
    assert (path / "inside" / "file").read_text() == "content"
    assert names(path.parent) == ["new"]


def test_a_new_folder_replaces_nothing(tmp_path):
    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir()
    for name in ("file", "folder"):
        with (
            pytest.raises(FolderError, match="must not exist yet, it does; give a new name"),
            atomic.new_folder(tmp_path / name),
        ):
            pass
    assert names(tmp_path) == ["file", "folder"]


def test_a_new_folder_that_cannot_be_written_is_refused_with_advice(tmp_path):
    (tmp_path / "file").touch()
    with (
        pytest.raises(StorageError, match="make room or choose another path"),
        atomic.new_folder(tmp_path / "file" / "new"),
    ):
        pass
    with (
        pytest.raises(StorageError, match="File too large"),
        small_disk(),
        atomic.new_folder(tmp_path / "new") as part,
    ):
        (part / "large").write_bytes(b"x" * 5000)
    assert names(tmp_path) == ["file"]


# A process that keeps writing a file so large that it can be caught half-way.


def write_again_and_again(path):
    while True:
        atomic.write_file(path, b"x" * LARGE)


def size_of(path):
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def is_writing(folder):
    return any(size_of(part) for part in folder.glob(".*.part"))


def wait_for(claim):
    end = time.monotonic() + 600
    while not claim():
        assert time.monotonic() < end, "it never happened"


@pytest.fixture
def writer(tmp_path):
    """Return a process that always writes a file, and that file's path."""
    path = tmp_path / "large"
    process = multiprocessing.get_context("fork").Process(
        target=write_again_and_again, args=(path,)
    )
    process.start()
    yield process, path
    process.kill()
    process.join()


def test_a_killed_writer_leaves_a_part_that_can_be_recognised_and_removed(tmp_path, writer):
    process, path = writer
    wait_for(lambda: is_writing(tmp_path))
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    assert size_of(path) in (0, LARGE)
    (tmp_path / ".hidden").touch()
    atomic.remove_leftovers(tmp_path)
    assert set(names(tmp_path)) <= {"large", ".hidden"}
    assert (tmp_path / ".hidden").exists()


def test_the_part_of_a_living_writer_is_not_removed(tmp_path, writer):
    process, path = writer
    wait_for(lambda: is_writing(tmp_path))
    tries = 0
    while tries < 100 or not path.exists():
        atomic.remove_leftovers(tmp_path)
        tries += 1
        assert process.is_alive(), "its file was removed"
    assert size_of(path) == LARGE


def test_removing_leftovers_where_there_are_none_does_nothing(tmp_path):
    atomic.remove_leftovers(tmp_path / "missing")
    atomic.remove_leftovers(tmp_path)
    assert names(tmp_path) == []
