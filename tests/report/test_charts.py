import re
import xml.etree.ElementTree as ET

import matplotlib as mpl
import numpy as np
import pytest
from report.small_log import NASTY, Page

from csim.report.charts import Lane, Panel, embedding_chart, labels_chart, project, stream_chart

SVG = "{http://www.w3.org/2000/svg}"
HREF = "{http://www.w3.org/1999/xlink}href"
LANES = [Lane("heron", 10, 30, 40), Lane("ibis", 50, None, None)]


def curve(count=100):
    return np.linspace(50, 100, count)


def blobs(count, per_class=10):
    """Return points of `count` classes on a grid, and their names."""
    rng = np.random.default_rng(0)
    centres = np.array([(10 * (n % 5), 10 * (n // 5)) for n in range(count)], float)
    names = [f"class {n:02}" for n in range(count) for _ in range(per_class)]
    return np.repeat(centres, per_class, axis=0) + rng.normal(size=(count * per_class, 2)), names


def all_charts():
    points, names = blobs(3)
    return {
        "stream": stream_chart({"at the end": curve()}, LANES, 100),
        "labels": labels_chart([5, 9], [5, 5, 9], 100),
        "embedding": embedding_chart([Panel("before", points), Panel("after", points)], names),
    }


def words(chart):
    root = ET.fromstring(chart)  # noqa: S314
    return ["".join(text.itertext()).strip() for text in root.iter(f"{SVG}text")]


@pytest.mark.parametrize("name", ["stream", "labels", "embedding"])
def test_a_chart_is_one_svg_element_that_says_what_it_shows(name):
    root = ET.fromstring(all_charts()[name])  # noqa: S314
    assert root.tag == f"{SVG}svg"
    assert root.get("role") == "img"
    assert len(root.get("aria-label")) > 20
    assert root.get("viewBox")
    assert root.get("width") is None, "a fixed width would not fit a phone"


def test_charts_on_one_page_share_no_id_and_need_nothing_else():
    page = Page("<main>" + "".join(all_charts().values()) + "</main>")
    assert page.problems == []


def test_every_reference_inside_a_chart_has_its_target():
    for chart in all_charts().values():
        ids = set(re.findall(r' id="([^"]+)"', chart))
        used = set(re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)', chart))
        assert {one or other for one, other in used} <= ids


def test_the_same_values_give_the_same_picture():
    assert all_charts() == all_charts()


def test_a_picture_follows_the_ink_and_the_paper_of_the_page():
    charts = all_charts()
    assert all("currentColor" in chart for chart in charts.values())
    assert "var(--paper)" in charts["embedding"]
    assert not any("#010203" in chart or "#030201" in chart for chart in charts.values())
    assert not any("#000000" in chart for chart in charts.values()), "black is lost on a dark page"


def test_drawing_leaves_the_settings_of_matplotlib_alone():
    before = dict(mpl.rcParams)
    all_charts()
    assert dict(mpl.rcParams) == before


def test_axes_say_what_they_measure():
    assert {"position in the stream (images)", "accuracy, % of images"} <= set(
        words(stream_chart({"final": curve()}, LANES, 100))
    )
    assert {"position in the stream (images)", "total so far"} <= set(
        words(labels_chart([5], [5], 100))
    )


def test_every_new_class_stands_once_beside_its_lane():
    drawn = words(stream_chart({"at the end": curve()}, LANES, 100))
    assert drawn.count("heron") == drawn.count("ibis") == 1
    assert {"appears", "first question", "learned", "at the end"} <= set(drawn)


def test_names_of_many_classes_do_not_overlap():
    lanes = [Lane(f"class {n}", n + 1, n + 2, n + 3) for n in range(60)]
    root = ET.fromstring(stream_chart({"at the end": curve()}, lanes, 100))  # noqa: S314
    heights = []
    for text in root.iter(f"{SVG}text"):
        if "".join(text.itertext()).startswith("class"):
            placed = re.search(r"translate\(\S+ ([\d.]+)\)", text.get("transform", ""))
            heights.append(float(placed[1] if placed else text.get("y")))
    assert len(heights) == 40
    assert np.diff(sorted(heights)).min() > 8, "the words are 8 units high"


def test_a_moment_is_drawn_where_it_happened():
    """A class that appears at 25 and is learned at 75 of 100 has lines at 1/4 and 3/4."""
    chart = stream_chart({"at the end": curve()}, [Lane("heron", 25, 50, 75)], 100)
    root = ET.fromstring(chart)  # noqa: S314
    uprights = set()
    for path in root.iter(f"{SVG}path"):
        pair = re.fullmatch(r"\s*M ([\d.]+) [\d.]+\s+L ([\d.]+) [\d.]+\s*", path.get("d", ""))
        if pair and pair[1] == pair[2]:
            uprights.add(float(pair[1]))
    left = min(uprights)  # the grid has lines at 0 and 100
    right = max(uprights)
    shares = {round((upright - left) / (right - left), 3) for upright in uprights}
    assert {0.25, 0.75} <= shares


@pytest.mark.parametrize("name", [NASTY, "$5 & $6", "_hidden", r"$\frac$", "鷺", "--> <script>"])
def test_a_class_may_have_any_name(name, recwarn):
    points, _ = blobs(2)
    chart = embedding_chart([Panel("after", points)], [name] * 10 + ["crane"] * 10)
    assert words(chart).count(name) == 2, "once in the picture and once in the legend"
    assert name in words(stream_chart({}, [Lane(name, 1, 2, 3)], 10))
    assert not list(recwarn)


def test_a_long_name_is_cut_and_says_so():
    drawn = words(stream_chart({}, [Lane("great crested grebe of the north", 1, 2, 3)], 10))
    assert "great crested gre…" in drawn


@pytest.mark.parametrize(
    "chart",
    [
        lambda: stream_chart({}, [], 0),
        lambda: stream_chart({"at the end": curve(0)}, [], 0),
        lambda: stream_chart({}, [Lane("ibis", None, None, None)], 5),
        lambda: labels_chart([], [], 0),
        lambda: embedding_chart([Panel("after", np.zeros((0, 2)))], []),
    ],
)
def test_nothing_to_show_is_still_a_picture(chart, recwarn):
    ET.fromstring(chart())  # noqa: S314
    assert not list(recwarn)


def test_the_labels_chart_tells_both_sums():
    drawn = words(labels_chart(range(1200), range(2400), 5000))
    assert {"1,200", "2,400"} <= set(drawn)


def test_classes_differ_in_the_pair_of_colour_and_marker():
    points, names = blobs(30)
    root = ET.fromstring(embedding_chart([Panel("after", points)], names))  # noqa: S314
    shapes = {path.get("id"): path.get("d") for path in root.iter(f"{SVG}path") if path.get("id")}
    pairs = {
        (shapes[use.get(HREF)[1:]], re.search(r"fill: ([^;]+)", use.get("style"))[1])
        for use in root.iter(f"{SVG}use")
        if "fill" in use.get("style", "")
    }
    assert len(pairs) == 30


def test_a_label_stands_among_the_points_of_its_class():
    """Also where a class lies in two halves and its median between them."""
    points = np.concatenate(
        [np.full((10, 2), -5.0), np.full((11, 2), 5.0), np.array([[0.0, 40.0]])]
    )
    chart = embedding_chart([Panel("after", points)], ["two"] * 21 + ["one"])
    root = ET.fromstring(chart)  # noqa: S314
    centres = {
        (float(use.get("x")), float(use.get("y"))) for use in root.iter(f"{SVG}use") if use.get("x")
    }
    label = next(text for text in root.iter(f"{SVG}text") if "".join(text.itertext()) == "two")
    across = float(label.get("x") or re.search(r"translate\(([\d.]+)", label.get("transform"))[1])
    assert min(abs(across - at) for at, _ in centres) < 1


def test_images_of_a_class_stay_together_in_the_projection():
    rng = np.random.default_rng(1)
    labels = np.repeat([0, 1, 2], 30)
    vectors = rng.normal(size=(90, 20)) + 12 * np.eye(20)[labels]
    points = project(vectors, seed=0)
    distances = np.linalg.norm(points[:, None] - points[None], axis=2) + 1e9 * np.eye(90)
    assert points.shape == (90, 2)
    assert (labels[distances.argmin(axis=1)] == labels).mean() > 0.95


def test_a_projection_depends_on_the_seed_alone_and_edits_nothing():
    vectors = np.random.default_rng(2).normal(size=(40, 8))
    kept = vectors.copy()
    assert np.array_equal(project(vectors, seed=2**40), project(vectors, seed=2**40))
    assert np.array_equal(vectors, kept)


@pytest.mark.parametrize("count", [0, 1, 2, 9, 10, 11])
def test_few_images_can_be_projected_too(count):
    vectors = np.random.default_rng(3).normal(size=(count, 8))
    assert project(vectors, seed=0).shape == (count, 2)
