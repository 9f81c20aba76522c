"""Result files: what they hold, when they are taken, and that they are whole or not there."""

import json
import multiprocessing
import os
import re
import resource
import time
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
from bench.nearest_mean import NearestMean, few_digits

from csim.bench import results
from csim.bench.case import Case
from csim.bench.datasets import DataSet
from csim.bench.run import run
from csim.errors import InputError
from csim.metrics.figures import milestones, summarise
from csim.metrics.labels import class_names, final, named

CASE = Case("nearest-mean", "digits", seed=3, thin=6, changes={"far": 500}, own_method=NearestMean)
LARGE = 20_000_000  # bytes: enough to be caught while they are written


@pytest.fixture(scope="module")
def data():
    return few_digits()


@pytest.fixture(scope="module")
def stream(data):
    return CASE.stream(data)


@pytest.fixture(scope="module")
def done(stream):
    return run(stream, NearestMean)


@pytest.fixture(scope="module")
def content(data, stream, done):
    return results.describe(CASE, data, stream, done, peak_memory_mb=123.456789)


@pytest.fixture
def written(tmp_path, content):
    results.write(tmp_path, CASE, content)
    return results.path_of(tmp_path, CASE)


def test_a_file_says_what_was_run(content, stream):
    assert (content["method"], content["data"], content["seed"]) == ("nearest-mean", "digits", 3)
    assert content["case"] == CASE.describe()
    assert content["settings"] == {"far": 500, "seed": 3}
    assert content["stream"] == {
        "images": len(stream.images),
        "warm_up": len(stream.warm_up),
        "held_out": len(stream.held_out),
        "classes": 10,
        "known": sorted(set(stream.warm_up_names)),
        "image_shape": [8, 8],
        "fingerprint": results.fingerprint(few_digits()),
    }


def test_the_settings_of_ours_are_all_there(data, stream, done):
    case = Case("paper", "digits", seed=2, changes={"epochs": 3})
    assert results.describe(case, data, stream, done, 1.0)["settings"] == case.settings.to_dict()


def test_the_figures_are_those_of_the_log_and_what_was_forgotten(content, done):
    assert content["figures"] == asdict(summarise(done.events, done.truth)) | {
        "forgetting": done.forgetting
    }
    assert content["classes"] == [asdict(each) for each in milestones(done.events, done.truth)]


def test_costs_stand_apart(content, done):
    assert content["cost"] == {
        "seconds": done.seconds,
        "seconds_training": done.seconds_training,
        "images_per_second": len(done.truth) / done.seconds,
        "forward_per_second": done.forward_per_second,
        "peak_memory_mb": 123.456789,
    }


def test_the_curve_is_the_accuracy_over_the_last_images(content, done):
    curve, count = content["curve"], len(done.truth)
    labels = named(final(done.events), class_names(done.events))
    is_right = [labels[item_id] == name for item_id, name in done.truth.items()]
    assert curve["window"] == count // 40
    assert curve["positions"] == sorted(set(curve["positions"]))
    assert (curve["positions"][0], curve["positions"][-1]) == (curve["window"], count)
    for position, accuracy in zip(curve["positions"], curve["final"], strict=True):
        assert accuracy == pytest.approx(
            100 * np.mean(is_right[position - curve["window"] : position])
        )
    assert len(curve["at_arrival"]) == len(curve["final"]) <= 200


def test_a_curve_of_a_short_stream_has_a_point_per_image(data):
    case = replace(CASE, known_share=0.9)
    few = DataSet("few", data.images[:100], data.names[:100])
    stream = case.stream(few)
    curve = results.describe(case, few, stream, run(stream, NearestMean), 1.0)["curve"]
    assert curve["positions"] == list(range(1, len(stream.images) + 1))


def test_the_origin_tells_time_machine_versions_and_commit(content):
    assert set(content["origin"]) == {
        "time", "python", "csim", "torch", "numpy", "scipy", "scikit-learn", "machine", "commit",
    }  # fmt: skip


def keys_in(value):
    """Return the keys at every depth, but for what a method or a metric is documented to have elsewhere."""
    if isinstance(value, list):
        return {key for entry in value for key in keys_in(entry)}
    if not isinstance(value, dict):
        return set()
    return {
        *value,
        *(
            k
            for key, part in value.items()
            if key not in ("settings", "changes")
            for k in keys_in(part)
        ),
    }


