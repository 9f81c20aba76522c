"""What the pictures share: points with bars, stars, and a legend that covers nothing."""

from statistics import mean, stdev

import pytest
from bench.hand_results import assert_tidy, legend_texts

from csim.bench.layout.panels import draw_means, draw_reported, from_zero, legend_below, make_grid
from csim.bench.layout.sheet import STYLES, drawing


@pytest.fixture
def axes():
    with drawing():
        _, ((axes,),) = make_grid(1, 1, size=(4, 3))
        yield axes


def test_a_point_stands_at_the_mean_with_a_bar_of_one_standard_deviation(axes):
    values = [[10.0, 20.0, 60.0], [5.0, 6.0, 7.0]]
    draw_means(axes, [[1, 3], [4, 4]], values, label="default", **STYLES["default"])
    (container,) = axes.containers
    points, _, (bars,) = container.lines
    assert points.get_xdata().tolist() == [2, 4]
    assert points.get_ydata().tolist() == [mean(group) for group in values]
    for group, bar in zip(values, bars.get_segments(), strict=True):
        assert bar[:, 1].tolist() == pytest.approx(
            [mean(group) - stdev(group), mean(group) + stdev(group)]
        )


def test_a_single_seed_has_no_bar(axes):
    draw_means(axes, [[1], [2]], [[10.0], [20.0]], label="default", **STYLES["default"])
    assert not axes.containers[0].lines[2]


def test_the_star_is_hollow_where_the_paper_had_other_images(axes):
    draw_reported(axes, 1, 2, "mnist")
    draw_reported(axes, 3, 4, "emnist-47")
    filled, hollow = axes.lines
    assert (filled.get_label(), hollow.get_label()) == (
        "as the paper reports",
        "reported, other images",
    )
    assert filled.get_markerfacecolor() != "none" == hollow.get_markerfacecolor()
    assert [line.get_marker() for line in axes.lines] == ["*", "*"]


def test_the_legend_names_what_any_panel_shows_once_and_methods_first():
    with drawing():
        figure, ((left, right),) = make_grid(1, 2, size=(4, 3))
        draw_reported(left, 1, 1, "mnist")
        for axes, methods in ((left, ["paper", "default"]), (right, ["default", "random"])):
            for method in methods:
                draw_means(axes, [[1]], [[2.0]], label=method, **STYLES[method])
        legend_below(figure)
        assert legend_texts(figure) == ["paper", "default", "random", "as the paper reports"]
        assert_tidy(figure)


def test_a_legend_of_two_rows_reads_from_left_to_right():
    with drawing():
        figure, ((axes,),) = make_grid(1, 1, size=(3, 3))
        for method in ("paper", "default", "least-sure", "random", "ecsminer"):
            axes.plot([1], [1], label=method, **STYLES[method])
        legend_below(figure)
        assert_tidy(figure)
        (legend,) = figure.legends
        places = {text.get_text(): text.get_window_extent() for text in legend.get_texts()}
    by_row = sorted(places, key=lambda name: (-round(places[name].y0 / 5), places[name].x0))
    assert by_row == ["paper", "default", "least-sure", "random", "ecsminer"]


@pytest.mark.parametrize("highest", [0.0, 0.01, 5.0, 1e4])
def test_an_axis_from_zero_holds_zero_and_the_highest(highest):
    low, high = from_zero(highest)
    assert low < 0 <= highest < high
    assert abs(low) < high / 10  # no tick below 0
