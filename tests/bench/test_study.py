"""Many cases: each is run once, its file is kept, and mistakes are told before the work."""

import multiprocessing
import os
import tempfile
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from bench.nearest_mean import NearestMean, few_digits
from PIL import Image

from csim.bench.answers import Answers
from csim.bench.case import Case
from csim.bench.json_lines import put, read_lines
from csim.bench.results import path_of, read
from csim.bench.run import run
from csim.bench.study import measure, prepare
from csim.errors import CsimError, InputError
from csim.metrics.figures import summarise

CASE = Case("nearest-mean", "digits", thin=6, own_method=NearestMean)
CASES = [replace(CASE, seed=seed) for seed in (2, 0, 1)]
OURS = Case(
    "default",
    "digits",
    thin=6,
    changes={
        "channels": 4,
        "hidden_units": 16,
        "embedding_size": 16,
        "epochs": 1,
        "update_steps": 5,
        "ask_every": 20,
    },
)


def lasting(content):
    """Return what must be the same whenever and wherever a run is made."""
    return {key: value for key, value in content.items() if key not in ("cost", "origin")}


def runs_in(folder):
    return {path.name: path.stat().st_mtime_ns for path in (folder / "runs").iterdir()}


def save(path, data):
    np.savez(path, images=data.images, labels=data.names)
    return path


def test_results_come_in_the_order_of_the_cases_and_are_on_disk(tmp_path):
    results = measure(CASES, tmp_path)
    assert [result.seed for result in results] == [2, 0, 1]
    assert set(runs_in(tmp_path)) == {"digits.jsonl", "curves.jsonl"}
    for case, result in zip(CASES, results, strict=True):
        assert read(tmp_path, case) == result


@pytest.mark.parametrize(
    "case", [replace(CASE, seed=4, answers=Answers(delay=30, wrong=0.2)), replace(OURS, seed=4)]
)
def test_the_figures_are_those_of_a_run_by_hand(tmp_path, case):
    stream = case.stream(few_digits())
    done = run(stream, case.open_method, answers=case.answers, seed=4)
    result = measure([case], tmp_path)[0]
    for name, value in vars(summarise(done.events, done.truth)).items():
        assert result.figures[name] == (
            value if value is None else pytest.approx(value, abs=1e-4)
        ), name
    assert result.figures["forgetting"] == pytest.approx(done.forgetting, abs=1e-4)
    assert result.content["stream"]["images"] == len(stream.images)


def test_what_is_finished_is_not_run_again(tmp_path):
    first = measure(CASES[:2], tmp_path)
    before = runs_in(tmp_path)
    assert measure(CASES[:2], tmp_path) == first
    assert runs_in(tmp_path) == before
    told = []
    again = measure(CASES, tmp_path, on_run=lambda todo, *step: told.append(todo))
    assert again[:2] == first
    assert told[0] == CASES[2:]


def test_a_run_of_other_settings_is_made_again_in_the_same_place(tmp_path):
    measure([CASE], tmp_path)
    path = path_of(tmp_path, CASE)
    content = read(tmp_path, CASE).content
    stored = read_lines(path).entries[CASE.name].content
    put(path, CASE.name, stored | {"settings": {"seed": 0, "was": "different"}, "figures": {}})
    assert lasting(measure([CASE], tmp_path)[0].content) == lasting(content)
    assert len(read_lines(path).entries) == 1


def test_the_same_case_twice_is_run_once(tmp_path):
    told = []
    results = measure([CASE, CASE], tmp_path, on_run=lambda todo, *step: told.append(todo))
    assert len(results) == 2
    assert told[0] == [CASE]


def test_a_run_made_elsewhere_has_the_same_content_but_for_costs_and_origin(tmp_path):
    one, two = (measure([OURS], tmp_path / place)[0].content for place in ("here", "there"))
    assert lasting(one) == lasting(two)
    assert set(one) - set(lasting(one)) == {"cost", "origin"}


def test_costs_are_measured(tmp_path):
    content = measure([OURS], tmp_path)[0].content
    cost = content["cost"]
    count = content["stream"]["images"]
    assert 0 < cost["seconds_training"] < cost["seconds"]
    assert cost["images_per_second"] == pytest.approx(count / cost["seconds"], rel=0.01)
    assert cost["forward_per_second"] > 0
    assert 20 < cost["peak_memory_mb"] < 20_000


def test_the_end_is_told_when_the_result_is_there(tmp_path):
    steps = []

    def on_run(todo, place, done, total):
        steps.append((place, done, total))
        assert (read(tmp_path, todo[place]) is not None) == (done == total)

    measure(CASES, tmp_path, on_run=on_run)
    for place, case in enumerate(CASES):
        own = [(done, total) for which, done, total in steps if which == place]
        count = read(tmp_path, case).content["stream"]["images"]
        assert own == sorted(own)
        assert own[-1] == (count, count)
        assert len(own) > 1