def test_every_field_is_documented(content):
    docs = Path(__file__).parents[2] / "docs"
    told = set(
        re.findall(
            r"`([\w-]+)`", (docs / "bench.md").read_text() + (docs / "metrics.md").read_text()
        )
    )
    assert keys_in(content) - told == set()
    assert len(keys_in(content)) > 60


def test_what_is_written_is_read_again(tmp_path, written, content):
    result = results.read(tmp_path, CASE)
    assert (result.method, result.data, result.seed) == ("nearest-mean", "digits", 3)
    assert result.settings == {"far": 500, "seed": 3}
    for part in ("figures", "cost"):
        for name, value in content[part].items():
            assert result.figures[name] == (
                value if value is None else pytest.approx(value, abs=5e-5)
            ), name
    assert result.content["stream"] == content["stream"]
    assert result.content["classes"] == content["classes"]
    assert written.name == "digits-nearest-mean-r0.3-thin6-far=500-seed3.json"


def test_a_file_is_small_readable_and_open_to_others(written):
    text = written.read_text(encoding="utf-8")
    assert len(text) < 30_000
    assert len(text.splitlines()) > 100
    assert written.stat().st_mode & 0o777 == 0o644


def test_writing_the_same_again_gives_the_same_bytes_and_leaves_nothing_else(
    tmp_path, written, content
):
    before = written.read_bytes()
    results.write(tmp_path, CASE, content)
    assert written.read_bytes() == before
    assert [path.name for path in written.parent.iterdir()] == [written.name]


@pytest.mark.parametrize(
    "case",
    [
        replace(CASE, known_share=1 / 3),
        replace(CASE, changes={"far": 0.00001}),
        replace(CASE, changes={"far": [1, 2]}),
        replace(CASE, changes={"ends": (1, 2.123456789)}),
        replace(CASE, data="naïve ☃", changes={}),
    ],
    ids=lambda case: case.name,
)
def test_a_case_of_any_values_finds_its_own_file(tmp_path, content, case):
    results.write(tmp_path, case, {**content, **asdict_identity(case)})
    assert results.read(tmp_path, case) is not None
    assert results.missing(tmp_path, [case]) == []


def asdict_identity(case):
    told = {"method": case.method, "data": case.data, "seed": case.seed}
    return {**told, "case": case.describe(), "settings": case.parameters}


def test_without_a_file_or_even_a_folder_there_is_no_result(tmp_path):
    (tmp_path / "file").touch()
    assert results.read(tmp_path, CASE) is None
    assert results.read(tmp_path / "none", CASE) is None
    assert results.read(tmp_path / "file", CASE) is None


@pytest.mark.parametrize(
    "change",
    [
        {"format": 0},
        {"format": 2},
        {"settings": {"far": 501, "seed": 3}},
        {"settings": {"far": 500, "seed": 3, "new": 1}},
        {"case": CASE.describe() | {"known_share": 0.31}},
        {"case": CASE.describe() | {"path": "elsewhere.npz"}},
        {"data": "mnist"},
        {"method": "default"},
        {"seed": 4},
    ],
    ids=str,
)
def test_a_file_of_another_format_or_another_run_is_no_result(tmp_path, written, change):
    written.write_text(json.dumps(json.loads(written.read_text()) | change))
    assert results.read(tmp_path, CASE) is None
    assert results.missing(tmp_path, [CASE]) == [CASE]


def test_a_file_of_another_format_need_not_look_like_ours(tmp_path, written):
    written.write_text('{"format": 2, "runs": []}')
    assert results.read(tmp_path, CASE) is None


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: "",
        lambda text: text[: len(text) // 2],
        lambda text: text + "}",
        lambda text: "[1, 2, 3]",
        lambda text: "7",
        lambda text: '{"method": "default"}',
        lambda text: json.dumps(
            {key: value for key, value in json.loads(text).items() if key != "figures"}
        ),
        lambda text: json.dumps(
            {key: value for key, value in json.loads(text).items() if key != "settings"}
        ),
        lambda text: b"\xff\xfe\x00",
    ],
)
def test_a_damaged_file_is_named_and_kept(tmp_path, written, damage):
    damaged = damage(written.read_text())
    content = damaged if isinstance(damaged, bytes) else damaged.encode()
    written.write_bytes(content)
    with pytest.raises(
        InputError, match=f"{written} is not a result file .*; delete it to have it made again"
    ):
        results.read(tmp_path, CASE)
    assert written.read_bytes() == content


