"""The sensitivity figure: one setting at a time, the paper's method, Fashion-MNIST."""

import pytest
import torch
from bench.hand_results import assert_tidy, column, hand_results, legend_texts
from bench.vectors.test_parameters import by_hand
from torch.nn import functional

from csim.bench.plans.plan import Plan
from csim.bench.tables import sensitivity, stream
from csim.embed.losses import JointLoss, evenly
from csim.embed.mining import AllPositive

pytestmark = pytest.mark.slow

PLAN = Plan(seeds=(0, 1))
RESULTS = hand_results(sensitivity.cases(PLAN))
SHEET = sensitivity.make(RESULTS, PLAN)
UNITS = (25, 50, 100, 200, 400)
MARGINS = (0.1, 0.25, 0.5, 0.75, 1, 1.5, 3)


def test_one_setting_changes_at_a_time_and_the_unchanged_run_is_there_once():
    pairs = [
        (case.settings.hidden_units, case.settings.margin)
        for case in sensitivity.cases(Plan(seeds=(0,)))
    ]
    assert sorted(pairs) == sorted(
        {*((n, 1.0) for n in UNITS), *((200, margin) for margin in MARGINS)}
    )
    for case in sensitivity.cases(PLAN):
        assert (case.method, case.data) == ("paper", "fashion-mnist")
        assert len(case.changes) <= 1


def test_a_quick_look_takes_three_values_each():
    pairs = {
        (case.settings.hidden_units, case.settings.margin)
        for case in sensitivity.cases(PLAN.quick())
    }
    assert pairs == {(50, 1), (200, 1), (400, 1), (200, 0.25), (200, 3)}


def test_the_unchanged_run_is_the_stream_table_s():
    finished = {case.name for case in stream.cases(PLAN)}
    assert [case.name in finished for case in sensitivity.cases(PLAN)].count(True) == len(
        PLAN.seeds
    )


def test_each_value_has_the_figures_of_its_runs():
    for setting, name, values in (("n", "hidden_units", UNITS), ("γ", "margin", MARGINS)):
        assert list(dict.fromkeys(column(SHEET.table, "value", setting=setting))) == [
            f"{v:g}" for v in values
        ]
        for value in values:
            found = [r for r in RESULTS if r.settings[name] == value]
            other = "margin" if name == "hidden_units" else "hidden_units"
            own = [r for r in found if other not in r.content["case"]["changes"]]
            for heading, figure in (
                ("accuracy %", "accuracy"),
                ("F_new %", "f_new"),
                ("M_new %", "m_new"),
            ):
                expected = [r.figures[figure] for r in own]
                assert column(SHEET.table, heading, setting=setting, value=f"{value:g}") == expected


def test_parameters_grow_with_the_hidden_units_and_not_with_the_margin():
    for n in UNITS:
        assert set(column(SHEET.table, "parameters", setting="n", value=f"{n}")) == {
            by_hand(n, layers=1)
        }
    assert set(column(SHEET.table, "parameters", setting="γ")) == {by_hand(200, layers=1)}


def test_a_margin_above_log_3_changes_no_gradient():
    generator = torch.Generator().manual_seed(0)
    drawn = torch.randn(24, 8, generator=generator)
    columns = torch.arange(24) % 3
    gradients = []
    for margin in (0.5, 1.5, 3.0):
        vectors = drawn.clone().requires_grad_()
        loss = JointLoss(beta=1.0, margin=margin, mining=AllPositive(), weighting=evenly)
        loss(functional.normalize(vectors, dim=1), torch.zeros(24, 3), columns).backward()
        gradients.append(vectors.grad)
    assert torch.allclose(gradients[1], gradients[2], atol=1e-7)
    assert not torch.allclose(gradients[0], gradients[1], atol=1e-7)


def test_the_picture_has_a_row_per_setting_and_a_panel_per_figure():
    panels = SHEET.picture.axes
    assert [axes.get_xlabel() for axes in panels] == ["n, hidden units"] * 4 + ["γ, margin"] * 4
    labels = [
        "accuracy, %",
        "M_new, % of novel images",
        "F_new, % of existing images",
        "all training, s",
    ]
    assert [axes.get_ylabel() for axes in panels] == labels * 2
    assert [axes.get_xscale() for axes in panels] == ["log"] * 4 + ["linear"] * 4
    for axes, values in ((panels[0], UNITS), (panels[4], MARGINS)):
        SHEET.picture.draw_without_rendering()
        assert [label.get_text() for label in axes.get_xticklabels()] == [
            f"{value:g}" for value in values
        ]


def test_lines_go_through_the_means():
    for axes, name, values in (
        (SHEET.picture.axes[0], "hidden_units", UNITS),
        (SHEET.picture.axes[4], "margin", MARGINS),
    ):
        (line,) = axes.containers
        rows = column(SHEET.table, "setting")
        assert rows
        for value, height in line.lines[0].get_xydata():
            symbol = "n" if name == "hidden_units" else "γ"
            own = column(SHEET.table, "accuracy %", setting=symbol, value=f"{value:g}")
            assert height == pytest.approx(sum(own) / len(own))
        assert line.lines[0].get_xdata().tolist() == list(values)


def test_the_paper_s_choice_is_marked():
    for axes, choice in ((SHEET.picture.axes[0], 200), (SHEET.picture.axes[4], 1)):
        (mark,) = (line for line in axes.lines if line.get_label() == "the paper's choice")
        assert mark.get_xdata() == [choice, choice]
    assert legend_texts(SHEET.picture) == ["paper", "the paper's choice"]


def test_other_data_sets_and_methods_can_be_asked_for():
    plan = Plan(data=("digits", "mnist"), methods=("default", "paper"), seeds=(0,)).quick()
    sheet = sensitivity.make(hand_results(sensitivity.cases(plan)), plan)
    assert set(column(sheet.table, "data set")) == set(plan.data)
    assert set(column(sheet.table, "method")) == set(plan.methods)
    assert [axes.get_title(loc="left") for axes in sheet.picture.axes[::4]] == [
        "digits",
        "digits",
        "mnist",
        "mnist",
    ]
    assert_tidy(sheet.picture)


@pytest.mark.parametrize("plan", [PLAN, PLAN.quick()])
def test_no_words_cover_anything(plan):
    assert_tidy(sensitivity.make(hand_results(sensitivity.cases(plan)), plan).picture)
