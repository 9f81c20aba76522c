"""`csim bench stream` and the other tables of runs: output, files on disk, errors."""

import csv
import json

import pytest
from typer.testing import CliRunner

from csim.cli.main import app

pytestmark = pytest.mark.slow

STUDIES = ["stream", "novelty", "convolution", "over-stream", "sensitivity", "label-curve"]
CHOICES = ["ablation", "tuning", "reproduced", "photos"]  # their data set is their own
TINY = ["--dataset", "digits", "--quick", "--jobs", "1"]  # every 20th of the digits: 90 images


@pytest.fixture
def run(monkeypatch):
    """Return a runner of `csim`, the data folder not being known."""
    monkeypatch.delenv("CSIM_DATA", raising=False)
    return lambda *words: CliRunner().invoke(app, [str(word) for word in words])


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return the folder and the output of a real quick study of two methods on the digits."""
    out = tmp_path_factory.mktemp("results") / "new"
    words = [
        "bench",
        "stream",
        *TINY,
        "--method",
        "default",
        "--method",
        "random",
        "--out",
        str(out),
        "--json",
    ]
    return out, CliRunner().invoke(app, words)


@pytest.mark.parametrize("command", [*STUDIES, *CHOICES, "data-sets"])
def test_help_gives_an_example_and_names_the_options(run, command):
    result = run("bench", command, "--help")
    words = " ".join(result.output.split())
    assert result.exit_code == 0
    assert f"csim bench {command}" in words
    assert ("--dataset" in words) == (command == "photos" or command not in CHOICES)
    assert ("--quick" in words) == (command != "data-sets")


@pytest.mark.parametrize("command", [*STUDIES, *CHOICES, "data-sets"])
def test_every_command_is_listed(run, command):
    assert f" {command} " in run("bench", "--help").output


def test_a_quick_study_runs_prints_its_table_and_leaves_three_files(made):
    out, result = made
    assert result.exit_code == 0, result.output
    assert (out / "stream-digits-quick.md").read_text(encoding="utf-8") in result.stdout
    assert {path.suffix for path in out.glob("stream-digits-quick.*")} == {
        ".md",
        ".csv",
        ".png",
    }
    rows = json.loads(result.stdout.splitlines()[-1])["rows"]
    assert [(row["data set"], row["method"], row["seed"]) for row in rows] == [
        ("digits", "default", 0),
        ("digits", "random", 0),
    ]
    with (out / "stream-digits-quick.csv").open(encoding="utf-8", newline="") as file:
        assert [float(row["accuracy %"]) for row in csv.DictReader(file)] == [
            row["accuracy %"] for row in rows
        ]


def test_each_run_leaves_a_line_with_its_figures(made):
    out, result = made
    rows = json.loads(result.stdout.splitlines()[-1])["rows"]
    runs = map(json.loads, (out / "runs" / "digits.jsonl").read_text().splitlines())
    accuracies = {content["method"]: content["figures"]["accuracy"] for content in runs}
    assert accuracies == {row["method"]: row["accuracy %"] for row in rows}


def test_the_table_says_that_it_is_a_quick_look_and_how_it_was_made(made):
    _, result = made
    assert "(quick)" in result.stdout
    command = "csim bench stream --quick --dataset digits --method default --method random --seed 0"
    assert f"`{command}`" in result.stdout


def test_another_table_of_the_same_runs_runs_nothing(made, run):
    out, _ = made
    before = {path: path.stat().st_mtime_ns for path in (out / "runs").iterdir()}
    for table in ("novelty", "over-stream", "stream"):
        result = run(
            "bench", table, *TINY, "--method", "default", "--method", "random", "--out", out
        )
        assert result.exit_code == 0, result.output
        assert result.stderr == ""  # a run would have told its progress there
        assert (out / f"{table}-digits-quick.png").exists()
    assert {path: path.stat().st_mtime_ns for path in (out / "runs").iterdir()} == before


def test_only_what_is_missing_is_run(made, run):
    out, _ = made
    result = run("bench", "convolution", *TINY, "--method", "default", "--out", out)
    assert result.exit_code == 0, result.output
    told = [line for line in result.stderr.splitlines() if line.startswith(("1/", "2/", "3/"))]
    assert len(told) == 2  # no layer and one; two layers were there
    assert all("conv_layers=" in line for line in told)


@pytest.mark.parametrize("table", ["sensitivity", "label-curve"])
def test_the_longer_studies_run_too(run, table, tmp_path):
    result = run("bench", table, *TINY, "--out", tmp_path, "--json")
    assert result.exit_code == 0, result.output
    assert {path.suffix for path in tmp_path.glob(f"{table}-digits-quick.*")} == {
        ".md",
        ".csv",
        ".png",
    }
    assert json.loads(result.stdout.splitlines()[-1])["command"].startswith(
        f"csim bench {table} --quick"
    )


def test_what_is_said_goes_before_quick(made, run):
    out, _ = made
    words = ["--method", "random", "--thin", "15", "--seed", "5", "--seed", "5", "--r", "0.5"]
    result = run("bench", "stream", *TINY, *words, "--out", out)
    assert result.exit_code == 0, result.output
    assert "r = 0.5, every 15th image of the data set (quick), seed 5" in result.stdout
    assert (out / "stream-digits-r0.5-thin15-quick.md").exists()


def test_data_sets_are_listed_and_drawn_without_running_anything(run, tmp_path):
    result = run("bench", "data-sets", "--dataset", "digits", "--out", tmp_path, "--json")
    assert result.exit_code == 0, result.output
    (row,) = json.loads(result.stdout.splitlines()[-1])["rows"]
    assert (row["data set"], row["images"], row["classes"]) == ("digits", 1797, 10)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "data-sets.csv", "data-sets.md", "data-sets.png",
    ]  # fmt: skip


@pytest.mark.parametrize("command", STUDIES)
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--dataset", "mnits"], "the data set must be one of"),
        (["--method", "defualt"], "the method must be one of"),
    ],
)
def test_unknown_names_are_refused_in_one_line_before_any_work(
    run, tmp_path, command, words, message
):
    result = run("bench", command, *words, "--out", tmp_path)
    assert result.exit_code == 2
    assert len(result.stderr.splitlines()) == 1
    assert message in result.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", ["stream", "data-sets"])
def test_a_file_in_the_place_of_the_folder_is_refused(run, tmp_path, command):
    (tmp_path / "taken").touch()
    result = run("bench", command, "--dataset", "digits", "--out", tmp_path / "taken")
    assert result.exit_code == 2
    assert "give another with --out" in result.stderr


@pytest.mark.parametrize(
    "words", [["--seed", "-1"], ["--thin", "0"], ["--jobs", "0"], ["--r", "0"], ["--r", "1.5"]]
)
def test_impossible_options_are_refused(run, tmp_path, words):
    result = run(
        "bench", "stream", "--dataset", "digits", "--method", "random", *words, "--out", tmp_path
    )
    assert result.exit_code == 2, result.output
    assert len(result.stderr.splitlines()) == 1
    assert result.stderr.startswith("csim: ")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--seed", "-1"], "--seed must be a whole number, 0 or more; got '-1'"),
        (["--seed", "0.5"], "--seed must be a whole number, 0 or more; got '0.5'"),
        (["--thin", "0"], "--thin must be a whole number, 1 or more; got '0'"),
        (["--r", "some"], "--r must be a number; got 'some'"),
    ],
)
def test_a_number_that_is_none_is_named_with_what_it_must_be(run, tmp_path, words, told):
    result = run("bench", "stream", *words, "--out", tmp_path)
    assert (result.exit_code, result.stderr) == (2, f"csim: {told}\n")


@pytest.mark.parametrize("command", CHOICES)
@pytest.mark.parametrize("words", [["--seed", "-1"], ["--jobs", "0"], ["--seed", "x"]])
def test_a_choice_refuses_impossible_options_in_one_line(run, tmp_path, command, words):
    result = run("bench", command, *words, "--out", tmp_path)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"csim: {words[0]} must be a whole number")
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize("command", CHOICES)
def test_a_choice_without_a_data_folder_says_what_to_do_and_leaves_nothing(run, tmp_path, command):
    result = run("bench", command, "--quick", "--jobs", "1", "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert result.stderr.splitlines() == [
        "csim: csim must know where the data sets are; set CSIM_DATA to their folder, or pass "
        "--data-dir"
    ]
    assert result.stdout == ""