def test_a_folder_in_the_place_of_a_file_is_refused(tmp_path):
    results.path_of(tmp_path, CASE).mkdir(parents=True)
    with pytest.raises(InputError, match=r"cannot be read \(Is a directory\)"):
        results.read(tmp_path, CASE)
    with pytest.raises(InputError, match="could not be written"):
        results.write(tmp_path, CASE, {})
    assert len(list((tmp_path / "runs").iterdir())) == 1


def test_a_name_of_any_length_can_be_written(tmp_path, content):
    case = replace(CASE, data="é" * 300)
    results.write(tmp_path, case, {**content, **asdict_identity(case)})
    assert results.read(tmp_path, case) is not None


def test_missing_are_the_cases_without_a_result_each_once_in_order(tmp_path, written):
    others = [replace(CASE, seed=seed) for seed in (5, 4, 5)]
    assert results.missing(tmp_path, [others[0], CASE, *others]) == others[:2]
    assert results.missing(tmp_path, []) == []


def test_a_file_that_could_not_be_written_leaves_the_old_one_and_no_trace(
    tmp_path, written, content
):
    """The system refuses large files here: what a full disk does."""
    before = written.read_bytes()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        with pytest.raises(
            InputError, match=f"{written} could not be written .*; mend that and start again"
        ):
            results.write(tmp_path, CASE, content)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert written.read_bytes() == before
    assert [path.name for path in written.parent.iterdir()] == [written.name]


# A writer that takes its time, in a process of its own.


def write_slowly(path):
    """Write a file so large that it can be caught half-way."""
    while True:
        results.write_whole(path, "x" * LARGE)


def is_at_it(folder):
    return any(size_of(part) > 0 for part in folder.glob(".*.part"))


def size_of(path):
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


@pytest.fixture
def writer(tmp_path):
    """Return a process that is always about to write a file, and that file's path."""
    path = tmp_path / "runs" / "large.json"
    process = multiprocessing.get_context("fork").Process(target=write_slowly, args=(path,))
    process.start()
    yield process, path
    process.kill()
    process.join()


def wait_for(claim, seconds=600):
    end = time.monotonic() + seconds
    while not claim():
        assert time.monotonic() < end, "it never happened"


def test_a_killed_writer_leaves_no_half_file_under_the_final_name_and_the_rest_is_swept(
    tmp_path, writer
):
    process, path = writer
    for _ in range(20):
        wait_for(lambda: is_at_it(path.parent))
        assert size_of(path) in (0, LARGE)
    process.kill()
    process.join()
    assert size_of(path) in (0, LARGE)
    (path.parent / ".hidden").touch()
    results.sweep(tmp_path)
    assert {each.name for each in path.parent.iterdir()} <= {path.name, ".hidden"}
    assert (path.parent / ".hidden").exists()


def test_a_sweep_leaves_alone_what_another_process_is_writing(tmp_path, writer):
    process, path = writer
    wait_for(lambda: is_at_it(path.parent))
    sweeps = 0
    while sweeps < 100 or not path.exists():
        results.sweep(tmp_path)
        sweeps += 1
        assert process.is_alive(), "its file was taken away"
    assert size_of(path) == LARGE


def test_sweeping_where_there_is_nothing_does_nothing(tmp_path):
    results.sweep(tmp_path / "none")
    results.sweep(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_fingerprint_tells_other_images_and_other_names(data):
    other = data.images.copy()
    other[0, 0, 0] ^= 1
    names = [data.names[1], data.names[0], *data.names[2:]]
    prints = [
        results.fingerprint(each)
        for each in (
            data,
            DataSet("other images", other, data.names),
            DataSet("other names", data.images, names),
            DataSet("fewer", data.images[:-1], data.names[:-1]),
        )
    ]
    assert len(set(prints)) == 4
    assert all(len(each) == 16 for each in prints)


def test_a_fingerprint_is_the_same_for_the_same_images_however_they_lie_in_memory(data):
    turned = np.asfortranarray(data.images)
    assert results.fingerprint(
        DataSet("another name", turned, list(data.names))
    ) == results.fingerprint(data)


def test_the_commit_is_gits_own_or_none():
    commit = results.origin()["commit"]
    if os.path.isdir(os.path.join(os.path.dirname(results.__file__), "../../.git")):
        assert commit.rstrip("+").isalnum()
    assert commit is None or len(commit) >= 12
