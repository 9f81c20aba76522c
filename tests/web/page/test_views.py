"""The other views: overview, classes, map, history, settings, login; and what they change."""

import shutil
from dataclasses import fields

import pytest
from web.page.conftest import NAMES, NARROW, WIDE, question_id, url_of
from web.serving import Process, files, post, serving

from csim.settings import Settings
from csim.web.security import Token

pytestmark = pytest.mark.slow

SECRET = "a-token-for-the-tests-only"  # noqa: S105


def names(client):
    return {row["id"]: row["name"] for row in client.get("/v1/classes").json()["classes"]}


def copy(folder, to):
    return shutil.copytree(folder, to / "stream")


def image(client, item_id):
    return client.get(f"/v1/images/{item_id}").json()


def test_no_view_is_wider_than_the_screen(service, open_page):
    page = open_page(url_of(service))
    for path in ("/questions", "/overview", "/classes", "/classes/0", "/map", "/history",
                 "/settings", "/classes/0/merge?into=1"):  # fmt: skip
        page.goto(url_of(service) + path)
        spare = page.evaluate(
            "document.documentElement.clientWidth - document.documentElement.scrollWidth"
        )
        assert spare >= 0, path


def test_the_overview_follows_the_stream(service, open_page):
    page = open_page(url_of(service), "/overview")
    assert page.locator("[data-live=images]").inner_text() == "200"
    assert page.locator("svg path.line").count() == 7
    assert page.locator(".class-cards li").count() == 3
    post(service, files(10, start=200)).raise_for_status()
    page.wait_for_function("() => document.querySelector('[data-live=images]').innerText === '210'")
    page.click("nav.tabs >> text=All")
    assert page.locator("nav.tabs [aria-current]").inner_text() == "All"


def test_a_class_is_renamed_merged_removed_and_restored(service, open_page):
    page = open_page(url_of(service), "/classes")
    page.click(f"text={NAMES[0]}")
    page.fill("#rename", "grey heron 🪶")
    page.click("button:text-is('Rename')")
    assert names(service)[0] == "grey heron 🪶"
    assert page.locator("h1").inner_text() == "grey heron 🪶"
    page.select_option("#into", label=NAMES[1])
    page.click("form:has(#into) >> text=See what changes")
    assert NAMES[1] in page.inner_text("main")
    page.click("button:text-is('Merge')")
    assert names(service) == {1: NAMES[1], 2: NAMES[2]}
    page.goto(url_of(service) + "/classes/2/remove")
    page.click("button:text-is('Remove')")
    assert names(service) == {1: NAMES[1]}
    page.click("button:has-text('Restore')")
    assert names(service) == {1: NAMES[1], 2: NAMES[2]}


def test_a_refused_edit_says_why_and_changes_nothing(service, open_page):
    page = open_page(url_of(service), "/classes/0", java_script_enabled=False)
    response = service.post("/classes/0/rename", data={"name": NAMES[1]})
    assert response.status_code == 409
    assert "belongs to class 1" in response.text
    assert names(service)[0] == NAMES[0]
    assert page.locator("h1").inner_text() == NAMES[0]


def test_the_history_tells_what_was_said_and_undoes_it(service, open_page):
    page = open_page(url_of(service), "/history")
    assert "Renamed" in page.inner_text(".rows")
    page.goto(url_of(service) + "/questions")
    number = question_id(page)
    page.fill("#name", "skua")
    page.click("button:text-is('Save')")
    page.wait_for_selector("#taught >> text=now named skua")
    page.goto(url_of(service) + "/history")
    assert page.inner_text(".rows li:first-child .name") == "skua"
    assert "+" in page.inner_text(".rows li:first-child .gain")
    page.click(".rows li:first-child >> text=Undo")
    assert service.get(f"/v1/questions/{number}").json()["status"] == "undone"
    assert question_id(page) == number


def test_every_setting_is_shown_with_its_meaning(service):
    text = service.get("/settings").text
    assert text.count("<dt>") == len(fields(Settings))
    assert "The most questions per image of the stream" in text


def test_a_service_with_a_token_asks_for_it_once(named_base, open_page, tmp_path):
    with serving(copy(named_base, tmp_path), token=Token(SECRET.encode())) as (client, _):
        page = open_page(url_of(client), "/classes/1")
        assert page.url.endswith("/login?to=/classes/1")
        page.fill("#token", SECRET)
        page.press("#token", "Enter")
        assert page.url.endswith("/classes/1")
        page.goto(url_of(client))
        page.keyboard.press("Enter")
        page.wait_for_function("() => localStorage.getItem('csim-unsent') === '[]'")
        # The next question may still load its pictures, which a logged-out browser may not see.
        page.goto(url_of(client) + "/settings")
        page.click("text=Log out")
        page.goto(url_of(client) + "/overview")
        assert "/login" in page.url
        answer = client.post("/login", data={"token": "wrong"})
        assert answer.status_code == 401
        assert "not the token" in answer.text


