"""A signal in any phase of a command: it ends with 130, shows no traceback, and loses nothing."""

import json
import shutil
import signal
import subprocess
import sys
from itertools import cycle

import pytest
from digit_folder import SETTINGS, arrivals, make_folder, rows
from digit_stream import digit_stream
from folder.tables import tables
from PIL import Image
from typer.testing import CliRunner

from csim.cli.main import app
from csim.folder.copy import copy_folder
from csim.folder.send import send
from csim.folder.stream import Stream
from csim.messages import Named

# The process sends itself signals at the moment at which it calls a function.
SIGNAL_ON_CALL = """
import os, sys
where, numbers = sys.argv.pop(1), sys.argv.pop(1)
def hook(frame, event, arg):
    if event == "call" and frame.f_code.co_qualname == function:
        if frame.f_globals.get("__name__") == module:
            sys.setprofile(None)
            for number in numbers.split():
                os.kill(os.getpid(), int(number))
module, function = where.split(":")
sys.setprofile(hook)
from csim.cli.start import main
main()
"""
INT, TERM, HUP = (str(int(n)) for n in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP))
RUN_PHASES = [
    "csim.folder.replay:replay",
    "csim.engine:Engine.observe",
    "csim.folder.log:write_step",
    "csim.folder.training:Training.is_ready",
    "csim.checkpoint:write",
    "csim.folder.folding:fold",
    "csim.folder.output:Output.catch_up",
    "csim.folder.stream:Stream.close",
]


def command(where, numbers, *arguments):
    """Run a command that gets signals in a phase; check how it ends."""
    ended = subprocess.run(
        [sys.executable, "-c", SIGNAL_ON_CALL, where, numbers, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert ended.returncode == 130, ended.stderr
    assert "Traceback" not in ended.stderr


def run_again(*arguments):
    """Run a stream to its end; return what it says on standard error."""
    done = CliRunner().invoke(app, ["run", *map(str, arguments)])
    assert done.exit_code == 0, done.stderr
    return done.stderr


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    """Return a folder of 200 PNG files."""
    root = tmp_path_factory.mktemp("photos")
    for place, image in enumerate(digit_stream().images[:200], start=1):
        Image.fromarray(image.astype("uint8")).save(root / f"{place:04d}.png")
    return root


@pytest.fixture(scope="module")
def begun(tmp_path_factory):
    """Return a folder with questions, of which some are answered, so that a model is due later."""
    root = make_folder(tmp_path_factory.mktemp("begun") / "stream", SETTINGS, retrain_lag=60)
    with Stream(root, trainer=None) as stream:
        stream.take(arrivals(120))
    for index, (question,) in enumerate(rows(root, "SELECT id FROM questions ORDER BY id LIMIT 6")):
        send(root, [Named(question, "new" if index % 2 else "newer")])
    return root


@pytest.fixture(scope="module")
def calm(begun, photos, tmp_path_factory):
    """Return the tables of the stream after a run without a signal."""
    folder = shutil.copytree(begun, tmp_path_factory.mktemp("calm") / "stream")
    run_again(folder, photos)
    found = tables(folder)
    assert len(found["models"]) > 1
    return found


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize(("where", "numbers"), list(zip(RUN_PHASES, cycle([INT, TERM, HUP]))))
def test_a_run_that_gets_a_signal_in_any_phase_goes_on_to_the_same_end(
    begun, calm, photos, tmp_path, where, numbers
):
    folder = shutil.copytree(begun, tmp_path / "stream")
    options = ["--out", tmp_path / "out.jsonl", "--history", "100000"]
    command(where, numbers, "run", folder, photos, *options)
    assert "older snapshot" not in run_again(folder, photos, *options)
    assert tables(folder) == calm
    lines = (tmp_path / "out.jsonl").read_text().splitlines()
    assert len({json.loads(line)["line"] for line in lines}) == len(lines)


@pytest.mark.slow
def test_a_second_signal_stops_at_once_and_loses_nothing(begun, calm, photos, tmp_path):
    folder = shutil.copytree(begun, tmp_path / "stream")
    command("csim.engine:Engine.observe", f"{HUP} {INT} {INT}", "run", folder, photos)
    run_again(folder, photos)
    assert tables(folder) == calm


@pytest.mark.slow
@pytest.mark.parametrize(
    ("where", "numbers", "arguments"),
    [
        ("csim.folder.copy:_is_copied", INT, ["backup", "{folder}", "{new}"]),
        ("csim.folder.copy:_is_copied", TERM, ["restore", "{backup}", "{new}"]),
        ("csim.export.labels:labels", HUP, ["export", "labels", "{folder}", "{new}.csv"]),
        ("csim.export.image_folder:_put", INT, ["export", "images", "{folder}", "{new}"]),
        ("csim.export.model:describe", TERM, ["export", "model", "{folder}", "{new}.safetensors"]),
        ("csim.report.folder.page:render", HUP, ["report", "{folder}", "--out", "{new}.html"]),
        ("csim.folder.status:read_status", INT, ["status", "{folder}"]),
        ("csim.folder.inbox:post", TERM, ["label", "{folder}", "--from", "{answers}"]),
        ("csim.folder.inbox:post", HUP, ["classes", "add", "{folder}", "owl"]),
        ("csim.web.service:Service.start", INT, ["serve", "{folder}", "--port", "0"]),
    ],
)
def test_any_other_command_leaves_no_half_of_its_work(begun, tmp_path, where, numbers, arguments):
    folder = shutil.copytree(begun, tmp_path / "stream")
    paths = {"folder": folder, "new": tmp_path / "out" / "new"}
    paths["out"] = tmp_path / "out"
    paths["out"].mkdir()
    if "{backup}" in arguments:
        paths["backup"] = tmp_path / "backup"
        copy_folder(folder, paths["backup"])
    paths["answers"] = tmp_path / "answers.jsonl"
    paths["answers"].write_text('{"question": 1, "name": "owl"}\n')
    before = tables(folder)
    command(where, numbers, *[argument.format(**paths) for argument in arguments])
    assert list(paths["out"].iterdir()) == []
    assert tables(folder) == before
