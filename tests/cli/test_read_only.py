"""Folders of another user, or on a disk that cannot be written: read, or a word on permission."""

import json
import os
import shutil
import tempfile
from pathlib import Path

import pytest
from digit_folder import arrivals, make_folder
from typer.testing import CliRunner

from csim.cli.main import app
from csim.folder.copy import copy_folder
from csim.folder.stream import Stream

NOBODY = 65534

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Return a stream folder that has taken 100 images."""
    root = make_folder(tmp_path_factory.mktemp("whole") / "stream")
    with Stream(root, trainer=None) as stream:
        stream.take(arrivals(100))
    # Import all that the commands need: the other user may not be allowed to read Python's files.
    page = tmp_path_factory.mktemp("page") / "page.html"
    assert CliRunner().invoke(app, ["report", str(root), "--out", str(page)]).exit_code == 0
    return root


@pytest.fixture
def place():
    """Return a folder into which everybody may look."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)
        for path in [Path(name), *Path(name).rglob("*")]:
            path.chmod(0o755)


def close(folder, files=0o444, folders=0o555):
    for path in [folder, *folder.rglob("*")]:
        path.chmod(folders if path.is_dir() else files)


def as_somebody_else(*arguments):
    """Run a command as a user who does not own the folder; return its code and its words."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        if not os.getuid():
            os.setgid(NOBODY)
            os.setuid(NOBODY)
        done = CliRunner().invoke(app, [str(argument) for argument in arguments])
        said = f"{done.output[-4000:]}{done.exception or ''}"
        os.write(writing, json.dumps([done.exit_code, said]).encode())
        os._exit(0)
    os.close(writing)
    with open(reading) as pipe:
        code, words = json.loads(pipe.read())
    os.waitpid(child, 0)
    return code, words


@pytest.mark.parametrize("kind", ["a folder at rest", "a backup", "a backup that was read"])
def test_every_reading_command_works_where_nothing_can_be_written(whole, place, kind):
    folder = place / "stream"
    if kind == "a folder at rest":
        shutil.copytree(whole, folder)
    else:
        copy_folder(whole, folder)
    if kind == "a backup that was read":
        assert CliRunner().invoke(app, ["status", str(folder)]).exit_code == 0
    close(folder)
    out = place / "out"
    out.mkdir()
    out.chmod(0o777)
    for words in (
        ["status", folder],
        ["label", folder, "--json"],
        ["classes", "list", folder],
        ["export", "labels", folder, out / "labels.jsonl"],
        ["export", "predictions", folder, out / "predictions.jsonl"],
        ["export", "images", folder, out / "images"],
        ["export", "model", folder, out / "model"],
        ["report", folder, "--out", out / "report.html"],
        ["backup", folder, out / "backup"],
        ["restore", folder, out / "restored"],
    ):
        code, said = as_somebody_else(*words)
        assert code == 0, (words, said)
    with Stream(out / "restored", trainer=None) as stream:
        assert stream.position == 100


def test_a_folder_that_another_user_runs_can_be_read(whole, place):
    folder = shutil.copytree(whole, place / "stream")
    with Stream(folder, trainer=None) as stream:
        stream.take(arrivals(110)[100:])
        code, said = as_somebody_else("status", folder, "--json")
        assert code == 0, said
        assert json.loads(said)["position"] == 110


@pytest.mark.parametrize(
    "words", [["run"], ["classes", "add", "heron"], ["undo"]], ids=lambda words: words[0]
)
def test_a_user_who_may_not_write_is_told_about_permission(whole, place, words):
    folder = shutil.copytree(whole, place / "stream")
    close(folder)
    command, *more = words if words[0] != "classes" else ["classes add", "heron"]
    code, said = as_somebody_else(*command.split(), folder, *more)
    assert (code, "make room" in said) == (2 if words == ["undo"] else 5, False), said
    assert "permission" in said or words == ["undo"]


@pytest.mark.parametrize("closed", ["parent", "database", "lock", "model"])
def test_a_user_who_may_not_read_is_told_about_permission(whole, place, closed):
    folder = shutil.copytree(whole, place / "parent" / "stream")
    close(folder)
    path = {
        "parent": folder.parent,
        "database": folder / "stream.db",
        "lock": folder / "lock",
        "model": folder / "models" / "000001.safetensors",
    }[closed]
    path.chmod(0)
    command = ["export", "model", folder, place / "m"] if closed == "model" else ["status", folder]
    code, said = as_somebody_else(*command)
    assert code == 5, said
    assert "permission" in said
    assert "make room" not in said
