"""`csim bench embedding`, `cohesion` and `report`: output, files on disk, errors."""

import csv
import json
import shutil

import pytest
from typer.testing import CliRunner

from csim.cli.main import app

COMMANDS = ["embedding", "cohesion", "report"]


@pytest.fixture
def run(monkeypatch):
    """Return a runner of the three commands, the data folder not being known."""
    monkeypatch.delenv("CSIM_DATA", raising=False)
    return lambda *words: CliRunner().invoke(app, ["bench", *(str(word) for word in words)])


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return a folder with quick looks at the digits, and what the commands printed."""
    out = tmp_path_factory.mktemp("out")
    printed = {}
    for name in ("embedding", "cohesion"):
        words = [
            "bench",
            name,
            "--dataset",
            "digits",
            "--seed",
            "3",
            "--quick",
            "--jobs",
            "1",
            "--out",
            str(out),
            "--json",
        ]
        result = CliRunner().invoke(app, words)
        assert result.exit_code == 0, result.output
        printed[name] = result.stdout
    return out, printed


@pytest.fixture
def out(made, tmp_path):
    """Return a copy of the folder, to be changed."""
    return shutil.copytree(made[0], tmp_path / "out")


@pytest.mark.parametrize("name", COMMANDS)
def test_help_gives_an_example(run, name):
    result = run(name, "--help")
    assert result.exit_code == 0
    assert f"Example: csim bench {name}" in " ".join(result.output.split())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "sheet", "rows"),
    [("embedding", "embedding-seed3-quick", 7), ("cohesion", "cohesion-quick", 6)],
)
def test_a_sheet_is_printed_and_left_on_disk(made, name, sheet, rows):
    folder, printed = made
    told = json.loads(printed[name].splitlines()[-1])
    assert told["table"] == sheet
    assert len(told["rows"]) == rows
    assert (folder / f"{sheet}.md").read_text(encoding="utf-8") in printed[name]
    with (folder / f"{sheet}.csv").open(encoding="utf-8", newline="") as file:
        assert [row["space"] for row in csv.DictReader(file)] == [
            row["space"] for row in told["rows"]
        ]
    assert (folder / f"{sheet}.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_points_are_kept_and_a_picture_is_drawn_again_without_them_being_made_again(run, out):
    (points,) = (out / "runs").iterdir()
    assert points.name == "embedding.jsonl"
    before = points.stat().st_mtime_ns
    drawn = (out / "embedding-seed3-quick.png").read_bytes()
    (out / "embedding-seed3-quick.png").unlink()
    result = run("embedding", "--dataset", "digits", "--seed", 3, "--quick", "--out", out)
    assert result.exit_code == 0, result.output
    assert points.stat().st_mtime_ns == before
    assert (out / "embedding-seed3-quick.png").read_bytes() == drawn


@pytest.mark.slow
def test_damaged_points_are_named(run, out):
    (points,) = (out / "runs").iterdir()
    before = points.read_bytes()
    points.write_text("{", encoding="utf-8")
    result = run("embedding", "--dataset", "digits", "--seed", 3, "--quick", "--out", out)
    points.write_bytes(before)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"csim: {points}, line 1 is damaged")
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize("name", ["embedding", "cohesion"])
@pytest.mark.parametrize(
    ("words", "message"),
    [(["--dataset", "digitz"], "did you mean digits"), (["--dataset", "mnist"], "set CSIM_DATA")],
)
def test_a_data_set_that_cannot_be_had_is_refused_in_one_line(run, tmp_path, name, words, message):
    result = run(name, *words, "--jobs", 1, "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert result.stdout == ""


@pytest.mark.parametrize("name", ["embedding", "cohesion"])
def test_a_file_in_the_place_of_the_folder_is_refused_before_any_work(run, tmp_path, name):
    (tmp_path / "taken").touch()
    result = run(name, "--dataset", "digits", "--out", tmp_path / "taken")
    assert result.exit_code == 2
    assert "give another with --out" in result.stderr


@pytest.mark.parametrize("name", ["embedding", "cohesion"])
@pytest.mark.parametrize("words", [["--seed", "-1"], ["--seed", "x"], ["--jobs", "0"]])
def test_impossible_options_are_refused(run, name, words):
    assert run(name, *words).exit_code == 2


@pytest.mark.slow
def test_a_report_joins_what_is_there_and_tells_what_is_not(run, out):
    result = run("report", "--out", out, "--json")
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0] == f"2 tables of 0 runs: {out / 'report.html'}"
    assert "not made yet: csim bench stream" in lines
    told = json.loads(lines[-1])
    assert told["tables"] == ["embedding-seed3-quick", "cohesion-quick"]
    assert told["report"] == str(out / "report.html")
    assert told["damaged"] == []
    assert len(told["missing"]) == 20
    text = (out / "report.html").read_text(encoding="utf-8")
    assert text.count("<img") == 2
    assert "Images that are nearer to another class than to their own" in text


@pytest.mark.slow
def test_a_report_names_damaged_files(run, out):
    (out / "beta.md").write_text("half", encoding="utf-8")
    (out / "runs" / "half.jsonl").write_text("{", encoding="utf-8")
    result = run("report", "--out", out, "--json")
    assert result.exit_code == 0
    assert result.stderr.splitlines() == [
        "damaged: beta.md: it must begin with a title: # …",
        "damaged: runs/half.jsonl, line 1",
    ]
    assert json.loads(result.stdout.splitlines()[-1])["damaged"] == [
        "beta.md",
        "runs/half.jsonl, line 1",
    ]


def test_a_report_of_nothing_is_refused(run, tmp_path):
    for folder, message in (
        (tmp_path / "none", "must be a folder of results"),
        (tmp_path, "it holds none"),
    ):
        result = run("report", "--out", folder)
        assert result.exit_code == 2
        assert message in result.stderr
        assert len(result.stderr.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []
