"""The table and the picture of an embedding, drawn from files of points that a test makes up."""

import numpy as np
import pytest
from matplotlib.colors import to_hex

from csim.bench.json_lines import put, read_lines
from csim.bench.tables import embedding
from csim.bench.vectors.projections import FILE, Projection
from csim.bench.vectors.spaces import EVERY_SPACE, TITLES

pytestmark = pytest.mark.slow

NAMES = ["_low", "$5", "crane", "gull", "heron"]
KNOWN = ["crane", "gull"]
FIGURES = {
    "5-NN known %": 90.0,
    "5-NN new %": 40.0,
    "silhouette known": 0.5,
    "silhouette new": -0.25,
    "flat 5-NN known %": 80.0,
    "flat 5-NN new %": 30.0,
}


def leave_points(out, projection, names=NAMES, known=KNOWN):
    """Write a file of points, as if it had been made: six images a class."""
    rng = np.random.default_rng(0)
    panels = {
        space: {
            "figures": {name: value + place for name, value in FIGURES.items()},
            "points": rng.normal(size=(6 * len(names), 2)).round(2).tolist(),
        }
        for place, space in enumerate(EVERY_SPACE)
    }
    sample = {
        "known": known,
        "names": [name for name in names for _ in range(6)],
        "fingerprint": "0",
    }
    content = {**projection.describe(), "sample": sample, "panels": panels, "origin": {}}
    put(out / FILE, projection.name, content)
    return content


@pytest.fixture
def sheet(tmp_path):
    rows = embedding.projections(["digits"])
    leave_points(tmp_path, rows[0])
    return embedding.make(rows, tmp_path)


def panels(figure):
    return [axes for row in figure.subfigs for axes in row.axes]


def legend(figure, row=0):
    (found,) = figure.subfigs[row].legends
    return found


def test_a_row_is_a_data_set_named_once_and_quick_means_fewer_images():
    assert embedding.projections(["mnist", "digits", "mnist"]) == [
        Projection("mnist", 0, 100),
        Projection("digits", 0, 100),
    ]
    assert embedding.projections(["mnist"], seed=4, is_quick=True) == [Projection("mnist", 4, 40)]


def test_the_table_has_a_row_per_space_with_its_figures(sheet):
    assert [(row["data set"], row["space"]) for row in sheet.table.rows] == [
        ("digits", space) for space in EVERY_SPACE
    ]
    for place, row in enumerate(sheet.table.rows):
        assert {name: row[name] for name in FIGURES} == {
            name: value + place for name, value in FIGURES.items()
        }


def test_the_table_says_what_was_known_and_where_images_come_from(sheet):
    text = sheet.table.markdown()
    assert "digits: crane, gull" in text
    assert "100 of every class" in text
    assert "nothing has learned from them" in text
    assert "quick" not in text
    assert sheet.table.command == "csim bench embedding --dataset digits"
    assert sheet.table.name == "embedding"


def test_a_quick_look_and_another_seed_have_names_of_their_own(tmp_path):
    rows = embedding.projections(["digits"], seed=2, is_quick=True)
    leave_points(tmp_path, rows[0])
    table = embedding.make(rows, tmp_path).table
    assert table.name == "embedding-seed2-quick"
    assert table.command == "csim bench embedding --dataset digits --seed 2 --quick"
    assert "40 of every class (quick)" in table.markdown()


def test_every_space_is_a_panel_with_its_title_and_figures(sheet):
    axes = panels(sheet.picture)
    assert [panel.get_title() for panel in axes] == [TITLES[space] for space in EVERY_SPACE]
    assert axes[0].get_xlabel() == "5-NN: known 90 %, new 40 %"
    assert axes[2].get_xlabel() == "5-NN: known 92 %, new 42 %"


