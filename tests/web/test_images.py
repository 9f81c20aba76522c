"""Images over HTTP: decisions that are durable, ids that make a request safe to repeat."""

import shutil
import threading

import pytest
from digit_folder import arrivals, png, rows
from web.serving import files, form, post, serving

from csim.folder.stream import Stream
from csim.web.limits import Limits


def test_many_images_get_the_decisions_of_the_stream(client, empty_base, tmp_path):
    answers = post(client, files(60)).json()["images"]
    copy = shutil.copytree(empty_base, tmp_path / "same")
    with Stream(copy, trainer=None) as stream:
        stream.take(arrivals(60))
    expected = rows(
        copy,
        "SELECT place, id, is_accepted, iif(is_accepted, nearest, NULL), score, model FROM items"
        " WHERE place > 0 ORDER BY place",
    )
    found = [
        (
            answer["position"],
            answer["id"],
            int(answer["decision"] == "accepted"),
            answer["class"] and answer["class"]["id"],
            answer["score"],
            answer["model"],
        )
        for answer in answers
    ]
    assert found == expected


def test_an_answer_names_the_question_that_the_image_is_asked_about(client):
    answers = post(client, files(60)).json()["images"]
    questions = client.get("/v1/questions").json()["questions"]
    assert questions
    asked = {answer["id"]: answer["question"] for answer in answers if answer["question"]}
    assert {question["representative"]["id"] for question in questions} <= set(asked)
    assert set(asked.values()) <= {question["id"] for question in questions}


@pytest.mark.parametrize("kind", ["image/png", "application/octet-stream"])
def test_one_image_is_sent_as_the_body(client, kind):
    ((_, file),) = files(1)
    sent = client.post(
        "/v1/images", params={"id": "a/b.png"}, content=file, headers={"Content-Type": kind}
    )
    assert [answer["id"] for answer in sent.json()["images"]] == ["a/b.png"]
    assert client.get("/v1/images/a/b.png").json()["position"] == 1


def test_images_without_ids_get_one_each(client):
    pairs = files(3)
    sent = client.post("/v1/images", files=form(pairs)["files"])
    ids = [answer["id"] for answer in sent.json()["images"]]
    assert len(set(ids)) == 3
    assert [client.get(f"/v1/images/{item_id}").json()["position"] for item_id in ids] == [1, 2, 3]


def test_the_same_id_and_content_again_returns_the_same_decision(client):
    first = post(client, files(20))
    assert post(client, files(30)).json()["images"][:20] == first.json()["images"]
    assert post(client, files(20)).json() == first.json()
    assert client.get("/v1/status").json()["position"] == 30


def test_the_same_id_twice_in_a_request_is_one_image(client):
    (pair,) = files(1)
    sent = post(client, [pair, pair]).json()["images"]
    assert sent[0] == sent[1]
    assert client.get("/v1/status").json()["position"] == 1


def test_the_same_id_with_other_content_is_refused_and_nothing_is_taken(client):
    (first, second, third) = files(3)
    post(client, [first])
    refused = post(client, [second, (first[0], third[1])])
    assert refused.status_code == 409
    assert first[0] in refused.json()["detail"]
    assert client.get("/v1/status").json()["position"] == 1
    within = post(client, [("x", first[1]), ("x", second[1])])
    assert within.status_code == 409
    assert client.get("/v1/status").json()["position"] == 1


def test_an_id_of_an_image_that_came_from_a_source_is_refused(labeller):
    assert post(labeller, files(1)).status_code == 409


def test_one_bad_image_of_many_and_none_is_taken(client):
    pairs = [*files(3), ("bad", b"\x89PNG\r\n\x1a\nno more")]
    refused = post(client, pairs)
    assert refused.status_code == 422
    assert "image 4 of 4 (damaged)" in refused.json()["detail"]
    assert client.get("/v1/status").json()["position"] == 0


def test_later_answers_show_in_the_state_of_an_image(labeller):
    question = labeller.get("/v1/questions").json()["questions"][0]
    path = f"/v1/images/{question['representative']['id']}"
    before = labeller.get(path).json()
    assert (before["answered_by"], before["question"]) == (None, question["id"])
    labeller.post(f"/v1/questions/{question['id']}/answer", json={"name": "swan"})
    after = labeller.get(path).json()
    assert after["today"]["name"] == "swan"
    assert (after["decided_by"], after["answered_by"]) == ("told", question["id"])
    for field in ("position", "decision", "class", "score", "model", "time"):
        assert after[field] == before[field]


def test_more_images_than_a_request_may_have_are_refused(empty):
    with serving(empty, limits=Limits(request_images=5)) as (client, _):
        assert post(client, files(6)).status_code == 400
        assert client.get("/v1/status").json()["position"] == 0
        assert post(client, files(5)).status_code == 200


@pytest.mark.parametrize(
    "item_id", ["../up", "a/../b", "/etc/passwd", "a//b", " a", "a\n", "a\0b", "x" * 201, "."]
)
def test_an_id_that_plays_with_paths_or_cannot_be_printed_is_refused(client, item_id):
    ((_, file),) = files(1)
    assert post(client, [(item_id, file)]).status_code == 422
    assert client.get("/v1/status").json()["position"] == 0


def test_ids_must_be_one_per_image(client):
    sent = form(files(3))
    sent["data"]["ids"].pop()
    assert "got 2 for 3 images" in client.post("/v1/images", **sent).json()["detail"]


@pytest.mark.parametrize(
    ("part", "status"),
    [({"files": [("pictures", b"x")]}, 422), ({"files": [("ids", b"x")]}, 422), ({}, 415)],
)
def test_a_form_has_images_and_ids_and_nothing_else(client, part, status):
    assert client.post("/v1/images", **part).status_code == status


def test_many_clients_at_once_lose_no_image(client):
    pairs = files(96)
    statuses = []

    def send(some):
        statuses.append(post(client, some).status_code)

    threads = [
        threading.Thread(target=send, args=(pairs[start : start + 8],)) for start in range(0, 96, 8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert statuses == [200] * 12
    found = [client.get(f"/v1/images/{item_id}").json()["position"] for item_id, _ in pairs]
    assert sorted(found) == list(range(1, 97))


def test_pictures_come_in_sizes_and_may_be_kept_for_ever(shown):
    place = shown.get("/v1/questions").json()["questions"][0]["representative"]["position"]
    full = shown.get(f"/v1/pictures/{place}")
    assert full.content == arrivals(place)[-1].kept == png(arrivals(place)[-1].image)
    assert full.headers["content-type"] == "image/png"
    assert "immutable" in full.headers["cache-control"]
    small = shown.get(f"/v1/pictures/{place}", params={"size": "small"})
    assert int.from_bytes(small.content[16:20]) == 96  # the width in a PNG
    assert shown.get("/v1/pictures/100000").status_code == 404
    assert shown.get(f"/v1/pictures/{10**30}").status_code == 404
