"""Results of runs: what they hold, and when they count as finished."""

import re
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from bench.nearest_mean import NearestMean, few_digits

from csim.bench import results
from csim.bench.case import Case
from csim.bench.json_lines import put, read_lines
from csim.bench.origin import fingerprint
from csim.bench.run import run
from csim.errors import InputError
from csim.metrics.figures import milestones, summarise

CASE = Case("nearest-mean", "digits", seed=3, thin=6, changes={"far": 500}, own_method=NearestMean)


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
    return results.describe(
        CASE, results.describe_stream(data, stream), done, peak_memory_mb=123.456789
    )


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
        "fingerprint": fingerprint(few_digits()),
    }


def test_the_settings_of_ours_are_all_there(data, stream, done):
    case = Case("paper", "digits", seed=2, changes={"epochs": 3})
    assert (
        results.describe(case, results.describe_stream(data, stream), done, 1.0)["settings"]
        == case.settings.to_dict()
    )


def test_the_figures_are_those_of_the_log_and_what_was_forgotten(content, done):
    assert content["figures"] == asdict(summarise(done.events, done.truth)) | {
        "forgetting": done.forgetting
    }
    assert content["classes"] == [asdict(each) for each in milestones(done.events, done.truth)]


def test_costs_stand_apart(content, done):
    assert content["cost"] == {
        "seconds": done.seconds,
        "seconds_training": done.seconds_training,
        "seconds_first_training": done.seconds_first_training,
        "images_per_second": len(done.truth) / done.seconds,
        "forward_per_second": done.forward_per_second,
        "peak_memory_mb": 123.456789,
    }


def keys_in(value):
    """Return the keys at every depth, except settings, which are documented elsewhere."""
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


def test_a_result_from_before_a_setting_existed_is_still_taken(tmp_path, data, stream, done):
    case = Case("default", "digits", seed=2)
    whole = results.describe(case, results.describe_stream(data, stream), done, 1.0)
    older = {name: value for name, value in whole["settings"].items() if name != "update_epochs"}
    results.write(tmp_path, case, whole | {"settings": older})
    assert results.read(tmp_path, case).settings == case.settings.to_dict()
    other = replace(case, changes={"update_epochs": 3, "update_steps": 0})
    results.write(tmp_path, other, whole | identity_of(other) | {"settings": older})
    assert results.read(tmp_path, other) is None


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
    assert result.content["curve"]["positions"] == content["curve"]["positions"]
    assert result.content["curve"]["final"] == pytest.approx(content["curve"]["final"], abs=5e-5)


def test_runs_of_a_data_set_share_a_file_and_curves_have_their_own(tmp_path, written, content):
    other = replace(CASE, seed=1)
    results.write(tmp_path, other, {**content, **identity_of(other)})
    names = [other.name, CASE.name]
    assert written.name == "digits.jsonl"
    assert list(read_lines(written).entries) == names
    assert list(read_lines(written.parent / "curves.jsonl").entries) == names
    assert all("curve" not in entry.content for entry in read_lines(written).entries.values())
    assert len(list(written.parent.iterdir())) == 2


def test_a_run_takes_few_bytes(written):
    assert written.stat().st_size < 3000
    assert (written.parent / "curves.jsonl").stat().st_size < 3000


def test_images_of_your_own_have_a_file_of_their_own(tmp_path):
    own = replace(CASE, data="curves", path=tmp_path / "own.npz")
    assert results.path_of(tmp_path, own).name.startswith("curves+")


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
    results.write(tmp_path, case, {**content, **identity_of(case)})
    assert results.read(tmp_path, case) is not None
    assert results.missing(tmp_path, [case]) == []


def test_a_result_from_before_a_setting_was_added_is_one_without_it(tmp_path, content):
    case = Case("default", "digits")
    earlier = {name: value for name, value in case.parameters.items() if name != "audit"}
    results.write(tmp_path, case, {**content, **identity_of(case), "settings": earlier})
    assert results.read(tmp_path, case) is not None
    other = {**earlier, "audit": 0.1}
    results.write(tmp_path, case, {**content, **identity_of(case), "settings": other})
    assert results.read(tmp_path, case) is None


def identity_of(case):
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
def test_a_line_of_another_format_or_another_run_is_no_result(tmp_path, written, change):
    put(written, CASE.name, read_lines(written).entries[CASE.name].content | change)
    assert results.read(tmp_path, CASE) is None
    assert results.missing(tmp_path, [CASE]) == [CASE]


def test_a_line_of_another_format_need_not_look_like_ours(tmp_path, written):
    put(written, CASE.name, {"format": 2, "runs": []})
    assert results.read(tmp_path, CASE) is None


@pytest.mark.parametrize("lacking", ["format", "method", "settings", "figures", "origin"])
def test_a_line_that_lacks_something_is_refused_and_kept(tmp_path, written, lacking):
    content = read_lines(written).entries[CASE.name].content
    del content[lacking]
    put(written, CASE.name, content)
    before = written.read_bytes()
    with pytest.raises(
        InputError, match=f"{written}, line 1 is not the result of a run .*{lacking}.*delete"
    ):
        results.read(tmp_path, CASE)
    assert written.read_bytes() == before


def test_a_damaged_line_does_not_hide_the_others(tmp_path, written):
    written.write_text('{"name": "digits-half' + "\n" + written.read_text())
    assert results.read(tmp_path, CASE) is not None
    with pytest.raises(InputError, match=f"{written}, line 1 is damaged .*delete that line"):
        results.read_all(tmp_path, [CASE, replace(CASE, seed=9)])


def test_a_run_without_its_curve_is_refused(tmp_path, written):
    curves = written.parent / "curves.jsonl"
    curves.write_text("{\n")
    with pytest.raises(InputError, match=f"{curves}, line 1 is damaged"):
        results.read(tmp_path, CASE)
    curves.unlink()
    with pytest.raises(InputError, match=f"{written}, line 1 .*its curve is not in {curves}"):
        results.read(tmp_path, CASE)


@pytest.mark.parametrize("packed", [{}, {"images": 9}, {"images": 40, "window": 1, "errors": {}}])
def test_a_damaged_curve_is_refused(tmp_path, written, packed):
    put(written.parent / "curves.jsonl", CASE.name, packed)
    with pytest.raises(InputError, match=f"{written}, line 1 is not the result of a run"):
        results.read(tmp_path, CASE)


def test_a_folder_in_the_place_of_a_file_is_refused(tmp_path, content):
    results.path_of(tmp_path, CASE).mkdir(parents=True)
    with pytest.raises(InputError, match=r"cannot be read \(Is a directory\)"):
        results.read(tmp_path, CASE)
    with pytest.raises(InputError, match="cannot be read"):
        results.write(tmp_path, CASE, content)


def test_results_come_in_the_order_of_their_cases(tmp_path, written, content):
    others = [replace(CASE, seed=seed) for seed in (5, 4)]
    results.write(tmp_path, others[1], {**content, **identity_of(others[1])})
    found = results.read_all(tmp_path, [others[1], others[0], CASE])
    assert [result and result.seed for result in found] == [4, None, 3]


def test_a_name_of_any_length_can_be_written(tmp_path, content):
    case = replace(CASE, data="é" * 300)
    results.write(tmp_path, case, {**content, **identity_of(case)})
    assert results.read(tmp_path, case) is not None


def test_missing_are_the_cases_without_a_result_each_once_in_order(tmp_path, written):
    others = [replace(CASE, seed=seed) for seed in (5, 4, 5)]
    assert results.missing(tmp_path, [others[0], CASE, *others]) == others[:2]
    assert results.missing(tmp_path, []) == []
