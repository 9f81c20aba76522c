"""Cases: what tells one run from every other."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from bench.nearest_mean import NearestMean, few_digits

from csim.bench.answers import Answers
from csim.bench.case import Case
from csim.bench.datasets import DataSet
from csim.bench.datasets.digits import digits
from csim.bench.scenario import SCENARIOS
from csim.errors import CsimError, InputError, SettingsError
from csim.settings import Settings

PLAIN = Case("default", "mnist")
DISTINCT = [
    PLAIN,
    replace(PLAIN, method="paper"),
    replace(PLAIN, method="paper", ask_at_end=True),
    replace(PLAIN, data="fashion-mnist"),
    replace(PLAIN, seed=1),
    replace(PLAIN, seed=11),
    replace(PLAIN, known_share=0.5),
    replace(PLAIN, known_share=1 / 3),
    replace(PLAIN, known_share=0.333333),
    replace(PLAIN, thin=5),
    replace(PLAIN, thin=51),
    replace(PLAIN, scenario="drift"),
    replace(PLAIN, budget=0.0),
    replace(PLAIN, budget=0.02),
    replace(PLAIN, budget=0.0200001),
    replace(PLAIN, budget=1.0),
    replace(PLAIN, answers=Answers(delay=1000)),
    replace(PLAIN, answers=Answers(delay=1_000_001)),
    replace(PLAIN, answers=Answers(delay=1_000_002)),
    replace(PLAIN, answers=Answers(jitter=1000)),
    replace(PLAIN, answers=Answers(delay=1000, jitter=1000)),
    replace(PLAIN, answers=Answers(missing=0.1)),
    replace(PLAIN, answers=Answers(wrong=0.1)),
    replace(PLAIN, changes={"epochs": 5}),
    replace(PLAIN, changes={"epochs": 55}),
    replace(PLAIN, changes={"epochs": 5, "margin": 0.5}),
    replace(PLAIN, changes={"learning_rate": 1e-5}),
    replace(PLAIN, changes={"learning_rate": 1e-6}),
    replace(PLAIN, changes={"flip": True}),
    replace(PLAIN, path=Path("birds.npz")),
    replace(PLAIN, path=Path("fish.npz")),
    replace(PLAIN, path=Path("fish/npz")),
    replace(PLAIN, path=Path("fish_npz")),
    replace(PLAIN, data="x" * 300),
    replace(PLAIN, data="x" * 301),
]


def test_distinct_cases_have_distinct_names():
    assert len({case.name for case in DISTINCT}) == len(DISTINCT)


def test_the_same_case_has_the_same_name_whatever_the_order_of_its_changes():
    one = replace(PLAIN, changes={"epochs": 5, "margin": 0.5})
    two = replace(PLAIN, changes={"margin": 0.5, "epochs": 5})
    assert one.name == two.name


@pytest.mark.parametrize(
    ("case", "name"),
    [
        (PLAIN, "mnist-default-r0.3-seed0"),
        (
            Case("random", "emnist-47", 2, 0.5, 5, budget=0.4029),
            "emnist-47-random-r0.5-thin5-budget=0.4029-seed2",
        ),
        (replace(PLAIN, scenario="long-tail"), "mnist-default-r0.3-long-tail-seed0"),
        (
            replace(PLAIN, answers=Answers(delay=10_000, wrong=0.05)),
            "mnist-default-r0.3-delay=10000-wrong=0.05-seed0",
        ),
        (
            replace(PLAIN, changes={"margin": 1.5, "epochs": 5}),
            "mnist-default-r0.3-epochs=5-margin=1.5-seed0",
        ),
        (replace(PLAIN, data="birds", path=Path("b.npz")), "birds+5dcff8f4-default-r0.3-seed0"),
    ],
)
def test_names_stay_as_they_are_so_that_old_results_are_found(case, name):
    assert case.name == name


@pytest.mark.parametrize(
    "data",
    ["../../etc/passwd", "a b\tc\nd", "naïve ☃", 'q"\\*?<>|:', "-rf", "~", "☃" * 300, "x" * 200],
)
def test_a_name_is_a_plain_file_name_whatever_the_data_set_is_called(data):
    name = Case("default", data, changes={"device": "cuda:0/../x"}, path=Path("x.npz")).name
    assert Path(name).name == name
    assert len(f"{name}.json".encode()) <= 255
    assert not set(name) & set('/\\:*?"<>|~ \t\n')


@pytest.mark.parametrize("case", DISTINCT, ids=lambda case: case.name)
def test_a_description_is_plain_and_tells_all_but_method_data_and_seed(case):
    described = case.describe()
    assert json.loads(json.dumps(described)) == described
    same = [other for other in DISTINCT if other.describe() == described]
    assert all(
        replace(other, method=case.method, data=case.data, seed=case.seed) == case for other in same
    )


def test_a_description_stays_as_it_is_so_that_old_results_are_taken():
    described = {
        "known_share": 0.3,
        "thin": 1,
        "scenario": "paper",
        "budget": 0.02,
        "answers": {"delay": 0, "jitter": 0, "missing": 0.0, "wrong": 0.0},
        "changes": {"epochs": 5},
        "path": None,
    }
    assert Case("default", "mnist", 2, budget=0.02, changes={"epochs": 5}).describe() == described
    as_written = Case("paper", "mnist", 2, budget=0.02, changes={"epochs": 5}).describe()
    assert as_written == described | {"as_written": True, "ask_at_end": False}


def test_the_papers_method_alone_has_all_labelled_images_in_its_warm_up():
    data = few_digits()
    paper = Case("paper", "digits").stream(data)
    other = Case("default", "digits").stream(data)
    assert len(paper.held_out) == 0 < len(other.held_out)
    assert len(paper.warm_up) == len(other.warm_up) + len(other.held_out)
    assert paper.names == other.names


def test_the_parameters_of_ours_are_all_settings():
    case = Case("paper", "mnist", seed=4, budget=0.5, changes={"epochs": 2})
    assert (
        case.parameters
        == case.settings.to_dict()
        == Settings.paper(seed=4, budget=0.5, epochs=2).to_dict()
    )


def test_a_method_of_ones_own_is_opened_as_given_and_has_the_parameters_it_tells():
    case = Case("nearest-mean", "digits", seed=4, changes={"far": 500}, own_method=NearestMean)
    assert case.open_method is NearestMean
    assert case.parameters == {"far": 500, "seed": 4}
    assert case.name == "digits-nearest-mean-r0.3-far=500-seed4"


def test_a_method_of_ones_own_may_not_take_the_name_of_another():
    with pytest.raises(
        InputError, match="must not be named like one of csim's, got 'paper'; choose another"
    ):
        _ = Case("paper", "digits", own_method=NearestMean).parameters


def test_images_are_loaded_and_thinned():
    every = Case("default", "digits").load(None)
    third = Case("default", "digits", thin=3).load(None)
    assert every.names == digits().names
    assert third.names == every.names[::3]
    assert np.array_equal(third.images, every.images[::3])


def test_own_images_are_read_under_the_given_name(tmp_path):
    data = few_digits(20)
    np.savez(tmp_path / "own.npz", images=data.images, labels=data.names)
    loaded = Case("default", "mine", path=tmp_path / "own.npz", thin=2).load(None)
    assert (loaded.name, loaded.names) == ("mine", data.names[::2])


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_stream_is_the_scenarios_with_the_cases_share_and_seed(scenario):
    data = few_digits()
    stream = Case("default", "digits", 5, 0.4, scenario=scenario).stream(data)
    expected = SCENARIOS[scenario](data, known_share=0.4, seed=5)
    assert stream.names == expected.names
    assert np.array_equal(stream.images, expected.images)
    assert len(set(stream.warm_up_names)) == 4


def refusal(act, *args):
    try:
        act(*args)
    except CsimError as error:
        return type(error), str(error)
    return None


@pytest.mark.parametrize("scenario", [*SCENARIOS, "papr"])
@pytest.mark.parametrize("share", [0, 0.05, 0.1, 0.2, 0.3, 0.99, 1, float("nan"), -1])
def test_a_check_refuses_what_a_stream_refuses_in_the_same_words(scenario, share):
    case = Case("default", "digits", known_share=share, scenario=scenario)
    assert refusal(case.check, few_digits()) == refusal(case.stream, few_digits())


@pytest.mark.parametrize("names", ["", "aabb", "aabbc", "aaaabbbbcccc"])
def test_a_check_looks_at_every_class_of_the_data(names):
    data = DataSet("letters", np.zeros((len(names), 8, 8), np.uint8), list(names))
    case = Case("default", "letters", known_share=0.7)
    assert refusal(case.check, data) == refusal(case.stream, data)
    assert (refusal(case.check, data) is None) == (names == "aaaabbbbcccc")


def test_nothing_can_be_changed_in_a_case():
    with pytest.raises(AttributeError):
        PLAIN.seed = 3


def test_bad_settings_are_told_when_they_are_asked_for():
    with pytest.raises(SettingsError, match="epochs must lie between"):
        _ = Case("default", "digits", changes={"epochs": 0}).settings
