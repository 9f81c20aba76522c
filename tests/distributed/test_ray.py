"""Workers of a Ray cluster, in a network namespace of its own with nothing but loopback."""

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from distributed.redis_server import free_port
from folder.story import run_reference
from typer.testing import CliRunner

from csim.cli.main import app

STORY = Path(__file__).parent / "ray_story.py"


@pytest.fixture(scope="module")
def loopback():
    """Return the start of a command that runs the rest where nothing but loopback exists."""
    ip = shutil.which("ip")
    assert ip, "ip is missing; install it: apt-get install iproute2"
    name = f"csim-{os.getpid()}"
    subprocess.run([ip, "netns", "add", name], check=True)
    subprocess.run([ip, "-n", name, "link", "set", "lo", "up"], check=True)
    yield [ip, "netns", "exec", name]
    subprocess.run([ip, "netns", "del", name], check=True)


@pytest.mark.slow
@pytest.mark.long
def test_a_cluster_whose_coordinators_workers_and_nodes_die_gives_the_events_of_one_process(
    base, tmp_path, loopback
):
    reference = run_reference(shutil.copytree(base, tmp_path / "reference"))
    folder = shutil.copytree(base, tmp_path / "stream")
    done = subprocess.run(
        [*loopback, sys.executable, STORY, folder, reference],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    outcome = json.loads(done.stdout.splitlines()[-1])
    assert outcome["differing"] == []
    assert (outcome["taken"], outcome["troubles"], outcome["known"]) == (420, 2, 420)
    assert 0 < outcome["taken_by_killed"] <= 200
    assert outcome["in_use"] > 2
    assert outcome["retries"] >= 2
    assert outcome["deeds"] == 0
    assert outcome["versions"] == [outcome["in_use"]]
    assert outcome["refusal"].startswith("workers must have csim 9.9, as this machine has")


@pytest.mark.parametrize("address", ["127.0.0.1:{port}", "nowhere"])
def test_a_cluster_that_does_not_answer_is_an_error_at_once(folder, address):
    address = address.format(port=free_port())
    done = CliRunner().invoke(app, ["run", str(folder), "--cluster", address])
    assert done.exit_code == 7
    assert "does not answer" in done.stderr


@pytest.mark.parametrize("greeting", [None, b"HTTP/1.1 400 Bad Request\r\n\r\n"])
def test_a_port_at_which_something_else_listens_is_an_error_too(folder, greeting):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        greet = threading.Thread(target=answer_once, args=(listener, greeting), daemon=True)
        greet.start()
        address = f"127.0.0.1:{listener.getsockname()[1]}"
        done = CliRunner().invoke(app, ["run", str(folder), "--cluster", address])
        greet.join()
    assert done.exit_code == 7
    assert "does not answer" in done.stderr


def answer_once(listener, greeting):
    """Accept one connection, say something or nothing, and wait until the other side ends it."""
    connection, _ = listener.accept()
    with connection:
        if greeting is not None:
            connection.sendall(greeting)
        with contextlib.suppress(ConnectionResetError):
            while connection.recv(1024):
                pass
