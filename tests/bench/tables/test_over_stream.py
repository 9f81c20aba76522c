"""Accuracy over the stream: curves from the result files, and where new classes appear."""

import numpy as np
import pytest
from bench.hand_results import SMALL, assert_tidy, hand_results, legend_texts

from csim.bench.plans.plan import DATA, Plan
from csim.bench.tables import over_stream, stream

RESULTS = hand_results(over_stream.cases(SMALL))
SHEET = over_stream.make(RESULTS, SMALL)


@pytest.mark.parametrize("plan", [Plan(), Plan().quick(), SMALL])
def test_only_the_first_seed_is_run_and_by_the_stream_table_too(plan):
    cases = over_stream.cases(plan)
    assert {case.seed for case in cases} == {plan.seeds[0]}
    assert {case.name for case in cases} <= {case.name for case in stream.cases(plan)}


@pytest.mark.parametrize("images", [997, 4000])
def test_a_quarter_read_off_the_curve_is_near_the_exact_accuracy(images):
    rng = np.random.default_rng(images)
    is_right = rng.random(images) < np.linspace(0.9, 0.3, images)
    window = images // 40
    positions = np.unique(np.linspace(window, images, 200).astype(int))
    final = [100 * is_right[end - window : end].mean() for end in positions]
    curve = {"window": window, "positions": positions.tolist(), "final": final}
    exact = [100 * part.mean() for part in np.array_split(is_right, 4)]
    assert over_stream.quarters(curve, images) == pytest.approx(exact, abs=1.5)


def test_quarters_are_the_means_of_the_windows_that_lie_there():
    for row, result in zip(SHEET.table.rows, RESULTS, strict=True):
        curve = result.content["curve"]
        images = result.content["stream"]["images"]
        sums = [[], [], [], []]
        for end, value in zip(curve["positions"], curve["final"], strict=True):
            middle = end - curve["window"] / 2
            sums[
                0
                if middle < images / 4
                else 1
                if middle < images / 2
                else 2
                if middle < 3 * images / 4
                else 3
            ].append(value)
        shown = [row[f"{word} quarter %"] for word in ("1st", "2nd", "3rd", "4th")]
        assert shown == pytest.approx([sum(values) / len(values) for values in sums])
        assert row["whole %"] == result.figures["accuracy"]


def test_new_classes_are_counted_in_the_quarter_of_their_first_image():
    for row, result in zip(SHEET.table.rows, RESULTS, strict=True):
        images = result.content["stream"]["images"]
        counts = [0, 0, 0, 0]
        for new in result.content["classes"]:
            counts[next(q for q in range(4) if new["appeared"] <= (q + 1) * images / 4)] += 1
        assert row["new classes"] == ", ".join(map(str, counts))


def test_other_seeds_among_the_results_are_left_out():
    every = hand_results(stream.cases(SMALL))
    sheet = over_stream.make(every, SMALL)
    assert sheet.table.rows == SHEET.table.rows
    assert sheet.table.command.endswith("--seed 3")
    assert "seed 3" in sheet.table.notes[0]


def test_each_panel_draws_every_method_s_curve():
    panels = SHEET.picture.axes
    assert [axes.get_title() for axes in panels] == list(SMALL.data)
    assert panels[0].get_ylabel() == "accuracy, %"
    for axes in panels:
        assert axes.get_xlabel() == "images of the stream"
        lines = {line.get_label(): line for line in axes.lines}
        for method in SMALL.methods:
            (own,) = (
                r.content["curve"]
                for r in RESULTS
                if (r.data, r.method) == (axes.get_title(), method)
            )
            assert lines[method].get_xdata().tolist() == own["positions"]
            assert lines[method].get_ydata().tolist() == own["final"]


def test_an_upright_stands_where_a_new_class_appears():
    for axes in SHEET.picture.axes:
        result = next(r for r in RESULTS if r.data == axes.get_title())
        uprights = [line.get_xdata()[0] for line in axes.lines if len(line.get_xdata()) == 2]
        assert uprights == [new["appeared"] for new in result.content["classes"]]


def test_a_stream_without_new_classes_can_be_drawn():
    for result in (results := hand_results(over_stream.cases(SMALL))):
        result.content["classes"].clear()
    sheet = over_stream.make(results, SMALL)
    assert "a new class appears" not in legend_texts(sheet.picture)
    assert sheet.table.rows[0]["new classes"] == "0, 0, 0, 0"


@pytest.mark.parametrize("data", [DATA, DATA[:3], DATA[:2], DATA[:1]])
def test_no_words_cover_anything_and_there_is_no_empty_panel(data):
    plan = Plan(data=data)
    picture = over_stream.make(hand_results(over_stream.cases(plan)), plan).picture
    assert_tidy(picture)
    assert len(picture.axes) == len(data)
    assert legend_texts(picture)[-1] == "a new class appears"
