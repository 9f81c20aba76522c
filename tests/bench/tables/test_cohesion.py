"""The table and the picture of cohesion, on scikit-learn's digits, fifteen images a class."""

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from csim.bench.tables import cohesion
from csim.bench.tables.cohesion import DATA, KNOWN_OF_PAIR, Measurement, Plan, measure, shares
from csim.bench.vectors.nearness import Distances
from csim.bench.vectors.spaces import SPACES, TITLES, Sample
from csim.errors import InputError

pytestmark = pytest.mark.slow

FIGURES = [
    f"{group}, {reading} %"
    for reading in ("mean", "nearest")
    for group in ("known", "new", "7 to 1")
]
PAIR = "digits, 1 known and 7 new"


@pytest.fixture(scope="module")
def made():
    """Return the sheet of the digits, and the progress that was told."""
    told = []
    plan = Plan(("digits",), (3, 4), per_class=15)
    return cohesion.make(plan, on_done=lambda *measurements: told.append(measurements)), told


def test_the_usual_plan_covers_two_data_sets_and_the_pair_in_every_space_and_seed():
    measurements = Plan().measurements()
    kinds = list(dict.fromkeys(measurement.images for measurement in measurements))
    assert kinds == ["mnist", "fashion-mnist", "mnist, 1 known and 7 new"]
    assert len(measurements) == len(set(measurements)) == len(kinds) * len(SPACES) * 3
    assert {measurement.per_class for measurement in measurements} == {300}


def test_only_digits_have_the_pair():
    assert not any(
        measurement.is_pair for measurement in Plan(("fashion-mnist", "emnist-47")).measurements()
    )


def test_a_quick_plan_has_one_seed_and_fewer_images():
    quick = Plan(seeds=(5, 6)).quick()
    assert (quick.data, quick.seeds, quick.per_class, quick.is_quick) == (DATA, (5,), 100, True)


def test_the_options_make_the_same_plan_again():
    assert Plan().options == "--seed 0 --seed 1 --seed 2"
    assert Plan(("mnist",), (7,)).quick().options == "--dataset mnist --seed 7 --quick"


def test_an_unknown_data_set_is_refused_at_once():
    with pytest.raises(
        InputError, match=r"must be one of mnist.*did you mean mnist or emnist|did you mean"
    ):
        Plan(("mnits",))


def test_known_of_the_pair_are_not_seven():
    assert "1" in KNOWN_OF_PAIR
    assert "7" not in KNOWN_OF_PAIR


def test_there_is_a_row_per_look_in_order(made):
    rows = made[0].table.rows
    assert [(row["images"], row["space"], row["seed"]) for row in rows] == [
        (images, space, seed) for images in ("digits", PAIR) for space in SPACES for seed in (3, 4)
    ]
    assert all(list(row)[3:] == FIGURES for row in rows)


def test_figures_are_shares_and_the_pair_is_asked_about_where_it_is_chosen(made):
    for row in made[0].table.rows:
        for name in FIGURES:
            if name.startswith("7 to 1") and row["images"] != PAIR:
                assert row[name] is None
            else:
                assert 0 <= row[name] <= 100


def test_networks_make_the_classes_they_know_cohesive(made):
    means = {
        space: np.mean(
            [row["known, mean %"] for row in made[0].table.rows if row["space"] == space]
        )
        for space in SPACES
    }
    assert means["default"] <= means["pixels"]
    assert means["paper"] <= means["pixels"]


def test_progress_counts_every_look(made):
    assert made[1] == [(done, 12) for done in range(1, 13)]


def test_a_look_gives_the_same_row_again(made):
    measurement = Measurement("digits", is_pair=True, space="default", seed=4, per_class=15)
    assert measure(measurement, data_dir=None) in made[0].table.rows


def test_the_table_says_what_counts_and_how_to_make_it_again(made):
    table = made[0].table
    text = table.markdown()
    assert table.name == "cohesion"
    assert table.command == "csim bench cohesion --dataset digits --seed 3 --seed 4"
    assert "15 images of every class; no network was trained on them" in text
    assert "lower is better" in text
    assert "±" in text
    assert f"| {PAIR} | paper |" in text


