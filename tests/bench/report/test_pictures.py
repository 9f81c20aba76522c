"""Drawings taken into a page: they stay what they are, know only themselves, and do nothing."""

import io
import re
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.figure import Figure
from report.small_log import Page

from csim.bench.report.pictures import inline
from csim.bench.tables.sheet import drawing
from csim.errors import InputError

HEAD = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '


def drawn(seed=0):
    """Return a real drawing: lines with markers, a hatch, an image and words."""
    with drawing():
        figure = Figure(figsize=(4, 3), layout="constrained")
        left, right = figure.subplots(1, 2)
        left.plot(np.random.default_rng(seed).random(5), "o-", label="a < b & c")
        left.bar([0, 1], [1, 2], hatch="//", facecolor="white")
        right.imshow(np.eye(3))
        left.legend()
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg")
    return buffer.getvalue()


def tree(text):
    return ElementTree.fromstring(text)  # noqa: S314 - our own drawing


def take(text, prefix="one"):
    return inline(text, prefix=prefix, description="what it shows")


def small(content, attributes=""):
    return f"{HEAD}{attributes}>{content}</svg>"


def test_a_drawing_becomes_one_element_that_says_what_it_shows():
    text = take(drawn())
    root = tree(text)
    assert root.tag == "svg"
    assert (root.get("role"), root.get("aria-label")) == ("img", "what it shows")
    assert "<?xml" not in text
    assert "xmlns" not in text


def test_everything_that_draws_is_kept():
    before, after = tree(drawn()), tree(take(drawn()))
    for tag in ("path", "use", "text", "image", "clipPath", "pattern", "g"):
        count = sum(element.tag.endswith(f"}}{tag}") for element in before.iter())
        assert count == sum(element.tag == tag for element in after.iter()) > 0, tag
    paths = [element.get("d") for element in before.iter() if element.tag.endswith("}path")]
    assert paths == [element.get("d") for element in after.iter("path")]


def test_words_stay_words_and_stay_escaped():
    assert "a &lt; b &amp; c" in take(drawn())


def test_two_drawings_on_a_page_share_no_id_and_each_refers_to_its_own():
    page = take(drawn(0), "one") + take(drawn(1), "two")
    assert Page(page).problems == []
    ids = set(re.findall(r' id="([^"]+)"', page))
    used = re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)', page)
    assert used
    assert {one or other for one, other in used} <= ids
    assert all(own.startswith(("one-", "two-")) for own in ids)


def test_it_fits_its_page_and_stays_readable():
    root = tree(take(drawn()))
    assert root.get("width") is None
    assert root.get("height") is None
    assert root.get("viewBox") == "0 0 288 216"
    assert root.get("style") == "min-width: 307px; max-width: 422px"  # 288 points are 384 pixels


def test_a_drawing_without_a_size_is_taken_as_it_is():
    assert "style" not in tree(take(small('<path d="M 0 0"/>', 'width="100%"'))).attrib


@pytest.mark.parametrize(
    "content",
    [
        "<script>alert(1)</script>",
        "<style>* { display: none }</style>",
        '<foreignObject><b xmlns="http://www.w3.org/1999/xhtml">bold</b></foreignObject>',
        '<b xmlns="http://www.w3.org/1999/xhtml">bold</b>',
        "<animate/>",
        "<metadata>by whom</metadata>",
        "<!-- a comment -->",
    ],
)
def test_what_does_not_draw_is_left_out(content):
    assert take(small(f'{content}<path d="M 0 0"/>')) == take(small('<path d="M 0 0"/>'))


@pytest.mark.parametrize(
    "attribute",
    [
        'onclick="alert(1)"',
        'href="javascript:alert(1)"',
        'xlink:href="http://elsewhere/a.png"',
        'style="fill: url(http://elsewhere/a.svg#b)"',
        'style="fill: URL( //elsewhere )"',
        r'style="fill: u\72l(//elsewhere)"',
        'xml:base="http://elsewhere"',
    ],
)
def test_what_could_run_or_fetch_is_left_out(attribute):
    assert take(small(f'<path d="M 0 0" {attribute}/>')) == take(small('<path d="M 0 0"/>'))


def test_references_and_colours_are_told_apart():
    text = take(
        small(
            '<use xlink:href="#face"/><path id="face" fill="#facade" style="clip-path: url(#face)"/>'
        )
    )
    assert '<use href="#one-face"' in text
    assert 'id="one-face" fill="#facade" style="clip-path: url(#one-face)"' in text


def test_an_image_within_is_kept():
    assert 'href="data:image/png;base64,AAAA"' in take(
        small('<image xlink:href="data:image/png;base64,AAAA"/>')
    )
    assert "data:" not in take(small('<image xlink:href="data:image/svg+xml,%3Csvg/%3E"/>'))


@pytest.mark.parametrize(
    "text", ["", "half <", drawn()[:-20], "<html></html>", '<svg xmlns="else"/>']
)
def test_what_is_no_drawing_is_refused(text):
    with pytest.raises(InputError, match="must be an SVG drawing"):
        take(text)
