import os
import socket

import pytest

from csim.sources import files
from csim.sources.arrival import KINDS, Trouble
from csim.sources.files import read_file


def test_a_file_is_read_whole(tmp_path):
    (tmp_path / "a.png").write_bytes(b"some bytes\0and more")
    assert read_file("a", tmp_path / "a.png") == b"some bytes\0and more"
    (tmp_path / "empty.png").touch()
    assert read_file("a", tmp_path / "empty.png") == b""


def test_a_link_to_a_file_is_followed(tmp_path):
    (tmp_path / "a.png").write_bytes(b"bytes")
    (tmp_path / "link.png").symlink_to("a.png")
    assert read_file("a", tmp_path / "link.png") == b"bytes"


def trouble(path):
    found = read_file("some id", path)
    assert isinstance(found, Trouble)
    assert found.id == "some id"
    assert found.kind in KINDS
    return found


def test_a_file_that_is_gone_has_vanished(tmp_path):
    assert trouble(tmp_path / "a.png").kind == "vanished"
    (tmp_path / "file").touch()
    assert trouble(tmp_path / "file" / "a.png").kind == "vanished"
    (tmp_path / "link.png").symlink_to("nowhere")
    assert trouble(tmp_path / "link.png").kind == "vanished"


def test_a_file_that_may_not_be_read_is_unreadable_and_the_systems_reason_told(
    public_folder, as_nobody
):
    (public_folder / "a.png").write_bytes(b"bytes")
    (public_folder / "a.png").chmod(0)
    with as_nobody():
        found = trouble(public_folder / "a.png")
    assert found.kind == "unreadable"
    assert "Permission denied" in found.reason


def test_what_is_no_file_is_unreadable_and_never_waited_for(tmp_path, monkeypatch):
    (tmp_path / "folder.png").mkdir()
    os.mkfifo(tmp_path / "pipe.png")
    monkeypatch.chdir(tmp_path)  # a socket's path must be short
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket.png")
        for name in ("folder.png", "pipe.png", "socket.png", "/dev/zero"):
            assert trouble(tmp_path / name).kind == "unreadable"


@pytest.mark.parametrize("name", ["zero\0byte.png", "a" * 300 + ".png"])
def test_a_name_that_no_file_can_have_is_unreadable(tmp_path, name):
    assert trouble(tmp_path / name).kind == "unreadable"


def test_a_link_to_itself_is_unreadable(tmp_path):
    (tmp_path / "loop.png").symlink_to("loop.png")
    assert trouble(tmp_path / "loop.png").kind == "unreadable"


def test_a_file_of_too_many_bytes_is_not_read(tmp_path):
    with open(tmp_path / "a.png", "wb") as file:
        file.truncate(files.MAX_FILE_BYTES + 1)  # takes no room on the disk
    found = trouble(tmp_path / "a.png")
    assert found.kind == "too-large"
    assert "256,000,001" in found.reason