def test_every_image_is_drawn_where_its_point_is(sheet, tmp_path):
    name = Projection("digits", 0, 100).name
    content = read_lines(tmp_path / FILE).entries[name].content
    for axes, space in zip(panels(sheet.picture), EVERY_SPACE, strict=True):
        drawn = {
            tuple(point)
            for line in axes.lines
            for point in np.column_stack(line.get_data()).tolist()
        }
        assert drawn == {tuple(point) for point in content["panels"][space]["points"]}


def test_known_classes_are_filled_and_new_ones_hollow(sheet):
    for axes in panels(sheet.picture):
        faces = [line.get_markerfacecolor() for line in axes.lines]
        assert [face == "none" for face in faces] == [False, False, True, True, True]


def test_classes_differ_in_colour_and_in_marker_and_are_the_same_in_every_panel(sheet):
    looks = [
        [(line.get_color(), line.get_marker()) for line in axes.lines]
        for axes in panels(sheet.picture)
    ]  # fmt: skip
    assert looks[0] == looks[1] == looks[2]
    assert len({colour for colour, _ in looks[0]}) == len({marker for _, marker in looks[0]}) == 5


def test_the_legend_names_every_class_under_its_heading_whatever_it_is_called(sheet):
    words = [text.get_text() for text in legend(sheet.picture).get_texts()]
    assert words == ["known (filled)", "crane", "gull", "new (hollow)", "$5", "_low", "heron"]
    bold = [
        text.get_text()
        for text in legend(sheet.picture).get_texts()
        if text.get_fontweight() == "bold"
    ]
    assert bold == ["known (filled)", "new (hollow)"]


def test_the_legend_has_the_styles_of_the_panels_and_is_outside_of_them(sheet):
    handles = legend(sheet.picture).legend_handles
    shown = [
        (to_hex(handle.get_color()), handle.get_marker())
        for index, handle in enumerate(handles)
        if index not in (0, 3)
    ]
    drawn = [
        (to_hex(line.get_color()), line.get_marker()) for line in panels(sheet.picture)[0].lines
    ]
    assert shown == drawn
    sheet.picture.draw_without_rendering()
    box = legend(sheet.picture).get_window_extent()
    assert all(not box.overlaps(axes.get_window_extent()) for axes in panels(sheet.picture))


def test_two_data_sets_are_two_rows_each_with_its_classes(tmp_path):
    rows = embedding.projections(["digits", "mnist"])
    leave_points(tmp_path, rows[0])
    leave_points(tmp_path, rows[1], names=["0", "1", "2"], known=["1"])
    sheet = embedding.make(rows, tmp_path)
    assert len(panels(sheet.picture)) == 2 * len(EVERY_SPACE)
    assert len(sheet.table.rows) == 2 * len(EVERY_SPACE)
    assert [text.get_text() for text in legend(sheet.picture, 1).get_texts()] == [
        "known (filled)", "1", "new (hollow)", "0", "2",
    ]  # fmt: skip
    assert "digits: crane, gull; mnist: 1" in sheet.table.markdown()


def test_a_hundred_classes_have_looks_of_their_own_and_a_legend_in_columns(tmp_path):
    (row,) = embedding.projections(["digits"])
    names = [f"bird {number:03}" for number in range(110)]
    leave_points(tmp_path, row, names=names, known=names[:30])
    figure = embedding.make([row], tmp_path).picture
    looks = {(line.get_color(), line.get_marker()) for line in panels(figure)[0].lines}
    assert len(looks) == 110
    assert len(legend(figure).get_texts()) == 112


def test_files_are_left_side_by_side_and_drawn_the_same_again(sheet, tmp_path):
    written = sheet.write(tmp_path)
    assert sorted(path.name for path in written) == [
        f"embedding.{end}" for end in ("csv", "md", "png")
    ]
    drawn = (tmp_path / "embedding.png").read_bytes()
    embedding.make(embedding.projections(["digits"]), tmp_path).write(tmp_path)
    assert (tmp_path / "embedding.png").read_bytes() == drawn