@pytest.mark.parametrize("width", [WIDE], indirect=True)
def test_pages_go_on_after_the_service_restarts(named_base, open_page, tmp_path):
    root = copy(named_base, tmp_path)
    first = Process(root)
    pages = [open_page(first.url), open_page(first.url, width=NARROW)]
    numbers = [question_id(page) for page in pages]
    first.stop()
    for page in pages:
        page.wait_for_selector("#connection:not([hidden])")
        page.keyboard.press("Enter")  # kept until there is a service again
    second = Process(root, "--port", first.url.rsplit(":", 1)[1])
    try:
        for page in pages:
            page.wait_for_selector("#connection", state="hidden")
            page.wait_for_function("() => localStorage.getItem('csim-unsent') === '[]'")
        with second.client() as client:
            for number in numbers:
                assert client.get(f"/v1/questions/{number}").json()["status"] == "answered"
    finally:
        second.stop()


def test_the_map_shows_every_image_and_its_picture(service, open_page):
    page = open_page(url_of(service), "/map")
    page.wait_for_selector("canvas[data-points='441']")
    assert page.locator("#map-legend li").count() == 4
    box = page.locator("canvas").bounding_box()
    points = service.get("/map/points").json()["points"]
    x, y = at(box, points[0])
    page.mouse.move(x, y)
    page.wait_for_selector("#map-hover:not([hidden])")
    page.mouse.click(x, y)
    page.wait_for_selector("#map-selection:not([hidden])")
    page.keyboard.press("Escape")
    assert page.locator("#map-selection").is_hidden()


def at(box, point, margin=24):
    """Return where a point of the map is on the screen."""
    return (
        box["x"] + margin + point["x"] * (box["width"] - 2 * margin),
        box["y"] + margin + point["y"] * (box["height"] - 2 * margin),
    )


def test_a_lasso_labels_the_images_inside(service, open_page):
    page = open_page(url_of(service), "/map")
    page.wait_for_selector("canvas[data-points='441']")
    page.locator("canvas").scroll_into_view_if_needed()
    box = page.locator("canvas").bounding_box()
    point = service.get("/map/points").json()["points"][-1]
    x, y = at(box, point)
    page.mouse.move(x - 12, y - 12)
    page.mouse.down()
    for dx, dy in ((12, -12), (12, 12), (-12, 12), (-12, -12)):
        page.mouse.move(x + dx, y + dy)
    page.mouse.up()
    page.wait_for_selector("#map-selection:not([hidden])")
    page.fill("#map-selection #name", "avocet")
    page.press("#map-selection #name", "Enter")
    page.wait_for_selector("#map-legend >> text=avocet")
    found = image(service, point["id"])
    assert found["today"]["name"] == "avocet"
    assert found["decided_by"] == "told"


@pytest.mark.parametrize("is_scripted", [True, False])
def test_wrong_images_of_a_class_are_corrected_and_that_is_undone(service, open_page, is_scripted):
    page = open_page(url_of(service), "/classes/0", java_script_enabled=is_scripted)
    item_id = tick_first(page)
    page.fill("#name", "avocet")
    submit(page, "button:text-is('Correct')")
    assert image(service, item_id)["today"]["name"] == "avocet"
    page.goto(url_of(service) + "/history")
    assert "Labelled 1 image avocet" in page.inner_text(".rows li:first-child")
    submit(page, ".rows li:first-child button")
    assert image(service, item_id)["decided_by"] != "told"
    page.goto(url_of(service) + "/classes/0?order=least-sure")
    item_id = tick_first(page)
    submit(page, "button:text-is('Junk')")
    assert image(service, item_id)["is_junk"]


def test_wrong_images_of_a_class_are_corrected_by_keys(service, open_page):
    page = open_page(url_of(service), "/classes/0")
    for key in ("x", "ArrowRight", "x"):  # the first x leads into the grid
        page.keyboard.press(key)
    item_id = page.get_attribute(".grid input >> nth=1", "value")
    page.keyboard.press("/")
    page.keyboard.type("avocet x")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    assert image(service, item_id)["today"]["name"] == "avocet x"


def tick_first(page):
    page.click(".grid input >> nth=0")
    return page.get_attribute(".grid input >> nth=0", "value")


def submit(page, button):
    """Press a button of a form and wait for the page that follows."""
    with page.expect_navigation():
        page.click(button)


def test_the_image_of_a_question_leads_to_it_and_its_answer_is_corrected(service, open_page):
    page = open_page(url_of(service))
    number = question_id(page)
    page.keyboard.press("1")
    page.wait_for_selector("#taught >> text=now named")
    name = service.get(f"/v1/questions/{number}").json()["class"]
    page.goto(url_of(service) + f"/classes/{name['id']}?order=told")
    page.click(f"a.tile:has-text('question {number}')")
    assert "This question is answered" in page.inner_text(".question .banner")
    page.keyboard.press("/")
    page.keyboard.type("dunlin")
    page.keyboard.press("Enter")
    page.wait_for_selector("#taught >> text=now named dunlin")
    assert service.get(f"/v1/questions/{number}").json()["class"]["name"] == "dunlin"