def test_own_images_are_run_and_run_again_once_they_have_changed(tmp_path):
    data = few_digits()
    path = save(tmp_path / "own.npz", data)
    case = Case(
        "nearest-mean", "mnist", path=path, own_method=NearestMean
    )  # not to be taken for the known one
    first = measure([case], tmp_path)[0].content
    os.utime(path)
    assert measure([case], tmp_path)[0].content == first
    np.savez(path, images=255 - data.images, labels=data.names)
    other = measure([case], tmp_path)[0].content
    assert other["stream"]["fingerprint"] != first["stream"]["fingerprint"]
    save(path, data)
    assert lasting(measure([case], tmp_path)[0].content) == lasting(first)
    assert set(runs_in(tmp_path)) == {f"{case.data_name}.jsonl", "curves.jsonl"}
    assert len(read_lines(path_of(tmp_path, case)).entries) == 1


def test_the_images_of_a_folder_are_read_once_and_counted(tmp_path):
    data = few_digits()
    for index, (image, name) in enumerate(zip(data.images, data.names, strict=True)):
        (tmp_path / "own" / name).mkdir(parents=True, exist_ok=True)
        Image.fromarray(image).save(tmp_path / "own" / name / f"{index}.png")
    case = Case("nearest-mean", "own", path=tmp_path / "own", own_method=NearestMean)
    steps = []
    measure([case], tmp_path, on_load=lambda *step: steps.append(step))
    count = len(data.images)
    path = str(tmp_path / "own")
    assert steps == [(path, done + 1, count, "images") for done in range(count)]


BAD = {
    "method": replace(OURS, method="defualt"),
    "name of an own method": replace(CASE, method="paper"),
    "setting": replace(OURS, changes={"epochs": 0}),
    "data set": replace(CASE, data="digit"),
    "share": replace(CASE, known_share=0.05),
    "scenario": replace(CASE, scenario="papr"),
    "thin": replace(CASE, thin=0),
    "path": replace(CASE, path=Path("nowhere.npz")),
    "few images": replace(CASE, thin=200),
}


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
def test_a_mistake_in_any_case_is_told_before_the_first_run_and_leaves_nothing(tmp_path, bad):
    with pytest.raises(CsimError):
        measure([*CASES, bad], tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_without_a_data_folder_nothing_is_begun(tmp_path, monkeypatch):
    monkeypatch.delenv("CSIM_DATA", raising=False)
    with pytest.raises(InputError, match="set CSIM_DATA to their folder, or pass --data-dir"):
        measure([CASE, replace(CASE, data="mnist")], tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_result_is_told_before_the_first_run(tmp_path):
    path = path_of(tmp_path, CASES[1])
    path.parent.mkdir()
    path.write_text("{")
    with pytest.raises(InputError, match=f"{path}, line 1 is damaged .*delete that line"):
        measure(CASES, tmp_path)
    assert set(runs_in(tmp_path)) == {path.name}


def test_what_a_killed_run_left_half_written_is_swept_away(tmp_path):
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / ".abcd.part").write_text('{"format": 1, "meth')
    measure([CASE], tmp_path)
    assert set(runs_in(tmp_path)) == {"digits.jsonl", "curves.jsonl"}


@pytest.mark.parametrize("taken", ["out", "out/runs"])
def test_a_file_in_the_place_of_a_folder_is_refused_and_kept(tmp_path, taken):
    (tmp_path / taken).parent.mkdir(exist_ok=True)
    (tmp_path / taken).write_text("mine")
    with pytest.raises(
        InputError,
        match=f"{tmp_path / taken} must be a folder that csim can write to .*; give another",
    ):
        measure([CASE], tmp_path / "out")
    assert (tmp_path / taken).read_text() == "mine"


def test_a_folder_is_made_with_those_above_it_and_nothing_in_it(tmp_path):
    prepare(tmp_path / "a" / "b")
    (tmp_path / "a" / "b" / ".writable").write_text("mine")
    prepare(tmp_path / "a" / "b")
    assert (tmp_path / "a" / "b" / ".writable").read_text() == "mine"
    assert len(list((tmp_path / "a" / "b").iterdir())) == 1


def test_a_place_where_nobody_may_write_is_refused():
    with pytest.raises(InputError, match="/proc/csim must be a folder that csim can write to"):
        prepare(Path("/proc/csim"))


def refuse_as_nobody(folder):
    os.setuid(65534)
    with pytest.raises(
        InputError, match=r"must be a folder that csim can write to \(Permission denied\)"
    ):
        prepare(folder)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_a_folder_of_somebody_else_is_refused():
    """Root may write anywhere, so a process of nobody tries."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        process = multiprocessing.get_context("fork").Process(
            target=refuse_as_nobody, args=(Path(folder),)
        )
        process.start()
        process.join()
        assert process.exitcode == 0


@pytest.mark.slow
def test_several_processes_leave_the_same_files(tmp_path):
    far = partial(NearestMean, far=450)
    cases = [replace(case, own_method=far) for case in CASES]
    measure(cases, tmp_path / "one")
    measure(cases, tmp_path / "two", jobs=2)
    for case in cases:
        one, two = (read(tmp_path / place, case).content for place in ("one", "two"))
        assert lasting(one) == lasting(two)
