"""What the page sends: headers, errors, live figures, empty states. No browser is needed."""

import json
import re

import numpy as np
import pytest
from web.serving import serving

from csim.web.limits import Limits
from csim.web.page.projection import flatten
from csim.web.page.settings_view import meanings
from csim.web.security import Token

VIEWS = (
    "/questions", "/questions/1", "/overview", "/overview?span=all", "/classes", "/classes/0",
    "/classes/0?order=told", "/classes/0/remove", "/map", "/history", "/settings", "/login",
)  # fmt: skip


@pytest.mark.parametrize("path", VIEWS)
def test_a_view_allows_nothing_inline_and_nothing_from_elsewhere(shown, path):
    response = shown.get(path, follow_redirects=True)
    assert response.status_code == 200
    policy = response.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert not re.search(r"<script(?! src=)|<style|\son\w+=|\sstyle=", response.text)
    assert not re.search(r"(src|href|action)=\"(?!/|#)", response.text)


def test_static_files_are_kept_for_ever_under_a_path_that_names_their_content(shown):
    page = shown.get("/questions", follow_redirects=True).text
    paths = re.findall(r'"(/static/[^"]+)"', page)
    assert paths
    for path in paths:
        response = shown.get(path)
        assert response.status_code == 200
        assert "immutable" in response.headers["cache-control"]
    assert shown.get("/static/0123456789ab/csim.js").status_code == 404
    assert shown.get("/static/0123456789ab/..%2Frender.py").status_code == 404


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/classes/77", 404),
        ("/questions/9999", 404),
        ("/classes/x", 422),
        ("/classes/0/merge", 422),
    ],
)
def test_an_error_is_a_page_that_says_what_happened(shown, path, status):
    response = shown.get(path)
    assert response.status_code == status
    assert "That did not work" in response.text
    assert "Nothing has changed" in response.text


@pytest.mark.parametrize(
    ("path", "form", "reason"),
    [
        ("/questions/1/answer", {}, "An answer needs a name"),
        ("/questions/1/answer", {"name": "owl", "out": "no such image"}, "images must be ids"),
        ("/questions/9999/answer", {"name": "owl"}, "no question has the id 9999"),
        ("/classes/0/correct", {"name": "owl"}, "hoose the images"),
        ("/classes/0/correct", {"image": "image 1"}, "need a name"),
        ("/classes/0/merge", {"into": "0"}, "into itself"),
    ],
)
def test_a_form_that_cannot_be_used_changes_nothing(shown, path, form, reason):
    before = shown.get("/v1/status").json()
    response = shown.post(path, data=form)
    assert response.status_code in (404, 409, 422)
    assert reason.lower() in response.text.lower()
    after = shown.get("/v1/status").json()
    assert before["questions"] == after["questions"]
    assert before["classes"] == after["classes"]


@pytest.mark.parametrize(
    ("came_from", "back"),
    [
        ("{url}/classes/0?order=told", "/classes/0?order=told"),
        ("http://evil.example/x", "/questions"),
        ("{url}//evil.example", "/questions"),
    ],
)
def test_an_error_leads_back_to_where_the_person_was(shown, came_from, back):
    referer = came_from.format(url=str(shown.base_url).rstrip("/"))
    page = shown.post("/classes/0/correct", data={"name": "owl"}, headers={"Referer": referer})
    assert page.status_code == 422
    assert f'href="{back}">Go back' in page.text


def test_a_form_of_another_site_is_refused(shown):
    for headers in ({"Origin": "http://evil.example"}, {"Sec-Fetch-Site": "cross-site"}):
        response = shown.post("/questions/1/skip", headers=headers)
        assert response.status_code == 403
    assert shown.get("/v1/questions/1").json()["status"] == "open"


def leases(client):
    entries = client.get("/v1/questions").json()["questions"]
    return {entry["id"]: entry["lease"]["labeller"] for entry in entries if entry["lease"]}


def test_nobody_else_gets_the_question_that_a_new_browser_shows(labeller):
    named = labeller.get("/questions")
    assert named.status_code == 303
    assert not leases(labeller)
    page = labeller.get(named.headers["location"]).raise_for_status().text
    shown_id = int(re.search(r'data-id="(\d+)"', page).group(1))
    assert list(leases(labeller)) == [shown_id]
    assert f'data-labeller="{leases(labeller)[shown_id]}"' in page


def test_a_browser_without_cookies_takes_no_question(labeller):
    for _ in range(2):
        page = labeller.get("/questions?named=true").raise_for_status().text
        labeller.cookies.clear()
        assert 'class="question"' in page
        assert not leases(labeller)


def test_a_stream_without_images_says_what_to_do(client):
    assert "No image has come yet" in client.get("/questions", follow_redirects=True).text
    assert "No image has come yet" in client.get("/overview").text
    assert "Nobody has said anything yet" in client.get("/history").text
    assert client.get("/map/points").json()["points"] is None


def test_live_figures_come_at_once(shown):
    with shown.stream("GET", "/live") as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        line = next(line for line in response.iter_lines() if line.startswith("data: "))
    figures = json.loads(line.removeprefix("data: "))
    assert figures["images"] == 200
    assert figures["open"] == 20


def test_too_many_open_pages_are_refused(asked):
    with (
        serving(asked, limits=Limits(event_streams=1, stop_seconds=5)) as (client, _),
        client.stream("GET", "/live") as first,
    ):
        lines = first.iter_lines()
        next(lines)
        assert client.get("/live").status_code == 429


def test_with_a_token_only_the_login_and_static_files_are_open(asked):
    with serving(asked, token=Token(b"a-token-for-the-tests-only")) as (client, _):
        html = {"Accept": "text/html"}
        for path in ("/questions", "/map/points", "/live", "/overview/part"):
            assert client.get(path).status_code == 401
            assert client.get(path, headers=html).headers["location"] == f"/login?to={path}"
        assert client.post("/questions/1/skip", headers=html).status_code == 401
        login = client.get("/login")
        (style,) = re.findall(r'"(/static/[^"]+css)"', login.text)
        assert client.get(style).status_code == 200
        for to in ("//evil.example", "https://evil.example", "/\\evil.example"):
            answer = client.post("/login", data={"token": "a-token-for-the-tests-only", "to": to})
            assert answer.headers["location"] == "/questions"


def test_every_setting_has_a_meaning():
    assert all(len(text) > 20 for text in meanings().values())


def test_alike_vectors_are_near_each_other_on_the_map():
    rng = np.random.default_rng(0)
    centres = np.eye(8)[:3]
    vectors = np.repeat(centres, 400, axis=0) + rng.normal(0, 0.05, (1200, 8))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    points = flatten(vectors, seed=0)
    assert points.min() == 0
    assert points.max() == 1
    middles = points.reshape(3, 400, 2).mean(axis=1)
    own = np.linalg.norm(points.reshape(3, 400, 2) - middles[:, None], axis=2).mean()
    apart = min(np.linalg.norm(middles[i] - middles[j]) for i, j in ((0, 1), (0, 2), (1, 2)))
    assert own < apart / 2
