"""Result files summed up."""

import pytest

from csim.bench.json_lines import put
from csim.bench.report.runs import Runs, read


def leave(folder, name, method="paper", data="mnist", seed=0, **origin):
    """Write a run with what the summary reads."""
    content = {
        "format": 1,
        "method": method,
        "data": data,
        "seed": seed,
        "stream": {"images": 1000},
        "figures": {"accuracy": 50.0},
        "cost": {"seconds": 90.0},
        "origin": {
            "commit": "abc",
            "machine": "m, 2 cores",
            "time": "2026-01-02T03:04:05+00:00",
            **origin,
        },
    }
    put(folder / "runs" / f"{data}.jsonl", name, content)


@pytest.fixture
def folder(tmp_path):
    leave(tmp_path, "a", seed=1)
    leave(tmp_path, "b", seed=0, commit="def+")
    leave(tmp_path, "c", method="default", commit="def+")
    leave(tmp_path, "d", data="fashion-mnist", commit=None)
    return tmp_path


def test_runs_tell_what_they_are_of(folder):
    runs = read(folder)
    assert len(runs) == 4
    assert runs.methods == ["paper", "default"]
    assert runs.data == ["mnist", "fashion-mnist"]
    assert runs.seeds == [0, 1]
    assert runs.images == 4000
    assert runs.hours == pytest.approx(0.1)
    assert runs.damaged == {}


def test_runs_are_counted_by_method_and_data_set(folder):
    runs = read(folder)
    counts = {(m, d): runs.count(m, d) for m in runs.methods for d in runs.data}
    assert counts == {
        ("paper", "mnist"): 2,
        ("paper", "fashion-mnist"): 1,
        ("default", "mnist"): 1,
        ("default", "fashion-mnist"): 0,
    }


def test_origins_are_told_the_most_frequent_first_and_none_is_left_out(folder):
    runs = read(folder)
    assert runs.origins("commit") == ["def+", "abc"]
    assert runs.origins("machine") == ["m, 2 cores"]
    assert runs.origins("weather") == []


def test_entries_of_another_kind_are_not_runs(folder):
    put(folder / "runs" / "embedding.jsonl", "a", {"kind": "embedding", "panels": {}})
    trial = {"kind": "metric", "method": "lmnn", "data": "mnist", "seed": 0}
    put(folder / "runs" / "metric.jsonl", "a", trial)
    put(folder / "runs" / "curves.jsonl", "a", {"images": 1000, "window": 25})
    (folder / "runs" / "notes.txt").write_text("no JSON", encoding="utf-8")
    (folder / "runs" / ".half.part").write_text("{", encoding="utf-8")
    runs = read(folder)
    assert len(runs) == 4
    assert runs.damaged == {}


@pytest.mark.parametrize(
    "text", ["{", "[]", "3", '{"name": "e"}', '{"name": "e", "figures": 1, "method": "a"}']
)
def test_a_damaged_line_is_named_and_the_others_are_read(folder, text):
    with (folder / "runs" / "mnist.jsonl").open("a", encoding="utf-8") as file:
        file.write(text)
    runs = read(folder)
    assert len(runs) == 4
    assert list(runs.damaged) == ["mnist.jsonl, line 4"]


def test_a_damaged_curve_is_named(folder):
    (folder / "runs" / "curves.jsonl").write_text("{")
    assert list(read(folder).damaged) == ["curves.jsonl, line 1"]


def test_a_file_that_cannot_be_read_is_named(folder):
    (folder / "runs" / "zz.jsonl").mkdir()
    assert list(read(folder).damaged) == ["zz.jsonl"]
    assert len(read(folder)) == 4


def test_without_files_there_are_no_runs(tmp_path):
    assert read(tmp_path) == Runs([], {})
    assert len(read(tmp_path)) == 0
    assert read(tmp_path).methods == read(tmp_path).seeds == []
