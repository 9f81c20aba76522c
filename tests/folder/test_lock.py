import os
import signal
import subprocess
import sys
import textwrap
import time
from types import SimpleNamespace

import pytest
from waiting import no_hang

from csim.errors import BusyError, StorageError
from csim.folder.layout import Layout
from csim.folder.lock import Lock, holder
from csim.folder.stream import Stream

HOLD = """
    import sys, time
    from pathlib import Path
    from csim.folder.lock import Lock
    lock = Lock(Path(sys.argv[1]))
    print("held", flush=True)
    time.sleep(600)
"""


@pytest.fixture
def somebody(tmp_path):
    """Return another process that holds the lock."""
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(HOLD), str(tmp_path / "lock")],
        stdout=subprocess.PIPE,
    )
    assert process.stdout.readline() == b"held\n"
    yield process
    process.kill()
    process.communicate()


def test_a_second_engine_is_refused_and_told_which_process_runs(folder):
    with Stream(folder, trainer=None) as stream:
        with pytest.raises(
            BusyError, match=rf"one engine at a time, process {os.getpid()} runs it"
        ):
            Stream(folder, trainer=None)
        assert holder(Layout(folder).lock) == os.getpid()
        stream.attend()  # undisturbed
    assert holder(Layout(folder).lock) is None
    Stream(folder, trainer=None).close()


def test_the_process_that_is_named_is_the_holder(somebody, tmp_path):
    with pytest.raises(BusyError, match=f"process {somebody.pid} runs it"):
        Lock(tmp_path / "lock")
    assert holder(tmp_path / "lock") == somebody.pid


def test_a_killed_holder_holds_nothing(somebody, tmp_path):
    somebody.send_signal(signal.SIGKILL)
    somebody.wait()
    assert holder(tmp_path / "lock") is None
    Lock(tmp_path / "lock").release()


def test_a_holder_that_is_on_its_way_out_is_waited_for(somebody, tmp_path, monkeypatch):
    def end_the_holder(_):
        somebody.kill()
        somebody.wait()

    ended = SimpleNamespace(monotonic=time.monotonic, sleep=end_the_holder)
    monkeypatch.setattr("csim.folder.lock.time", ended)
    lock = Lock(tmp_path / "lock")
    assert holder(tmp_path / "lock") == os.getpid()
    lock.release()


def test_looking_who_holds_it_makes_no_file_and_takes_nothing(tmp_path):
    assert holder(tmp_path / "lock") is None
    assert list(tmp_path.iterdir()) == []
    lock = Lock(tmp_path / "lock")
    for _ in range(100):
        assert holder(tmp_path / "lock") == os.getpid()
    with pytest.raises(BusyError):
        Lock(tmp_path / "lock")
    lock.release()


def test_many_who_look_do_not_keep_an_engine_out(tmp_path, monkeypatch):
    Lock(tmp_path / "lock").release()
    code = """
        import sys
        from pathlib import Path
        from csim.folder.lock import holder
        print("looking", flush=True)
        while True:
            holder(Path(sys.argv[1]))
    """
    command = [sys.executable, "-c", textwrap.dedent(code), str(tmp_path / "lock")]
    lookers = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in "ab"]
    # Nobody gives up. The clock of the whole process must go on: servers of other tests need it.
    stopped = SimpleNamespace(monotonic=lambda: 0.0, sleep=time.sleep)
    monkeypatch.setattr("csim.folder.lock.time", stopped)
    try:
        assert [looker.stdout.readline() for looker in lookers] == [b"looking\n"] * 2
        with no_hang():
            for _ in range(50):
                Lock(tmp_path / "lock").release()
    finally:
        for looker in lookers:
            looker.kill()
            looker.communicate()


def test_the_lock_survives_garbage_in_its_file(tmp_path):
    (tmp_path / "lock").write_bytes(b"\xff\xfe not a number at all, and far too long for one")
    assert holder(tmp_path / "lock") is None
    lock = Lock(tmp_path / "lock")
    assert holder(tmp_path / "lock") == os.getpid()
    lock.release()


def test_a_place_where_nothing_can_be_written_says_so(tmp_path):
    with pytest.raises(StorageError, match="must be writable, it is not"):
        Lock(tmp_path / "no such folder" / "lock")
