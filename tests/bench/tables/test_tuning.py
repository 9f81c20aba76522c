"""The tuning table: settings of the paper preset changed, on seeds that no published table uses."""

import pytest
from bench.hand_results import column, hand_results

from csim.bench.plans.plan import Plan
from csim.bench.tables import tuning
from csim.settings import Settings

PLAN = Plan(seeds=(200, 201), thin=1)
RESULTS = hand_results(tuning.cases(PLAN))
TABLE = tuning.make(RESULTS, PLAN).table


def test_each_change_is_a_change_and_no_two_are_the_same():
    preset = Settings.paper().to_dict()
    for change in tuning.TRIED:
        assert all(preset[name] != value for name, value in change.items()), change
    assert len({case.name for case in tuning.cases(PLAN)}) == len(tuning.TRIED) * 2


def test_the_runs_are_the_papers_on_whole_streams_of_fashion_mnist():
    for case in tuning.cases(PLAN):
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
def test_each_change_has_the_figures_of_its_runs(heading, figure):
    for change in tuning.TRIED:
        words = ", ".join(f"{name}={value}" for name, value in sorted(change.items())) or "nothing"
        own = [r.figures[figure] for r in RESULTS if r.content["case"]["changes"] == change]
        assert len(own) == 2
        assert column(TABLE, heading, changed=words) == own


def test_the_command_makes_the_same_again():
    assert TABLE.command == "csim bench tuning --seed 200 --seed 201"
    assert (
        tuning.make(RESULTS[:1], PLAN.quick()).table.command
        == "csim bench tuning --quick --seed 200"
    )
