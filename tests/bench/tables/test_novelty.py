"""The novelty table: the stream table's runs, looked at for what was new."""

import pytest
from bench.hand_results import (
    SMALL,
    assert_tidy,
    column,
    hand_result,
    hand_results,
    legend_texts,
)

from csim.bench.methods import PUBLISHED
from csim.bench.plans.plan import DATA, Plan
from csim.bench.plans.reported import STREAM
from csim.bench.tables import novelty, stream

RESULTS = hand_results(novelty.cases(SMALL))
SHEET = novelty.make(RESULTS, SMALL)
COLUMNS = {
    "M_new %": "m_new",
    "F_new %": "f_new",
    "M_new at arrival %": "m_new_at_arrival",
    "M_new, always novel %": "m_new_for_ever",
    "F_new, always novel %": "f_new_for_ever",
    "first 500 missed %": "first_500_missed",
    "rejected known %": "rejected_known",
    "rejected novel %": "rejected_novel",
    "images to detection": "images_to_detection",
    "images to learned": "images_to_learned",
    "purity %": "purity",
    "declared %": "accuracy_declared",
    "named %": "accuracy",
}


@pytest.mark.parametrize("plan", [Plan(), Plan().quick(), SMALL])
def test_nothing_is_run_that_the_stream_table_does_not_run(plan):
    assert novelty.cases(plan) == stream.cases(plan)


def test_every_figure_stands_in_its_own_column():
    for row, result in zip(SHEET.table.rows, RESULTS, strict=True):
        assert {column: row[column] for column in COLUMNS} == {
            column: result.content["figures"][name] for column, name in COLUMNS.items()
        }


def test_a_class_that_was_never_learned_leaves_a_dash():
    plan = Plan(data=("digits",), methods=("paper",), seeds=(0,))
    table = novelty.make(
        [hand_result(case, images_to_learned=None) for case in novelty.cases(plan)], plan
    ).table
    cells = dict(
        zip(*(line.split(" | ") for line in table.markdown().splitlines()[2:5:2]), strict=True)
    )
    assert cells["images to learned"] == "–"
    assert cells["images to detection"] != "–"


@pytest.mark.parametrize("data", DATA)
def test_reported_figures_are_the_paper_s_and_stand_beside_its_method(data):
    plan = Plan(data=(data,), seeds=(0,))
    table = novelty.make(hand_results(novelty.cases(plan)), plan).table
    for method, there in STREAM[data].items():
        assert column(table, "reported M_new %", method=method) == [
            f"{there.m_new:.2f} ± {there.m_new_spread:.2f}"
        ]
        fallen = "–" if there.f_new is None else f"{there.f_new:.2f} ± {there.f_new_spread:.2f}"
        assert column(table, "reported F_new %", method=method) == [fallen]
    for method in set(PUBLISHED) - set(STREAM[data]):
        assert column(table, "reported M_new %", method=method) == [""]


def test_the_picture_shows_the_mean_of_each_method_beside_the_others():
    (axes,) = SHEET.picture.axes
    assert axes.get_ylabel() == "M_new, % of novel images"
    assert [label.get_text() for label in axes.get_xticklabels()] == ["mnist", "digits"]
    drawn = [(c.get_label(), *c.lines[0].get_xydata()[0].tolist()) for c in axes.containers]
    expected = []
    for data in SMALL.data:
        for method in SMALL.methods:
            own = [r.figures["m_new"] for r in RESULTS if (r.data, r.method) == (data, method)]
            expected.append((method, sum(own) / len(own)))
    assert [(label, height) for label, _, height in drawn] == [
        (m, pytest.approx(height)) for m, height in expected
    ]
    places = [place for _, place, _ in drawn]
    assert places == sorted(places)
    assert [round(place) for place in places] == [0, 0, 1, 1]  # each at its data set


def test_every_seed_is_a_dot_when_there_are_several():
    (axes,) = SHEET.picture.axes
    dots = [line for line in axes.lines if line.get_marker() == "."]
    heights = sorted(height for line in dots for height in line.get_ydata().tolist())
    assert heights == sorted(result.figures["m_new"] for result in RESULTS)
    single = Plan(data=("digits",), methods=("paper",), seeds=(0,))
    (axes,) = novelty.make(hand_results(novelty.cases(single)), single).picture.axes
    assert not [line for line in axes.lines if line.get_marker() == "."]


def test_the_reported_value_is_a_star():
    (axes,) = SHEET.picture.axes
    (star,) = (line for line in axes.lines if line.get_marker() == "*")
    assert star.get_ydata().tolist() == [30.41]


@pytest.mark.parametrize("plan", [Plan(), Plan(data=("digits",)), SMALL.quick()])
def test_no_words_cover_anything(plan):
    picture = novelty.make(hand_results(novelty.cases(plan)), plan).picture
    assert_tidy(picture)
    stars = {"as the paper reports", "reported, other images"}
    assert set(legend_texts(picture)) - stars == set(plan.methods or PUBLISHED)
