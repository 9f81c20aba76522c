"""The tuning table: readings of the paper, on seeds that no published table uses."""

from itertools import product

import pytest
from bench.hand_results import column, hand_results

from csim.bench.plans.plan import Plan
from csim.bench.tables import tuning
from csim.settings import Settings

PLAN = Plan(seeds=(200, 201), thin=1)
CASES = tuning.cases(PLAN)
RESULTS = hand_results(CASES)
TABLE = tuning.make(RESULTS, PLAN).table


def test_no_two_runs_are_the_same():
    assert len({case.name for case in CASES}) == len(CASES) == len(TABLE.rows)


def test_every_combination_of_thresholds_training_and_alpha_is_tried():
    tried = {
        (case.settings.threshold, case.settings.update_steps, case.settings.update_epochs, alpha)
        for case in CASES
        for alpha in [case.settings.alpha]
        if case.scenario == "paper"
    }
    wanted = product(
        ("mean-bound", "mean-bound-model"), ((0, 0), (300, 0), (0, 10)), (0.05, 0.5, 0.99)
    )
    assert {(t, *training, alpha) for t, training, alpha in wanted} == tried


def test_the_further_rows_change_one_thing_of_the_preset():
    preset = Settings.paper(seed=200).to_dict()
    further = [row["further"] for row in TABLE.rows if row["seed"] == 200]
    cases = [case for case in CASES if case.seed == 200]
    changed = {
        name: (case.changes, case.scenario)
        for name, case in zip(further, cases, strict=True)
        if name
    }
    assert len(changed) == 6
    for changes, scenario in changed.values():
        assert len(changes) + (scenario != "paper") == 1
        assert all(preset[name] != value for name, value in changes.items())


def test_the_row_that_the_further_ones_change_is_the_preset():
    (row,) = [
        index
        for index, case in enumerate(CASES)
        if not case.changes and case.scenario == "paper" and case.seed == 200
    ]
    assert [TABLE.rows[row][key] for key in TABLE.keys] == ["model", "from scratch", "0.5", ""]


def test_the_runs_are_the_papers_on_whole_streams_of_fashion_mnist():
    for case in CASES:
        assert (case.method, case.data, case.thin, case.budget) == (
            "paper",
            "fashion-mnist",
            1,
            None,
        )
        assert case.seed >= 200


@pytest.mark.parametrize(
    ("heading", "figure"), [("accuracy %", "accuracy"), ("rejected novel %", "rejected_novel")]
)
def test_each_row_has_the_figures_of_its_run(heading, figure):
    assert column(TABLE, heading) == [result.figures[figure] for result in RESULTS]
    assert column(TABLE, "seed") == [case.seed for case in CASES]


def test_the_command_makes_the_same_again():
    assert TABLE.command == "csim bench tuning --seed 200 --seed 201"
    quick = PLAN.quick()
    again = tuning.make(hand_results(tuning.cases(quick)), quick).table
    assert again.command == "csim bench tuning --quick --seed 200"
