"""The stream table: its figures are the runs', its reported ones the paper's."""

import math
from dataclasses import replace

import pytest
from bench.hand_results import (
    SMALL,
    assert_tidy,
    column,
    hand_result,
    hand_results,
    legend_texts,
)

from csim.bench.plans.plan import DATA, Plan
from csim.bench.tables import stream

RESULTS = hand_results(stream.cases(SMALL))
SHEET = stream.make(RESULTS, SMALL)


def test_every_run_is_a_row_with_its_own_figures():
    assert len(SHEET.table.rows) == 2 * 2 * 2
    for row, result in zip(SHEET.table.rows, RESULTS, strict=True):
        figures = result.content["figures"]
        assert (row["data set"], row["method"], row["seed"]) == (
            result.data,
            result.method,
            result.seed,
        )
        assert row["accuracy %"] == figures["accuracy"]
        assert row["labels %"] == figures["labels_percent"]
        assert row["at arrival %"] == figures["accuracy_at_arrival"]
        assert row["unasked %"] == figures["accuracy_unasked"]
        assert row["training s"] == result.content["cost"]["seconds_training"]
        assert row["warm-up"] == 100


def test_the_ratio_is_to_the_best_of_the_same_data_set_and_seed():
    for data in SMALL.data:
        for seed in SMALL.seeds:
            accuracies = column(SHEET.table, "accuracy %", data_set=data, seed=seed)
            ratios = column(SHEET.table, "ratio", data_set=data, seed=seed)
            assert ratios == pytest.approx([value / max(accuracies) for value in accuracies])
            assert max(ratios) == 1


def test_accuracy_per_label_is_their_ratio():
    for row in SHEET.table.rows:
        assert row["accuracy per label"] == pytest.approx(row["accuracy %"] / row["labels %"])


def test_p_values_compare_a_method_with_the_papers_over_the_same_seeds():
    for data in SMALL.data:
        ours, papers = (
            column(SHEET.table, "accuracy %", data_set=data, method=method)
            for method in ("default", "paper")
        )
        first, second = (a - b for a, b in zip(ours, papers, strict=True))
        t = (first + second) / abs(first - second)  # two pairs: the mean over its standard error
        by_hand = 1 - 2 / math.pi * math.atan(abs(t))  # Student's t with one degree of freedom
        (shown,) = set(column(SHEET.table, "p-value", data_set=data, method="default"))
        assert float(shown) == pytest.approx(by_hand, rel=0.06)
    assert set(column(SHEET.table, "p-value", method="paper")) == {""}


def test_one_seed_has_no_p_value():
    plan = replace(SMALL, seeds=(3,))
    table = stream.make(hand_results(stream.cases(plan)), plan).table
    assert set(column(table, "p-value")) == {""}


def test_nothing_right_anywhere_has_a_ratio_of_zero():
    results = [hand_result(case, accuracy=0.0) for case in stream.cases(SMALL)]
    assert set(column(stream.make(results, SMALL).table, "ratio")) == {0.0}


def test_reported_figures_stand_beside_the_paper_s_method_alone():
    assert set(column(SHEET.table, "reported accuracy %", data_set="mnist", method="paper")) == {
        "94.27 ± 0.48"
    }
    assert set(column(SHEET.table, "reported labels %", data_set="mnist", method="paper")) == {
        "17.41 ± 0.18"
    }
    for other in ({"method": "default"}, {"data_set": "digits"}):
        assert set(column(SHEET.table, "reported accuracy %", **other)) == {""}


def test_for_another_r_the_paper_reports_nothing():
    plan = Plan(data=("mnist",), methods=("paper",), seeds=(0,), known_share=0.5)
    sheet = stream.make(hand_results(stream.cases(plan)), plan)
    assert column(sheet.table, "reported accuracy %") == [""]
    assert legend_texts(sheet.picture) == ["paper"]
    assert sheet.table.name == "stream-mnist-r0.5"


def test_the_table_says_how_it_is_made_and_what_was_thinned():
    text = SHEET.table.markdown()
    assert (
        "`csim bench stream --dataset mnist --dataset digits --method paper --method default "
        "--seed 3 --seed 4`" in text
    )
    assert "every 5th image" in text


def test_the_picture_has_a_panel_per_data_set_and_a_point_per_run():
    panels = SHEET.picture.axes
    assert [axes.get_title() for axes in panels] == ["mnist", "digits"]
    assert [axes.get_xlabel() for axes in panels] == ["labels, % of images"] * 2
    assert panels[0].get_ylabel() == "accuracy, %"
    drawn = {line.get_label(): line.get_xydata().tolist() for line in panels[1].lines}
    for method in SMALL.methods:
        own = [r.figures for r in RESULTS if (r.data, r.method) == ("digits", method)]
        assert drawn[method] == [[f["labels_percent"], f["accuracy"]] for f in own]


def test_the_paper_s_point_is_a_star_where_there_is_one():
    stars = [
        [line for line in axes.lines if line.get_marker() == "*"] for axes in SHEET.picture.axes
    ]
    assert [len(found) for found in stars] == [1, 0]
    assert stars[0][0].get_xydata().tolist() == [[17.41, 94.27]]


@pytest.mark.parametrize(
    "plan", [SMALL, Plan(), Plan(data=("digits",)), Plan(data=DATA[:3]).quick()]
)
def test_no_words_cover_anything(plan):
    picture = stream.make(hand_results(stream.cases(plan)), plan).picture
    assert_tidy(picture)
    assert legend_texts(picture)[:2] == ["paper", "default"]
