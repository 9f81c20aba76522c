"""The table of data sets: counted anew, from images made by hand and from real ones."""

from itertools import pairwise

import numpy as np
import pytest
from bench.hand_results import assert_tidy, column

from csim.bench.datasets import DataSet
from csim.bench.datasets.catalogue import load
from csim.bench.datasets.digits import digits
from csim.bench.plans.plan import DATA, Plan
from csim.bench.scenario import paper_stream
from csim.bench.tables import data_sets
from csim.errors import InputError

SIZES = {
    "heron": 2600,
    "crane": 40,
    "ibis": 90,
    "stork": 7,
    "egret": 30,
    "bittern": 12,
    "spoonbill": 2001,
}
BIRDS = DataSet(
    "birds",
    np.random.default_rng(0).integers(0, 255, (sum(SIZES.values()), 10, 8), np.uint8),
    [name for name, size in SIZES.items() for _ in range(size)],
)


def test_nothing_needs_to_be_run():
    assert data_sets.cases(Plan()) == []


def test_sizes_are_counted():
    (row,) = data_sets.make([BIRDS]).table.rows
    assert (row["data set"], row["image"], row["features"]) == ("birds", "10×8", 80)
    assert (row["classes"], row["images"]) == (7, sum(SIZES.values()))
    assert (row["smallest class"], row["largest class"]) == (7, 2600)


@pytest.mark.parametrize("data", [BIRDS, digits()], ids=lambda data: data.name)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_lengths_are_those_of_the_streams_that_are_run(data, seed):
    (row,) = data_sets.make([data], seed).table.rows
    for share in (0.3, 0.5):
        stream = paper_stream(data, known_share=share, seed=seed)
        assert row[f"stream, r = {share}"] == len(stream.images)
        assert row[f"labelled, r = {share}"] == len(stream.warm_up) + len(stream.held_out)


def test_colours_count_as_features_and_are_drawn():
    colours = DataSet("colours", np.full((20, 9, 9, 3), 200, np.uint8), list("abcdefghij") * 2)
    sheet = data_sets.make([colours])
    assert column(sheet.table, "image") == ["9×9×3"]
    assert column(sheet.table, "features") == [243]
    assert sheet.picture.axes[0].images[0].get_array().shape[2] == 3


def test_reported_columns_are_the_paper_s_and_empty_for_others():
    few = DataSet("cifar-10-grey", BIRDS.images, BIRDS.names)
    table = data_sets.make([few, BIRDS]).table
    reported = [
        [row[f"reported {name}"] for name in ("features", "classes", "images")]
        for row in table.rows
    ]
    assert reported == [[1024, 10, 70_000], ["", "", ""]]
    assert "its text 60,000" in table.markdown()


def test_the_command_makes_the_same_again():
    assert data_sets.make([digits()]).table.command == "csim bench data-sets --dataset digits"


def test_too_few_classes_for_a_stream_are_refused():
    pair = DataSet("pair", np.zeros((8, 9, 9), np.uint8), list("ab") * 4)
    with pytest.raises(InputError, match="2 known classes and a new one"):
        data_sets.make([pair])


def test_a_mosaic_has_a_column_per_class_and_white_where_an_image_is_missing():
    columns = [np.full((3, 4, 5), 10, np.uint8), np.full((2, 4, 5), 20, np.uint8)]
    picture = data_sets.mosaic(columns)
    assert picture.shape == (3 * 4 + 2 * 2, 2 * 5 + 2)
    expected = np.full(picture.shape, 255)
    for column_of, images in enumerate(columns):
        for row, image in enumerate(images):
            for y in range(4):
                for x in range(5):
                    expected[row * 6 + y, column_of * 7 + x] = image[y, x]
    assert (picture == expected).all()


def test_a_strip_shows_the_first_images_of_each_class_under_its_name():
    sheet = data_sets.make([BIRDS, digits()])
    birds, figures = sheet.picture.axes
    assert [label.get_text() for label in birds.get_xticklabels()] == sorted(SIZES)
    assert [label.get_text() for label in figures.get_xticklabels()] == list("0123456789")
    assert (birds.get_title(loc="left"), figures.get_title(loc="left")) == ("birds", "digits")
    first = BIRDS.images[BIRDS.names.index("bittern")]
    assert (birds.images[0].get_array()[:10, :8] == first).all()
    assert {axes.images[0].get_cmap().name for axes in (birds, figures)} == {"gray"}


def test_of_many_classes_some_are_shown_and_the_title_says_so():
    names = [f"class {place:02}" for place in range(47) for _ in range(4)]
    many = DataSet("many", np.zeros((len(names), 8, 8), np.uint8), names)
    (axes,) = data_sets.make([many]).picture.axes
    shown = [label.get_text() for label in axes.get_xticklabels()]
    assert len(shown) == 10
    assert shown == sorted(shown)
    assert (shown[0], shown[-1]) == ("class 00", "class 46")
    assert axes.get_title(loc="left") == "many, 10 of 47 classes"


def test_names_stand_beside_each_other():
    names = ["T-shirt/top", "automobile", "Ankle boot", "spoonbill", "Pullover"] * 6
    names = [f"{name}{place // 5 or ''}" for place, name in enumerate(names[:10])] * 3
    long = DataSet("long", np.zeros((len(names), 28, 28), np.uint8), names)
    picture = data_sets.make([long, digits()]).picture
    assert_tidy(picture)
    boxes = sorted(
        (label.get_window_extent() for label in picture.axes[0].get_xticklabels()),
        key=lambda box: box.x0,
    )
    for left, right in pairwise(boxes):
        assert left.x1 < right.x0 + 1


@pytest.mark.data
@pytest.mark.slow
def test_the_four_data_sets_of_the_paper():
    sheet = data_sets.make([load(name) for name in DATA])
    assert column(sheet.table, "images") == [70_000, 70_000, 106_429, 60_000]
    assert column(sheet.table, "classes") == [10, 10, 47, 10]
    assert column(sheet.table, "reported classes") == [10, 10, 47, 10]
    assert column(sheet.table, "stream, r = 0.3")[:2] == [67_000, 67_000]
    assert column(sheet.table, "labelled, r = 0.5")[3] == 5_000
    assert_tidy(sheet.picture)