def test_a_quick_look_says_so():
    table = cohesion.make(Plan(("digits",), (3,), per_class=5).quick()).table
    assert table.name == "cohesion-quick"
    assert "(quick)" in table.markdown()


def view(names, known):
    nothing = np.zeros((len(names), 2, 2), np.uint8)
    return Sample(nothing[: len(known)], list(known), nothing, list(names))


def test_shares_are_counted_apart_for_known_and_new_images():
    seen = view(["0", "0", "1", "1", "7", "7", "7", "7"], known=["0", "1"])
    own = np.eye(3)[seen.columns]
    mean = np.where(own, 1.0, 2.0)  # every image nearest to its own class
    mean[0] = [5, 1, 9]  # a 0 nearer to the 1s
    mean[4] = [9, 1, 5]  # a 7 nearer to the 1s
    mean[5] = [1, 9, 5]  # a 7 nearer to the 0s
    found = shares(Distances(mean, np.where(own, 1.0, 2.0)), seen, is_pair=True)
    assert found == {
        "known, mean %": 25.0, "new, mean %": 50.0, "7 to 1, mean %": 25.0,
        "known, nearest %": 0.0, "new, nearest %": 0.0, "7 to 1, nearest %": 0.0,
    }  # fmt: skip


def test_without_the_pair_nothing_is_said_of_it():
    seen = view(["a", "a", "b", "b"], known=["a"])
    found = shares(Distances(np.eye(2)[[0, 0, 1, 1]], np.zeros((4, 2))), seen, is_pair=False)
    assert found["7 to 1, mean %"] is None
    assert found["known, mean %"] == found["new, mean %"] == 100.0


def bars(axes):
    return [[patch.get_height() for patch in container] for container in axes.containers]


def test_bars_are_means_over_seeds_and_marks_the_seeds(made):
    sheet = made[0]
    top = sheet.picture.axes[:2]
    bottom = sheet.picture.axes[2:]
    assert [axes.get_title() for axes in top] == ["digits", PAIR]
    for line, reading in ((top, "mean"), (bottom, "nearest")):
        for axes, images in zip(line, ("digits", PAIR), strict=True):
            groups = ["known", "new", "7 to 1"][: 3 if images == PAIR else 2]
            for place, space in enumerate(SPACES):
                rows = [r for r in sheet.table.rows if (r["images"], r["space"]) == (images, space)]
                values = np.array(
                    [[row[f"{group}, {reading} %"] for group in groups] for row in rows]
                )
                assert bars(axes)[place] == pytest.approx(values.mean(0).tolist())
                marks = [
                    mark.get_ydata().tolist() for mark in axes.lines[2 * place : 2 * place + 2]
                ]
                assert marks == values.tolist()


def test_every_bar_has_its_figure_above_all_its_seeds(made):
    for axes in made[0].picture.axes:
        heights = [height for space in bars(axes) for height in space]
        assert [text.get_text() for text in axes.texts] == [f"{height:.0f}" for height in heights]
        highest = np.max([line.get_ydata() for line in axes.lines[:2]], axis=0)
        assert [text.xy[1] for text in axes.texts[: len(highest)]] == highest.tolist()


def test_spaces_differ_in_grey_and_the_legend_names_them_once(made):
    figure = made[0].picture
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == [TITLES[space] for space in SPACES]
    hatches = [container[0].get_hatch() for container in figure.axes[0].containers]
    assert len(set(hatches)) == 3
    faces = [to_rgb(container[0].get_facecolor()) for container in figure.axes[0].containers]
    assert len(set(faces)) == 3
    figure.draw_without_rendering()
    box = legend.get_window_extent()
    assert all(not box.overlaps(axes.get_window_extent()) for axes in figure.axes)


def test_axes_name_their_units(made):
    left = made[0].picture.axes[0::2]
    assert [axes.get_ylabel() for axes in left] == [
        "by mean distance,\n% of images",
        "by nearest image,\n% of images",
    ]
    assert all(axes.get_ylim()[0] == 0 for axes in left)
