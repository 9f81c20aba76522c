"""The label curve: methods at several budgets, `paper` where it stands by itself."""

import pytest
from bench.hand_results import assert_tidy, column, hand_result, hand_results, legend_texts

from csim.bench.methods import OURS, budget_in
from csim.bench.plans.plan import Plan
from csim.bench.tables import label_curve, stream

pytestmark = pytest.mark.slow

PLAN = Plan(seeds=(0, 1))
RESULTS = hand_results(label_curve.cases(PLAN))
SHEET = label_curve.make(RESULTS, PLAN)
# Labels, accuracy and M_new as the paper prints them, in percent.
PAPER = {
    "mnist": (17.41, 94.27, 30.41),
    "fashion-mnist": (34.39, 93.13, 52.59),
    "emnist-47": (40.29, 85.77, 21.06),
    "cifar-10-grey": (39.91, 53.31, 54.68),
}
PAPER_BUDGETS = {data: round(labels / 100, 4) for data, (labels, _, _) in PAPER.items()}


def test_budgets_are_one_two_five_and_ten_percent_and_the_paper_s_own():
    for data, paper_budget in PAPER_BUDGETS.items():
        for method in set(OURS) - {"paper"}:
            cases = [
                c
                for c in label_curve.cases(PLAN)
                if (c.method, c.data, c.seed) == (method, data, 1)
            ]
            assert [case.settings.budget for case in cases] == [0.01, 0.02, 0.05, 0.1, paper_budget]


def test_the_share_of_echo_d_is_swept():
    shares = [0.1, 0.2, 0.3, 0.4, 0.5]
    cases = [
        c for c in label_curve.cases(PLAN) if (c.method, c.data, c.seed) == ("echo-d", "mnist", 1)
    ]
    assert [case.settings.share for case in cases] == shares
    wanted = {"data_set": "mnist", "method": "echo-d", "seed": 1}
    assert column(SHEET.table, "budget %", **wanted) == [f"{100 * share:g}" for share in shares]


def test_paper_has_no_budget_and_is_the_stream_table_s_run():
    own = [case for case in label_curve.cases(PLAN) if case.method == "paper"]
    assert {case.budget for case in own} == {None}
    assert {case.name for case in own} <= {case.name for case in stream.cases(PLAN)}
    assert len(own) == len(PAPER_BUDGETS) * len(PLAN.seeds)


def test_no_run_is_there_twice_and_those_with_the_stream_table_s_budgets_are_the_stream_table_s():
    names = [case.name for case in label_curve.cases(PLAN)]
    assert len(set(names)) == len(names)
    shared = set(names) & {case.name for case in stream.cases(PLAN)}
    assert len(shared) == len(PAPER_BUDGETS) * len(PLAN.seeds) * len(
        ["paper", "default", "least-sure", "random", "echo-d"]
    )


def test_a_quick_look_takes_fashion_mnist_and_fewer_budgets():
    cases = label_curve.cases(PLAN.quick())
    assert {case.data for case in cases} == {"fashion-mnist"}
    assert {case.settings.budget for case in cases if case.method in OURS} == {1, 0.02, 0.1, 0.3439}
    assert [case.settings.share for case in cases if case.method == "echo-d"] == [0.1, 0.5]
    given = label_curve.cases(Plan(data=("digits",), methods=OURS).quick())
    assert {(case.data, case.settings.budget) for case in given} == {
        ("digits", 1),
        ("digits", 0.02),
        ("digits", 0.1),
    }


def test_rows_hold_the_figures_of_their_run():
    assert len(SHEET.table.rows) == len(RESULTS)
    for result in RESULTS:
        budget = budget_in(result.settings)
        wanted = {"data_set": result.data, "method": result.method, "seed": result.seed}
        place = column(SHEET.table, "budget %", **wanted).index(
            "none" if budget is None else f"{100 * budget:g}"
        )
        for heading, name in (
            ("accuracy %", "accuracy"),
            ("M_new %", "m_new"),
            ("labels %", "labels_percent"),
        ):
            assert column(SHEET.table, heading, **wanted)[place] == result.figures[name]


def test_the_lead_is_over_the_run_of_the_same_data_set_budget_and_seed():
    accuracy = {
        (r.data, r.method, budget_in(r.settings), r.seed): r.figures["accuracy"] for r in RESULTS
    }
    for name in ("least-sure", "random"):
        for result, lead in zip(RESULTS, column(SHEET.table, f"ahead of {name}"), strict=True):
            if result.method == "default":
                other = accuracy[result.data, name, budget_in(result.settings), result.seed]
                assert lead == pytest.approx(result.figures["accuracy"] - other)
            else:
                assert lead is None


