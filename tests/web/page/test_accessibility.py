"""axe-core finds nothing serious on any view, light or dark, wide or narrow."""

import os
from pathlib import Path

import pytest
from web.page.conftest import question_id, url_of

pytestmark = pytest.mark.slow

FOLDER = Path(os.environ.get("CSIM_AXE", Path.home() / ".cache/csim/axe"))
AXE = FOLDER / "node_modules/axe-core/axe.min.js"
VIEWS = (
    "/questions", "/overview", "/classes", "/classes/0", "/classes/0/merge?into=1", "/map",
    "/history", "/history?show=skipped", "/settings", "/login",
)  # fmt: skip


@pytest.fixture(scope="module")
def axe():
    assert AXE.exists(), f"axe-core is missing; run `make axe`, which puts it into {FOLDER}"
    return AXE.read_text(encoding="utf-8")


def serious(page, axe):
    """Return the serious violations on a page, each with what it is about."""
    page.evaluate(axe)  # a script tag would be blocked by the page's policy
    found = page.evaluate("axe.run({resultTypes: ['violations']})")
    return [
        f"{violation['id']}: {node['html']}"
        for violation in found["violations"]
        if violation["impact"] in ("serious", "critical")
        for node in violation["nodes"]
    ]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_view_has_a_serious_violation(service, open_page, axe, theme):
    page = open_page(url_of(service), color_scheme=theme)
    number = question_id(page)
    page.keyboard.press("k")
    page.wait_for_selector("#taught >> text=Skipped")
    found = {}
    for path in (*VIEWS, f"/questions/{number}"):
        page.goto(url_of(service) + path)
        if path == "/map":
            page.wait_for_selector("canvas[data-points]")
            page.click("#map-legend button >> nth=0")
        if violations := serious(page, axe):
            found[path] = violations
    assert found == {}


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_an_empty_stream_has_no_serious_violation(client, open_page, axe, theme):
    page = open_page(url_of(client), color_scheme=theme)
    found = {}
    for path in ("/questions", "/overview", "/map", "/history"):
        page.goto(url_of(client) + path)
        if violations := serious(page, axe):
            found[path] = violations
    assert found == {}


def test_a_violation_would_be_found(service, open_page, axe):
    page = open_page(url_of(service), "/settings")
    page.evaluate("document.querySelector('main').append(document.createElement('input'))")
    assert any(text.startswith("label:") for text in serious(page, axe))


def test_motion_stops_for_those_who_want_none(service, open_page):
    page = open_page(url_of(service), "/overview", reduced_motion="reduce")
    assert page.evaluate("getComputedStyle(document.querySelector('.dot')).animationName") == "none"
