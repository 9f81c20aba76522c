"""A sheet: three files side by side, the same bytes whenever they are written."""

import numpy as np
import pytest
from bench.hand_results import hand_results
from matplotlib.colors import to_rgb
from PIL import Image

from csim.bench.layout.sheet import DPI, STYLES, Sheet, drawing
from csim.bench.layout.table import Table
from csim.bench.methods import METHODS
from csim.bench.plans.plan import Plan
from csim.bench.tables import convolution, label_curve, novelty, over_stream, sensitivity, stream

pytestmark = pytest.mark.slow

TABLES = [convolution, label_curve, novelty, over_stream, sensitivity, stream]
PLAN = Plan(data=("mnist",), methods=("paper", "default"), seeds=(3, 4))
TABLE = Table(
    "some-name", "A title", ["one note"], ["data set"], [{"data set": "digits", "accuracy %": 80.0}]
)


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.__name__.split(".")[-1])
def test_writing_leaves_three_files_and_the_same_bytes_for_the_same_results(table, tmp_path):
    results = hand_results(table.cases(PLAN))
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        sheet = table.make(results, PLAN)
        written = sheet.write(tmp_path / folder)
        assert [path.suffix for path in written] == [".md", ".csv", ".png"]
        assert {path.stem for path in written} == {sheet.table.name}
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    first = contents(tmp_path / "two")
    sheet.write(tmp_path / "two")
    assert contents(tmp_path / "two") == first


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.__name__.split(".")[-1])
def test_a_table_does_not_depend_on_the_order_of_its_results_but_by_rows(table):
    results = hand_results(table.cases(PLAN))
    one = table.make(results, PLAN).table
    two = table.make(results[::-1], PLAN).table
    assert sorted(map(str, one.rows)) == sorted(map(str, two.rows))


def test_the_picture_can_be_read_at_its_own_size(tmp_path):
    sheet = stream.make(hand_results(stream.cases(PLAN)), PLAN)
    sheet.write(tmp_path)
    with Image.open(tmp_path / "stream-mnist.png") as image:
        assert image.size == pytest.approx(sheet.picture.get_size_inches() * DPI, abs=1)


def test_a_picture_is_small_and_has_its_methods_colours(tmp_path):
    sheet = stream.make(hand_results(stream.cases(PLAN)), PLAN)
    sheet.write(tmp_path)
    path = tmp_path / "stream-mnist.png"
    assert path.stat().st_size < 25_000
    with Image.open(path) as image:
        shown = {colour for _, colour in image.convert("RGB").getcolors()}
    for method in PLAN.methods:
        wanted = [round(255 * part) for part in to_rgb(STYLES[method]["color"])]
        nearest = min(np.abs(np.array(colour) - wanted).max() for colour in shown)
        assert nearest < 8


def test_without_a_picture_there_are_two_files(tmp_path):
    assert [path.name for path in Sheet(TABLE).write(tmp_path)] == ["some-name.md", "some-name.csv"]


def test_every_method_has_a_look_of_its_own_in_colour_and_in_grey():
    assert set(STYLES) >= set(METHODS)
    plain = {name: style for name, style in STYLES.items() if not name.endswith("-vectors")}
    for part in ("color", "linestyle", "marker"):
        looks = [str(style[part]) for style in plain.values()]
        assert len(set(looks)) == len(looks)
    for name, style in STYLES.items():
        assert name in plain or style == STYLES[name.removesuffix("-vectors")] | {
            "markerfacecolor": "white"
        }


def test_drawing_leaves_the_look_of_other_pictures_alone():
    import matplotlib as mpl  # noqa: PLC0415

    before = dict(mpl.rcParams)
    with drawing():
        assert mpl.rcParams["legend.frameon"] is False
    assert dict(mpl.rcParams) == before
