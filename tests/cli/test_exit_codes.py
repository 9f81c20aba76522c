"""How a command ends: every code of the table, by signals, by a reader that is gone, by errors."""

import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from digit_folder import arrivals, make_folder, rows
from digit_stream import digit_stream
from PIL import Image
from typer.testing import CliRunner
from waiting import hear_signals, wait_for

from csim.cli.exit_codes import EXIT_CODES, report_errors
from csim.errors import (
    BusyError,
    CheckpointError,
    CsimError,
    FolderError,
    InputError,
    SettingsError,
    StorageError,
    TrainingError,
)
from csim.folder.stream import Stream

DOCS = Path(__file__).parents[2] / "docs"
CSIM = [sys.executable, "-m", "csim"]


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (CsimError, 2),
        (InputError, 2),
        (SettingsError, 2),
        (FolderError, 3),
        (CheckpointError, 3),
        (BusyError, 4),
        (StorageError, 5),
        (TrainingError, 6),
        (KeyboardInterrupt, 130),
    ],
)
def test_an_error_is_one_line_on_stderr_and_a_code_of_the_table(error, code):
    small = typer.Typer()

    @small.command()
    @report_errors
    def refuse(size: int = typer.Option(3, min=0)) -> None:
        """Refuse everything."""
        raise error(f"size must be less than 3, got {size}")

    done = CliRunner().invoke(small, ["--size", "5"])
    assert done.exit_code == code
    assert code in EXIT_CODES
    words = "stopped; nothing is lost" if code == 130 else "size must be less than 3, got 5"
    assert done.stderr == f"csim: {words}\n"
    assert done.stdout == ""


def test_any_other_error_is_not_hidden():
    with pytest.raises(ZeroDivisionError):
        report_errors(lambda: 1 / 0)()


def test_the_docs_have_one_table_of_exit_codes_and_it_is_this_one():
    tables = {
        page.name: re.findall(r"^\| (\d+) \| (.+) \|$", section, re.MULTILINE)
        for page in DOCS.glob("*.md")
        for section in re.split(r"^#+ ", page.read_text(), flags=re.MULTILINE)
        if re.search(r"exit codes?|\| (exit )?code \|", section.lower()) and "\n| 130 |" in section
    }
    assert tables == {"cli.md": [(str(code), text) for code, text in EXIT_CODES.items()]}


@pytest.fixture(scope="module")
def fresh(tmp_path_factory):
    """Return a stream folder that has taken 100 images; read-only."""
    root = make_folder(tmp_path_factory.mktemp("fresh") / "stream")
    with Stream(root, trainer=None) as stream:
        stream.take(arrivals(100))
    return root


@pytest.fixture
def folder(fresh, tmp_path):
    return shutil.copytree(fresh, tmp_path / "stream")


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    """Return a folder of 300 PNG files."""
    root = tmp_path_factory.mktemp("photos")
    for place, image in enumerate(digit_stream().images[:300], start=1):
        Image.fromarray(image.astype("uint8")).save(root / f"{place:04d}.png")
    return root


@pytest.mark.slow
@pytest.mark.parametrize("command", ["run", "status"])
def test_a_reader_that_has_had_enough_ends_the_command_quietly(folder, photos, command):
    more = [str(photos), "--out", "-"] if command == "run" else []
    process = subprocess.Popen(
        [*CSIM, command, str(folder), *more], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    process.stdout.close()  # before anything is written
    _, stderr = process.communicate(timeout=600)
    assert stderr.decode() == ""
    assert process.returncode == 141


@pytest.mark.slow
def test_lines_that_a_reader_did_not_take_come_again(folder, photos):
    command = [*CSIM, "run", str(folder), str(photos), "--limit", "20", "--out", "-"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.close()
    process.communicate(timeout=600)
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=True)
    positions = {json.loads(line)["position"] for line in done.stdout.splitlines()}
    assert positions >= set(range(1, 121))


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_while_a_folder_is_made_leaves_nothing_behind(tmp_path, number):
    stream = digit_stream()
    for place, (image, name) in enumerate(zip(stream.warm_up, stream.warm_up_names, strict=True)):
        (tmp_path / "known" / name).mkdir(parents=True, exist_ok=True)
        Image.fromarray(image.astype("uint8")).save(tmp_path / "known" / name / f"{place}.png")
    command = [*CSIM, "init", str(tmp_path / "in" / "s"), "--labelled", str(tmp_path / "known")]
    process = subprocess.Popen(
        [*command, "--set", "epochs=100000"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=hear_signals,
    )
    wait_for(lambda: list(tmp_path.glob("in/.s.*/models")))
    process.send_signal(number)
    _, stderr = process.communicate(timeout=600)
    assert process.returncode == 130
    assert stderr.decode().splitlines()[-1] == "csim: stopped; nothing is lost"
    assert list((tmp_path / "in").iterdir()) == []


@pytest.mark.slow
def test_a_terminal_that_is_closed_stops_the_run_cleanly(folder, photos):
    process, terminal = pty.fork()
    if not process:
        hear_signals()
        os.execv(sys.executable, [*CSIM, "run", str(folder), str(photos), "--watch"])  # noqa: S606
    wait_for(lambda: rows(folder, "SELECT 1 FROM items WHERE place = 400"))
    os.close(terminal)
    _, status = os.waitpid(process, 0)
    assert os.waitstatus_to_exitcode(status) == 130
    assert rows(folder, "SELECT max(step) FROM snapshots") == rows(
        folder, "SELECT max(step) FROM steps"
    )


@pytest.mark.slow
def test_nohup_keeps_a_run_going_when_its_terminal_is_closed(folder, photos, tmp_path):
    watched = tmp_path / "in"
    watched.mkdir()
    process = subprocess.Popen(
        [*CSIM, "run", str(folder), str(watched), "--watch"],
        stderr=subprocess.DEVNULL,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),
    )
    shutil.copy(photos / "0001.png", watched / "a.png")
    wait_for(lambda: rows(folder, "SELECT 1 FROM items WHERE place = 101"))
    process.send_signal(signal.SIGHUP)
    shutil.copy(photos / "0002.png", watched / "b.png")
    wait_for(lambda: rows(folder, "SELECT 1 FROM items WHERE place = 102"))
    process.send_signal(signal.SIGTERM)
    assert process.wait(600) == 130
