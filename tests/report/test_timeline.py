import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from report.small_log import NASTY, Page

from csim.report.timeline import Course, classes_chart, cost_chart

SVG = "{http://www.w3.org/2000/svg}"


def course(name="heron", counts=(0, 0, 4, 2), asked=40, learned=50):
    return Course(name, np.array(counts), asked, learned)


def cost(
    asked=(5, 9), spent=(5,), *, budget=0.05, rejected=(0.0, 10.0), waiting=(0.0, 2.0), images=100
):
    return cost_chart(
        asked,
        spent,
        budget=budget,
        rejected=np.array(rejected),
        waiting=np.array(waiting),
        images=images,
    )


def words(chart):
    root = ET.fromstring(chart)  # noqa: S314
    return ["".join(text.itertext()).strip() for text in root.iter(f"{SVG}text")]


@pytest.mark.parametrize("chart", [classes_chart([course()], 100), cost()], ids=["classes", "cost"])
def test_a_chart_is_one_svg_element_that_says_what_it_shows(chart):
    root = ET.fromstring(chart)  # noqa: S314
    assert root.tag == f"{SVG}svg"
    assert root.get("role") == "img"
    assert len(root.get("aria-label")) > 20
    assert root.get("width") is None


def test_the_charts_share_no_id_with_each_other():
    assert Page(f"<main>{classes_chart([course()], 100)}{cost()}</main>").problems == []


def test_the_same_values_give_the_same_picture():
    assert classes_chart([course()], 100) == classes_chart([course()], 100)
    assert cost() == cost()


def test_every_class_has_its_row_with_its_name_and_its_number():
    drawn = words(classes_chart([course(), course("ibis", (1, 2, 3, 1300))], 100))
    assert {
        "heron",
        "ibis",
        "6",
        "1,306",
        "first question",
        "learned",
        "position in the stream (images)",
    } <= set(drawn)


def test_a_class_known_from_the_start_has_no_moments():
    drawn = words(classes_chart([course(asked=40, learned=0)], 100))
    assert "first question" not in drawn
    assert "learned" not in drawn


@pytest.mark.parametrize("name", [NASTY, "$5 & $6", "_hidden", "鷺"])
def test_a_class_may_have_any_name(name, recwarn):
    assert name in words(classes_chart([course(name)], 100))
    assert not list(recwarn)


def test_only_forty_classes_are_drawn():
    drawn = words(classes_chart([course(f"class {n}") for n in range(60)], 100))
    assert sum(name.startswith("class") for name in drawn) == 40


def test_a_row_turns_green_where_the_class_was_learned():
    """Images in the second half alone, learned at three quarters: grey ends where green begins."""
    chart = classes_chart([course(counts=(0, 0, 4, 4), learned=75)], 100)
    greens, greys = (len(re.findall(colour, chart)) for colour in ("#009e73", "#8a8f98"))
    assert greens >= 2, "the marker and the fill"
    assert greys
    never = classes_chart([course(counts=(0, 0, 4, 4), learned=None)], 100)
    assert "#009e73" not in never


def test_rows_are_drawn_however_the_stream_is_cut(recwarn):
    for counts in ((0,), (3,), (0, 0, 0), tuple(range(100))):
        for learned in (None, 0, 1, 7, 10):
            chart = classes_chart([course(counts=counts, asked=None, learned=learned)], 10)
            ET.fromstring(chart)  # noqa: S314
    assert not list(recwarn)


def test_the_budget_is_drawn_unless_there_is_none():
    assert "questions that the budget allows" in words(cost(budget=0.05))
    assert "questions that the budget allows" not in words(cost(budget=1.0))


def test_images_without_a_class_are_drawn_unless_there_were_none():
    assert {"rejected at arrival", "without a class today"} <= set(words(cost()))
    assert "rejected at arrival" not in words(cost(rejected=(0.0, 0.0), waiting=(0.0, 0.0)))


def test_a_picture_of_a_million_images_is_a_small_file():
    rng = np.random.default_rng(0)
    sizes = []
    for images in (1_000, 1_000_000):
        asked = np.sort(rng.integers(0, images, images // 20))
        shares = rng.uniform(0, 10, 100)
        sizes.append(len(cost(asked, asked, rejected=shares, waiting=shares, images=images)))
    assert max(sizes) < 100_000


def test_large_numbers_are_easy_to_read():
    assert "200,000" in words(cost(images=200_000))


def test_nothing_asked_and_nothing_told_is_still_a_picture(recwarn):
    ET.fromstring(cost((), (), rejected=(0.0,), waiting=(0.0,), images=1))  # noqa: S314
    assert not list(recwarn)
