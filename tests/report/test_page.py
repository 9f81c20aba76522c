import re
from dataclasses import replace

import numpy as np
import pytest
from report.small_log import EVENTS, NASTY, TRUTH, Page, question

from csim.records import Accepted, Asked, ClassAdded, Labelled, Rejected, Retrained
from csim.report.charts import Lane, Panel
from csim.report.page import Embedding, ReportContent, figures, lanes, render
from csim.settings import Settings

EMBEDDING = Embedding(
    [Panel("before", np.zeros((12, 2))), Panel("after", np.arange(24.0).reshape(12, 2))],
    list(TRUTH.values()),
)
FULL = ReportContent(
    title="Birds",
    lead="Twelve birds flew by.",
    events=EVENTS,
    settings=Settings(seed=7, buffer_size=3),
    truth=TRUTH,
    embedding=EMBEDDING,
    origin={"command": "csim demo --seed 7", "versions": "csim 0"},
)
HEADINGS = [
    "Along the stream",
    "Labelling cost",
    "New classes",
    "Groups and their answers",
    "Embedding",
    "All figures",
    "How this report was made",
]
SEVEN = dict(list(TRUTH.items())[:7])  # the images before the first question


def variants():
    """Return pages that lack more and more."""
    return {
        "full": FULL,
        "without truth": replace(FULL, truth=None, embedding=None),
        "without questions": replace(FULL, events=EVENTS[:10], truth=SEVEN),
        "without images": ReportContent("t", "l", [], Settings(), {}),
        "without anything": ReportContent("t", "l", [], Settings()),
    }


def value(content, name):
    return {row.name: row.value for row in figures(content.events, content.truth)}[name]


@pytest.mark.parametrize("variant", list(variants()))
def test_a_page_is_whole_and_needs_no_other_file(variant):
    html = render(variants()[variant])
    page = Page(html)
    assert page.problems == []
    assert html.startswith("<!DOCTYPE html>")
    assert page.count("h1") == 1
    assert all(img.get("alt") for img in page.all("img"))
    assert all(chart.get("aria-label") for chart in page.all("svg"))


@pytest.mark.parametrize("variant", list(variants()))
def test_no_address_of_another_site_is_in_the_page(variant):
    html = re.sub(r' xmlns(:\w+)?="[^"]*"', "", render(variants()[variant]))
    assert not re.search(r"https?:|//\w", re.sub(r"base64,[^\"]*", "", html))


def test_the_sections_stand_in_order_and_every_link_has_its_section():
    page = Page(render(FULL))
    assert [words for words in page.words if words in HEADINGS][len(HEADINGS) :] == HEADINGS
    targets = [link["href"].removeprefix("#") for link in page.all("a")]
    assert targets == [section["id"] for section in page.all("section")]


def test_a_page_is_read_on_phones_and_in_the_dark():
    html = render(FULL)
    assert '<meta name="viewport" content="width=device-width' in html
    assert "prefers-color-scheme: dark" in html
    assert '<html lang="en">' in html


def test_every_table_has_headings():
    html = render(FULL)
    page = Page(html)
    assert page.count("table") == page.count("thead") == 4
    assert {cell["scope"] for cell in page.all("th")} == {"col", "row"}


def test_whatever_comes_from_outside_stays_text():
    nasty = "<script>alert('&')</script>"
    content = replace(
        FULL,
        title=nasty,
        lead=nasty,
        origin={nasty: nasty},
        embedding=Embedding([Panel(nasty, np.zeros((12, 2)))], [nasty] * 12),
    )
    page = Page(render(content))
    assert page.problems == []
    assert page.count("b") == page.count("script") == 0
    assert page.words.count(nasty) >= 5
    assert NASTY in page.words


def test_the_figures_are_those_counted_by_hand():
    assert value(FULL, "accuracy") == "75.0\u00a0%", "9 of 12: not the 7th, 11th and 12th"
    assert value(FULL, "accuracy at arrival") == "50.0\u00a0%", "6 of 12 were accepted rightly"
    assert value(FULL, "questions") == "3"
    assert value(FULL, "labels spent") == "16.7\u00a0%", "2 answers for 12 images"
    assert value(FULL, "images per answer") == "2.0", "4 labels by 2 answers"
    assert value(FULL, "purity") == "80.0\u00a0%", "4 of 5 grouped images"
    assert value(FULL, "new classes found") == value(FULL, "new classes learned") == "1 of 2"


