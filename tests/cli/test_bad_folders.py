"""Messages about damaged, newer, foreign or unwritable folders; nothing is lost."""

import json
import resource
import shutil
import sqlite3
import subprocess
import sys

import pytest
from digit_folder import arrivals, make_folder, rows
from digit_stream import digit_stream
from PIL import Image
from typer.testing import CliRunner

from csim.cli.main import app
from csim.folder.stream import Stream


def csim(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Return a stream folder that has taken 60 images."""
    folder = make_folder(tmp_path_factory.mktemp("whole") / "stream")
    with Stream(folder, trainer=None) as stream:
        stream.take(arrivals(60))
    return folder


@pytest.fixture
def folder(whole, tmp_path):
    return shutil.copytree(whole, tmp_path / "stream")


@pytest.fixture(scope="module")
def incoming(tmp_path_factory):
    """Return a folder of 3,000 images, each different."""
    root = tmp_path_factory.mktemp("incoming")
    for place in range(3000):
        image = digit_stream().images[place % 1000].astype("uint8").copy()
        image[0, :2] = divmod(place, 256)
        Image.fromarray(image).save(root / f"{place:05d}.png")
    return root


def content(folder):
    """Return all that a folder holds, but for the lock and SQLite's own notes about who reads."""
    notes = ("lock", "stream.db-shm")
    files = [file for file in folder.rglob("*") if file.is_file() and file.name not in notes]
    return {file: file.read_bytes() for file in files if file.stat().st_size}


def overwrite(file, start, words=b"damage" * 50):
    with file.open("r+b") as opened:
        opened.seek(start)
        opened.write(words)


def damage_header(folder):
    overwrite(folder / "stream.db", 0)


def damage_pages(folder):
    size = (folder / "stream.db").stat().st_size
    for start in range(4096, size, 4096):
        overwrite(folder / "stream.db", start)


def make_newer(folder):
    connection = sqlite3.connect(folder / "stream.db")
    connection.execute("PRAGMA user_version = 99")
    connection.close()


def make_foreign(folder):
    (folder / "stream.db").unlink()
    connection = sqlite3.connect(folder / "stream.db")
    connection.execute("CREATE TABLE theirs (value)")
    connection.commit()
    connection.close()


def lose_database(folder):
    (folder / "stream.db").unlink()


def lose_model(folder):
    for file in (folder / "models").iterdir():
        file.unlink()


def flip_a_bit_of_the_model(folder):
    for file in (folder / "models").iterdir():
        words = bytearray(file.read_bytes())
        words[-100] ^= 1
        file.write_bytes(words)


def damage_snapshots(folder):
    for file in (folder / "snapshots").iterdir():
        overwrite(file, file.stat().st_size // 2)


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (damage_header, "damaged"),
        (damage_pages, "damaged"),
        (make_newer, "use a newer csim"),
        (make_foreign, "not made by csim"),
        (lose_database, "is not a stream folder"),
        (lose_model, "there is no file"),
        (flip_a_bit_of_the_model, "does not match its checksum"),
        (damage_snapshots, "must have an undamaged snapshot"),
    ],
)
def test_a_folder_that_cannot_be_trusted_is_one_clear_line_and_stays_as_it_is(
    folder, incoming, spoil, words
):
    spoil(folder)
    before = content(folder)
    done = csim("run", folder, incoming)
    assert done.exit_code == 3, done.output
    assert words in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert content(folder) == before


def test_a_damaged_snapshot_is_told_and_the_older_one_serves(folder):
    with Stream(folder, trainer=None) as stream:
        stream.take(arrivals(80)[60:])
    newest = max((folder / "snapshots").iterdir())
    overwrite(newest, newest.stat().st_size // 2)
    done = csim("run", folder, "--no-ask")
    assert done.exit_code == 0, done.output
    assert "csim used an older snapshot" in done.stderr
    assert rows(folder, "SELECT count(*) FROM items WHERE place > 0") == [(80,)]


@pytest.mark.slow
def test_a_full_disk_stops_the_run_cleanly_and_room_lets_it_go_on(folder, incoming, tmp_path):
    """The limit on a file's size stands for a disk that is full."""
    room = (folder / "stream.db").stat().st_size + 200_000
    command = [
        sys.executable,
        "-m",
        "csim",
        "run",
        str(folder),
        str(incoming),
        "--out",
        str(tmp_path / "out.jsonl"),
    ]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (room, room)),
    )
    assert done.returncode == 5, done.stderr
    assert "Traceback" not in done.stderr
    taken = rows(folder, "SELECT count(*) FROM items WHERE place > 0")[0][0]
    assert 60 <= taken < 3060
    done = subprocess.run(
        [*command, "--json"], capture_output=True, text=True, timeout=600, check=True
    )
    outcome = json.loads(done.stdout.splitlines()[-1])
    assert outcome["position"] == 3060
    assert outcome["known"] == taken - 60
    lines = [json.loads(line)["line"] for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert len(lines) == len(set(lines))
    assert sum("." not in line for line in lines) == 3060
