"""The ablation: the default preset without one addition at a time, on seeds of its own."""

import pytest
from bench.hand_results import column, hand_results

from csim.bench.plans.plan import Plan
from csim.bench.tables import ablation
from csim.settings import Settings

PLAN = Plan(seeds=(100, 101))
RESULTS = hand_results(ablation.cases(PLAN))
TABLE = ablation.make(RESULTS, PLAN).table


def test_each_change_takes_something_from_the_preset_and_no_two_are_the_same():
    preset = Settings().to_dict()
    for name, change in ablation.WITHOUT.items():
        assert change, name
        assert all(preset[setting] != value for setting, value in change.items()), name
    names = {case.name for case in ablation.cases(PLAN)}
    assert len(names) == len(ablation.cases(PLAN)) == (1 + len(ablation.WITHOUT)) * 2


def test_every_change_can_be_made():
    for case in ablation.cases(PLAN):
        assert case.settings.to_dict() | case.changes == case.settings.to_dict()


def test_the_runs_are_the_default_s_on_fashion_mnist_at_two_percent_of_labels():
    for case in ablation.cases(PLAN):
        assert (case.method, case.data, case.thin, case.budget) == (
            "default",
            "fashion-mnist",
            5,
            0.02,
        )
        assert case.seed >= 100


def test_the_first_rows_are_the_preset_itself():
    assert [case.changes for case in ablation.cases(PLAN)[:2]] == [{}, {}]
    assert column(TABLE, "seed", changed="nothing") == [100, 101]
    assert [row["changed"] for row in TABLE.rows[:2]] == ["nothing"] * 2


def test_each_row_tells_in_words_and_in_settings_what_was_taken_away():
    told = list(dict.fromkeys(row["changed"] for row in TABLE.rows))[1:]
    assert len(told) == len(ablation.WITHOUT)
    for words, (name, change) in zip(told, ablation.WITHOUT.items(), strict=True):
        assert words.startswith(f"{name}: ")
        assert all(f"{setting}={value}" in words for setting, value in change.items())


@pytest.mark.parametrize(
    ("heading", "figure"),
    [
        ("accuracy %", "accuracy"),
        ("at arrival %", "accuracy_at_arrival"),
        ("training s", "seconds_training"),
    ],
)
def test_each_change_has_the_figures_of_its_runs(heading, figure):
    for change in ({}, *ablation.WITHOUT.values()):
        own = [r for r in RESULTS if r.content["case"]["changes"] == change]
        rows = [
            row
            for row in TABLE.rows
            if any(row["accuracy %"] == r.figures["accuracy"] for r in own)
        ]
        assert [row[heading] for row in rows] == [r.figures[figure] for r in own]
        assert len(own) == 2


def test_the_command_makes_the_same_again():
    assert (TABLE.name, TABLE.command) == ("ablation", "csim bench ablation --seed 100 --seed 101")
    quick = ablation.make(RESULTS[:1], PLAN.quick()).table
    assert (quick.name, quick.command) == (
        "ablation-quick",
        "csim bench ablation --quick --seed 100",
    )


def test_the_notes_tell_the_data_set_the_budget_and_what_the_columns_mean():
    notes = " ".join(TABLE.notes)
    for words in ("every 5th image", "fashion-mnist", "2 % of labels", "labels %:", "rejected:"):
        assert words in notes