def test_without_the_simple_methods_there_is_no_lead():
    plan = Plan(data=("digits",), methods=("default",), seeds=(0,))
    table = label_curve.make(hand_results(label_curve.cases(plan)), plan).table
    assert set(column(table, "ahead of least-sure")) == {None}


def test_reported_columns_are_the_paper_s():
    for data, printed in (
        ("mnist", ["17.41 ± 0.18", "94.27 ± 0.48", "30.41 ± 3.15"]),
        ("fashion-mnist", ["34.39 ± 1.17", "93.13 ± 0.10", "52.59 ± 3.52"]),
    ):
        for name, value in zip(("labels %", "accuracy %", "M_new %"), printed, strict=True):
            assert set(column(SHEET.table, f"reported {name}", data_set=data, method="paper")) == {
                value
            }
            assert set(
                column(SHEET.table, f"reported {name}", data_set=data, method="default")
            ) == {""}


def test_the_picture_has_accuracy_above_m_new_a_column_per_data_set():
    top = SHEET.picture.axes[: len(PAPER_BUDGETS)]
    bottom = SHEET.picture.axes[len(PAPER_BUDGETS) :]
    assert [axes.get_title() for axes in top] == list(PAPER_BUDGETS)
    assert (top[0].get_ylabel(), bottom[0].get_ylabel()) == (
        "accuracy, %",
        "M_new, % of novel images",
    )
    for axes in SHEET.picture.axes:
        assert axes.get_xscale() == "log"
    SHEET.picture.draw_without_rendering()
    low, high = bottom[0].get_xlim()
    shown = [
        tick.get_text()
        for place, tick in zip(bottom[0].get_xticks(), bottom[0].get_xticklabels(), strict=True)
        if low <= place <= high
    ]
    assert shown[:5] == ["1", "2", "5", "10", "20"]
    assert "labels" in bottom[0].get_xlabel()


def test_points_stand_at_the_labels_told_and_at_the_mean():
    for place, (name, data) in enumerate(
        (name, data) for name in ("accuracy", "m_new") for data in PAPER_BUDGETS
    ):
        lines = {
            c.get_label(): c.lines[0].get_xydata().tolist()
            for c in SHEET.picture.axes[place].containers
        }
        for method in OURS:
            expected = []
            for budget in (
                [None] if method == "paper" else [0.01, 0.02, 0.05, 0.1, PAPER_BUDGETS[data]]
            ):
                own = [
                    r.figures
                    for r in RESULTS
                    if (r.data, r.method, budget_in(r.settings)) == (data, method, budget)
                ]
                labels, values = (
                    [figures[key] for figures in own] for key in ("labels_percent", name)
                )
                expected.append([sum(labels) / len(labels), sum(values) / len(values)])
            assert lines[method] == [pytest.approx(point) for point in expected]


def test_the_paper_s_own_figure_is_a_star():
    stars = [
        [line.get_xydata()[0].tolist() for line in axes.lines if line.get_marker() == "*"]
        for axes in SHEET.picture.axes
    ]
    above = stars[: len(PAPER)]
    below = stars[len(PAPER) :]
    assert above == [[[labels, accuracy]] for labels, accuracy, _ in PAPER.values()]
    assert below == [[[labels, m_new]] for labels, _, m_new in PAPER.values()]


def test_a_method_that_was_told_nothing_is_left_out_of_the_picture_and_not_of_the_table():
    plan = Plan(data=("digits",), methods=("paper", "default"), seeds=(0,))
    results = [
        hand_result(case, **({"labels_percent": 0.0} if case.method == "paper" else {}))
        for case in label_curve.cases(plan)
    ]
    sheet = label_curve.make(results, plan)
    assert column(sheet.table, "labels %", method="paper") == [0.0]
    assert_tidy(sheet.picture)


@pytest.mark.parametrize("plan", [PLAN, PLAN.quick(), Plan(data=("digits",), known_share=0.5)])
def test_no_words_cover_anything(plan):
    picture = label_curve.make(hand_results(label_curve.cases(plan)), plan).picture
    assert_tidy(picture)
    assert legend_texts(picture)[:4] == list(OURS)
