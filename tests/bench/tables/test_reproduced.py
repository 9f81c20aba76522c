"""The paper's own method, reported and reproduced: with and without its share of labels."""

import pytest
from bench.hand_results import assert_tidy, column, hand_result, hand_results, legend_texts

from csim.bench.plans.plan import DATA, Plan
from csim.bench.plans.reported import STREAM
from csim.bench.tables import reproduced

PLAN = Plan(seeds=(0, 1), thin=1)
CASES = reproduced.cases(PLAN)
RESULTS = hand_results(CASES)
SHEET = reproduced.make(RESULTS, PLAN)


def test_every_data_set_runs_without_a_limit_and_with_the_papers_share():
    assert {(case.data, case.seed, case.budget) for case in CASES} == {
        (data, seed, budget)
        for data in DATA
        for seed in (0, 1)
        for budget in (None, round(STREAM[data]["paper"].labels / 100, 4))
    }
    assert all((case.method, case.thin, case.changes) == ("paper", 1, {}) for case in CASES)


@pytest.mark.parametrize(
    ("heading", "figure"),
    [
        ("accuracy %", "accuracy"),
        ("labels %", "labels_percent"),
        ("unasked %", "accuracy_unasked"),
        ("M_new %", "m_new"),
        ("F_new %", "f_new"),
    ],
)
def test_rows_hold_the_figures_of_their_run(heading, figure):
    assert column(SHEET.table, heading) == [result.figures[figure] for result in RESULTS]
    assert column(SHEET.table, "seed") == [case.seed for case in CASES]


def test_reported_figures_are_the_papers():
    row = next(row for row in SHEET.table.rows if row["data set"] == "fashion-mnist")
    assert row["reported accuracy %"] == "93.13 ± 0.10"
    assert row["reported labels %"] == "34.39 ± 1.17"
    assert row["reported M_new %"] == "52.59 ± 3.52"
    assert row["reported F_new %"] == "0.11 ± 0.02"
    assert row["reported unasked %"] == "89.5"  # (93.13 - 34.39) / (100 - 34.39)


def test_limits_are_named():
    assert set(column(SHEET.table, "limit %", data_set="mnist")) == {"–", "17.41"}


def test_the_picture_has_a_star_per_data_set_and_a_mark_per_run():
    for axes, data in zip(SHEET.picture.axes, DATA, strict=True):
        stars = [line for line in axes.lines if line.get_marker() == "*"]
        told = STREAM[data]["paper"]
        assert [line.get_xydata()[0].tolist() for line in stars] == [[told.labels, told.accuracy]]
        points = [tuple(p) for line in axes.lines if line not in stars for p in line.get_xydata()]
        assert sorted(points) == sorted(
            (r.figures["labels_percent"], r.figures["accuracy"]) for r in RESULTS if r.data == data
        )
    assert legend_texts(SHEET.picture)[:2] == ["no limit", "limited to the paper's labels"]
    assert_tidy(SHEET.picture)


def test_a_data_set_that_the_paper_lacks_has_no_limit_and_nothing_reported():
    plan = Plan(data=("digits",), seeds=(0,), thin=1)
    (case,) = reproduced.cases(plan)
    (row,) = reproduced.make([hand_result(case)], plan).table.rows
    assert (case.budget, row["limit %"], row["reported accuracy %"]) == (None, "–", "")


def test_the_command_makes_the_same_again():
    assert SHEET.table.command == "csim bench reproduced --seed 0 --seed 1"
