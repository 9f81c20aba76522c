"""The table of photographs: encoders against each other, csim against simple methods."""

from itertools import product

import pytest
from bench.hand_results import column, hand_results

from csim.bench.methods import budget_in
from csim.bench.plans.plan import Plan
from csim.bench.tables import photos
from csim.errors import InputError

PLAN = Plan(seeds=(0, 1), thin=1)
CASES = photos.cases(PLAN)
RESULTS = hand_results(CASES)
SHEET = photos.make(RESULTS, PLAN)


def test_no_two_runs_are_the_same():
    assert len({case.name for case in CASES}) == len(CASES) == len(SHEET.table.rows)


def test_every_method_runs_on_the_pretrained_encoder_with_every_budget():
    frozen = {
        (case.method, case.data, case.seed, budget_in(case.settings.to_dict()))
        for case in CASES
        if case.parameters["encoder"] == "lite0"
    }
    methods = ("default", "least-sure", "logistic")
    assert frozen == set(product(methods, photos.DATA, (0, 1), photos.BUDGETS))


def test_the_own_network_runs_on_the_same_streams_in_small():
    own = [case for case in CASES if case.parameters["encoder"] == "own"]
    assert {(case.data, case.seed, case.settings.budget) for case in own} == {
        (case.data, case.seed, case.settings.budget)
        for case in CASES
        if case.parameters["encoder"] == "lite0" and case.method == "default"
    }
    assert {(case.method, case.size) for case in own} == {("default", (64, 64))}


def test_a_lead_is_the_difference_to_the_same_seed_and_encoder():
    rows = SHEET.table.rows
    keys = ("data set", "budget %", "encoder", "seed")
    accuracy = {(*(row[key] for key in keys), row["method"]): row["accuracy %"] for row in rows}
    for row in rows:
        terms = tuple(row[key] for key in keys)
        for name in ("least-sure", "logistic"):
            lead = row[f"points ahead of {name}"]
            if row["method"] != "default" or row["encoder"] == "own":
                assert lead is None
            else:
                assert lead == pytest.approx(row["accuracy %"] - accuracy[*terms, name])


def test_methods_on_one_data_set_and_budget_stand_together_the_default_first():
    first = [row["method"] for row in SHEET.table.rows if row["seed"] == 0][:4]
    assert first == ["default", "least-sure", "logistic", "default"]
    assert column(SHEET.table, "encoder", seed=0)[:4] == ["lite0", "lite0", "lite0", "own"]


def test_the_picture_has_a_panel_per_data_set():
    assert [axes.get_title() for axes in SHEET.picture.axes] == list(photos.DATA)


def test_the_quick_table_covers_fruits_alone():
    quick = Plan(seeds=(3,)).quick()
    sheet = photos.make(hand_results(photos.cases(quick)), quick)
    assert set(column(sheet.table, "data set")) == {"fruits"}
    assert sheet.table.name == "photos-quick"
    assert sheet.table.command == "csim bench photos --quick --seed 3"
    assert SHEET.table.command == "csim bench photos --seed 0 --seed 1"


def test_a_public_data_set_is_a_table_of_its_own():
    plan = Plan(data=("eurosat",), seeds=(0,), thin=1)
    sheet = photos.make(hand_results(photos.cases(plan)), plan)
    assert set(column(sheet.table, "data set")) == {"eurosat"}
    assert sheet.table.name == "photos-eurosat"
    assert sheet.table.command == "csim bench photos --dataset eurosat --seed 0"


def test_a_data_set_without_photographs_is_refused():
    with pytest.raises(InputError, match="flowers-102, which are photographs; got 'mnist'"):
        photos.cases(Plan(data=("mnist",), thin=1))