def test_every_figure_has_its_meaning_in_one_sentence():
    for truth in (TRUTH, None):
        words = Page(render(replace(FULL, truth=truth))).words
        for row in figures(EVENTS, truth):
            assert row.meaning.endswith(".")
            assert row.meaning in words


def test_the_headline_has_four_or_five_figures_with_the_truth_and_fewer_without():
    assert Page(render(FULL)).count("dd") == 5
    page = Page(render(replace(FULL, truth=None)))
    assert page.count("dd") == 3
    assert {"16.7\u00a0%", "2.0", "3"} <= set(page.words)


def test_the_table_of_new_classes_tells_how_many_of_their_own_had_passed():
    words = Page(render(FULL)).words
    start = words.index("right at the end", words.index("first question"))
    row = words[start + 1 : start + 9]
    assert row == [NASTY, "3", "7", "after 3", "7", "after 3", "100\u00a0%", "of 5"]
    assert words[start + 9 : start + 15] == ["heron", "11", "never", "never", "0\u00a0%", "of 1"]


def test_the_image_that_brings_a_question_about_counts_as_passed():
    events = [Rejected(1, "1", None, 0.1, 1), Asked(1, question(1, 1, 1)), Retrained(1, 1, ())]
    words = Page(render(ReportContent("t", "l", events, Settings(), {"1": "heron"}))).words
    assert words[words.index("after 1") - 1] == "1"


def test_lanes_follow_the_truth_where_it_is_known():
    assert lanes(EVENTS, TRUTH) == [Lane(NASTY, 3, 7, 7), Lane("heron", 11, None, None)]


def test_lanes_without_the_truth_tell_what_the_log_tells():
    assert lanes(EVENTS, None) == [Lane(NASTY, None, 7, 7)]


def test_a_class_known_from_the_start_is_not_new_even_when_asked_about():
    events = [
        ClassAdded(0, 0, "crane"),
        Retrained(0, 1, (0,)),
        Rejected(1, "1", 0, 0.1, 1),
        Labelled(1, "1", 0, 1, is_told=True),
    ]
    assert lanes(events, None) == lanes(events, {"1": "crane"}) == []


def test_a_page_without_the_truth_leaves_out_what_would_need_it():
    words = " ".join(Page(render(replace(FULL, truth=None))).words)
    for absent in ("accuracy", "purity", "M_new", "right at the end", "truly"):
        assert absent not in words
    assert "When csim found and learned each new class." in words


def test_a_page_without_pictures_of_vectors_has_no_section_for_them():
    page = Page(render(replace(FULL, embedding=None)))
    assert "Embedding" not in page.words
    assert page.count("section") == len(HEADINGS) - 1


def test_a_stream_of_known_classes_alone_makes_a_page_without_new_classes():
    events = [ClassAdded(0, 0, "crane"), Retrained(0, 1, (0,)), Accepted(1, "1", 0, 0.9, 1)]
    page = Page(render(ReportContent("t", "l", events, Settings(), {"1": "crane"})))
    assert page.problems == []
    assert "New classes" not in page.words
    assert "100.0\u00a0%" in page.words


def test_only_settings_that_differ_are_listed():
    words = Page(render(FULL)).words
    listed = words[words.index("default") + 1 :]
    assert listed == ["buffer_size", "3", str(Settings().buffer_size), "seed", "7", "0"]
    assert (
        "All settings are the defaults." in Page(render(replace(FULL, settings=Settings()))).words
    )


def test_the_same_content_gives_the_same_page():
    assert render(FULL) == render(FULL)


def test_rendering_edits_nothing():
    before = (list(EVENTS), dict(TRUTH), EMBEDDING.panels[1].points.copy())
    render(FULL)
    assert before[:2] == (EVENTS, TRUTH)
    assert np.array_equal(EMBEDDING.panels[1].points, before[2])


def test_a_page_says_so_when_not_all_new_classes_are_drawn():
    events = [ClassAdded(0, 0, "crane"), Retrained(0, 1, (0,))]
    events += [Rejected(n, str(n), 0, 0.1, 1) for n in range(1, 46)]
    text = render(
        ReportContent("t", "l", events, Settings(), {str(n): f"bird {n}" for n in range(1, 46)})
    )
    assert "The first 40 of 45 new classes are drawn." in text
    assert "are drawn." not in render(FULL)
