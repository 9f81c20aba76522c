"""`csim bench mining`, `beta`, `closed-set` and `speed`: output, files on disk, errors."""

import csv
import gzip
import json
import struct

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from csim.bench.datasets import catalogue, published
from csim.bench.datasets.files import RemoteFile
from csim.bench.datasets.idx import read_pairs
from csim.bench.speed import growth, races
from csim.bench.speed.races import race
from csim.bench.tables import speed
from csim.cli.main import app

PARTS = {
    "train": 11_000,
    "t10k": 10_000,
}  # as many images as a table wants, and the official number of test ones
COMMANDS = ["mining", "beta", "closed-set", "speed"]


@pytest.fixture
def run(monkeypatch):
    """Return a runner of `csim`, the data folder not being known."""
    monkeypatch.delenv("CSIM_DATA", raising=False)
    return lambda *words: CliRunner().invoke(app, [str(word) for word in words])


@pytest.fixture
def data_dir(tmp_path, monkeypatch):
    """Return a folder with noise that is registered as Fashion-MNIST."""
    folder = tmp_path / "data" / "fashion-mnist"
    folder.mkdir(parents=True)
    rng = np.random.default_rng(0)
    files = []
    for part, count in PARTS.items():
        labels = (np.arange(count) % 10).astype(np.uint8)
        images = rng.integers(0, 60, (count, 8, 8), np.uint8) + labels[:, None, None] * 15
        files += [
            RemoteFile(f"{part}-images-idx3-ubyte.gz"),
            RemoteFile(f"{part}-labels-idx1-ubyte.gz"),
        ]
        write(folder / files[-2].name, images)
        write(folder / files[-1].name, labels)
    variant = catalogue.Variant("fashion-mnist", tuple(files), read_pairs)
    noise = catalogue.Entry("fashion-mnist", published.FASHION, sum(PARTS.values()), (variant,))
    monkeypatch.setattr(catalogue, "ENTRIES", (noise,))
    return tmp_path / "data"


def write(path, array):
    head = struct.pack(f">{1 + array.ndim}I", 0x800 + array.ndim, *array.shape)
    path.write_bytes(gzip.compress(head + array.astype(np.uint8).tobytes(), 1))


@pytest.mark.parametrize("command", COMMANDS)
def test_help_gives_an_example(run, command):
    result = run("bench", command, "--help")
    assert result.exit_code == 0
    assert f"csim bench {command}" in " ".join(result.output.split())


@pytest.mark.parametrize("command", COMMANDS)
def test_without_a_data_folder_one_line_says_what_to_do(run, tmp_path, command):
    result = run("bench", command, "--out", tmp_path)
    assert result.exit_code == 2
    assert result.stderr.splitlines() == [
        "csim: csim must know where the data sets are; set CSIM_DATA to their folder, or pass "
        "--data-dir"
    ]
    assert result.stdout == ""
    assert list(tmp_path.iterdir()) == []


def test_a_missing_file_is_named(run, tmp_path):
    result = run("bench", "beta", "--data-dir", tmp_path / "none", "--out", tmp_path)
    assert result.exit_code == 2
    assert "train-images-idx3-ubyte.gz is missing" in result.stderr


def test_a_file_in_the_place_of_the_folder_is_refused_before_any_work(run, tmp_path):
    (tmp_path / "taken").touch()
    result = run("bench", "mining", "--out", tmp_path / "taken")
    assert result.exit_code == 2
    assert "give another with --out" in result.stderr


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--seed", "-1"], "--seed must be a whole number, 0 or more; got '-1'"),
        (["--seed", "x"], "--seed must be a whole number, 0 or more; got 'x'"),
        (["--jobs", "0"], "--jobs must be a whole number, 1 or more; got '0'"),
    ],
)
def test_impossible_options_are_refused_in_one_line(run, words, told):
    result = run("bench", "mining", *words)
    assert result.exit_code == 2
    assert result.stderr == f"csim: {told}\n"


@pytest.fixture
def small_speed(monkeypatch):
    """Measure small cases, once."""
    for module in (speed, races):
        monkeypatch.setattr(module, "race", lambda ours, other, rounds, **_: race(ours, other, 1))
    sizes = growth.Sizes(windows=(100, 200, 300), classes=(2, 3, 6), positions=(500, 1000))
    monkeypatch.setattr(speed, "Sizes", lambda: sizes)
    monkeypatch.setattr(growth, "_PART", 500)
    monkeypatch.setattr(speed, "_FILES", 100)


SPEED_ROWS = [
    *["stream, no training", "stream"] * 2,
    *["observe 256", "observe 1", "observe 1, p99", "csim run", "csim run, for 5,000/s"],
    "csim run, 8×8 pixels",
    *["triplet loss", "training", "csim --help"],
    *["search in 300", "update of classes: 6", "image after 1,000"],
    *["the same, nobody answers: 1,000", "memory after 1,000"],
]


@pytest.mark.slow
def test_a_table_is_printed_and_left_on_disk(run, data_dir, tmp_path, small_speed):
    out = tmp_path / "new" / "folder"
    words = ["bench", "speed", "--data-dir", data_dir, "--out", out, "--thin", "7"]
    result = run(*words, "--json")
    assert result.exit_code == 0, result.output
    rows = json.loads(result.stdout.splitlines()[-1])["rows"]
    assert [row["what"] for row in rows] == SPEED_ROWS
    assert (out / "speed.md").read_text(encoding="utf-8") in result.stdout
    with (out / "speed.csv").open(encoding="utf-8", newline="") as file:
        saved = list(csv.DictReader(file))
    assert [row["what"] for row in saved] == SPEED_ROWS
    assert all(float(row["time"]) > 0 for row in saved)
    with Image.open(out / "speed.png") as picture:
        assert picture.width > 600


def test_there_is_nothing_to_check_without_saved_ratios(run, tmp_path):
    result = run("bench", "speed", "--check", "--out", tmp_path)
    assert result.exit_code == 2
    assert "speed.csv must hold earlier ratios; make it without --check" in result.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize(("earlier", "code"), [(1e-9, 1), (1e9, 0)])
def test_ratios_are_checked_against_the_saved_ones_which_stay(
    run, data_dir, tmp_path, small_speed, monkeypatch, earlier, code
):
    only = speed._row("csim run", "decoding and forward", (2.0, 1.0), "speed ≥ 0.6")
    monkeypatch.setattr(speed, "_stream_rows", lambda whole: [])
    monkeypatch.setattr(speed, "_observing_rows", lambda data: [])
    monkeypatch.setattr(speed, "_growth_rows", lambda growth: [])
    monkeypatch.setattr(speed, "_run_rows", lambda whole, work: [only])
    saved = tmp_path / "speed.csv"
    saved.write_text(f"what,compared with,time\ncsim run,decoding and forward,{earlier}\n")
    before = saved.read_text()
    result = run("bench", "speed", "--check", "--data-dir", data_dir, "--out", tmp_path)
    assert result.exit_code == code, result.output
    assert ("csim run takes 2 times as long" in result.stderr) == bool(code)
    assert saved.read_text() == before
