"""The table of convolution layers: three networks per method, one of them the unchanged one."""

import pytest
from bench.hand_results import SMALL, assert_tidy, column, hand_results, legend_texts
from bench.vectors.test_parameters import DEFAULT, PAPER, by_hand

from csim.bench.methods import settings_of
from csim.bench.plans.plan import Plan
from csim.bench.tables import convolution, stream

PLAN = Plan(seeds=(0, 1))
RESULTS = hand_results(convolution.cases(PLAN))
SHEET = convolution.make(RESULTS, PLAN)
LAYERS = {
    method: settings_of(method, seed=0, changes={}).conv_layers for method in convolution.METHODS
}
REPORTED = (
    "reported accuracy %",
    "reported M_new %",
    "reported F_new %",
    "reported one training min",
)


def test_every_method_runs_with_each_number_of_layers_on_fashion_mnist():
    cases = convolution.cases(PLAN)
    assert {(c.method, c.data, c.seed, c.settings.conv_layers) for c in cases} == {
        (method, "fashion-mnist", seed, layers)
        for method in convolution.METHODS
        for seed in (0, 1)
        for layers in (0, 1, 2)
    }
    assert len({case.name for case in cases}) == len(cases) == 3 * 2 * len(convolution.METHODS)


@pytest.mark.parametrize("plan", [Plan(), Plan().quick(), Plan(known_share=0.5, thin=1)])
def test_runs_with_a_method_s_own_number_of_layers_are_the_stream_table_s(plan):
    finished = {case.name for case in stream.cases(plan)}
    own = [
        case for case in convolution.cases(plan) if case.settings.conv_layers == LAYERS[case.method]
    ]
    assert len(own) == len(convolution.METHODS) * len(plan.seeds)
    assert all(case.name in finished for case in own)


def test_rows_hold_the_figures_of_their_run():
    rows = {(row["method"], row["conv layers"], row["seed"]): row for row in SHEET.table.rows}
    assert len(rows) == len(RESULTS)
    for result in RESULTS:
        row = rows[result.method, result.settings["conv_layers"], result.seed]
        assert row["accuracy %"] == result.figures["accuracy"]
        assert row["M_new %"] == result.figures["m_new"]
        assert row["F_new %"] == result.figures["f_new"]
        assert row["one training s"] == result.figures["seconds_first_training"]
        assert row["all training s"] == result.figures["seconds_training"]
        own = PAPER if result.method == "paper" else DEFAULT
        assert row["parameters"] == by_hand(200, layers=row["conv layers"], **own)


def test_reported_columns_are_the_paper_s():
    printed = {
        0: ["88.97 ± 0.46", "56.40 ± 2.41", "0.16 ± 0.03", "1.89 ± 0.08"],
        1: ["93.13 ± 0.10", "52.59 ± 3.52", "0.11 ± 0.02", "4.89 ± 0.44"],
        2: ["93.13 ± 0.08", "52.51 ± 1.64", "0.22 ± 0.03", "8.06 ± 0.08"],
    }
    for row in SHEET.table.rows:
        expected = printed[row["conv layers"]] if row["method"] == "paper" else [""] * 4
        assert [row[name] for name in REPORTED] == expected


@pytest.mark.parametrize("change", [{"data": ("mnist",)}, {"known_share": 0.5}])
def test_elsewhere_the_paper_reports_nothing(change):
    plan = Plan(methods=("paper",), seeds=(0,), **change)
    sheet = convolution.make(hand_results(convolution.cases(plan)), plan)
    for name in REPORTED:
        assert set(column(sheet.table, name)) == {""}
    assert legend_texts(sheet.picture) == ["paper"]


def test_the_picture_shows_means_over_layers_in_four_panels():
    panels = SHEET.picture.axes
    labels = [
        "accuracy, %",
        "M_new, % of novel images",
        "F_new, % of existing images",
        "all training, s",
    ]
    assert [axes.get_ylabel() for axes in panels] == labels
    assert {axes.get_xlabel() for axes in panels} == {"convolution layers"}
    for axes, name in zip(panels, ("accuracy", "m_new", "f_new", "seconds_training"), strict=True):
        lines = {c.get_label(): c.lines[0].get_xydata() for c in axes.containers}
        for method in convolution.METHODS:
            for layers, height in lines[method]:
                values = [
                    result.figures[name]
                    for result in RESULTS
                    if (result.method, result.settings["conv_layers"]) == (method, layers)
                ]
                assert height == pytest.approx(sum(values) / len(values))
        assert axes.get_ylim()[1] > axes.dataLim.y1  # nothing is cut off


def test_stars_stand_where_the_paper_printed_shares_and_not_minutes():
    stars = [
        sorted(line.get_xydata()[0].tolist() for line in axes.lines if line.get_marker() == "*")
        for axes in SHEET.picture.axes
    ]
    assert stars[0] == [[0, 88.97], [1, 93.13], [2, 93.13]]
    assert stars[1] == [[0, 56.40], [1, 52.59], [2, 52.51]]
    assert stars[2] == [[0, 0.16], [1, 0.11], [2, 0.22]]
    assert stars[3] == []


@pytest.mark.parametrize("plan", [PLAN, PLAN.quick(), SMALL])
def test_no_words_cover_anything(plan):
    picture = convolution.make(hand_results(convolution.cases(plan)), plan).picture
    assert_tidy(picture)
    assert len(picture.axes) == 4 * len(plan.data or ("fashion-mnist",))
