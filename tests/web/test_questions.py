"""Questions over HTTP: pages, the next one, leases."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from web.serving import files, post, serving

from csim.web.limits import Limits


def take(client, name, **more):
    return client.post("/v1/questions/next", json={"labeller": name, **more})


def test_questions_come_page_by_page_in_order(shown):
    everything = shown.get("/v1/questions", params={"limit": 500}).json()
    assert everything["next"] is None
    pages = []
    after = 0
    while after is not None:
        page = shown.get("/v1/questions", params={"after": after, "limit": 3}).json()
        assert len(page["questions"]) <= 3
        pages += page["questions"]
        after = page["next"]
    assert pages == everything["questions"]
    assert [question["id"] for question in pages] == sorted(q["id"] for q in pages)
    assert len(pages) > 5


def test_questions_are_filtered_by_status(labeller):
    first = labeller.get("/v1/questions").json()["questions"][0]["id"]
    labeller.post(f"/v1/questions/{first}/skip", json={})
    skipped = labeller.get("/v1/questions", params={"status": "skipped"}).json()["questions"]
    assert [question["id"] for question in skipped] == [first]
    still_open = labeller.get("/v1/questions", params={"status": "open"}).json()["questions"]
    assert first not in [question["id"] for question in still_open]


def test_a_question_shows_its_group_and_the_guesses(shown):
    summary = shown.get("/v1/questions").json()["questions"][0]
    question = shown.get(f"/v1/questions/{summary['id']}").json()
    assert {**question, "members": None} == {**summary, "members": None}
    assert len(question["members"]) == question["images"]
    assert question["representative"]["id"] in [member["id"] for member in question["members"]]
    scores = [guess["score"] for guess in question["guesses"]]
    assert scores == sorted(scores, reverse=True)
    names = {row["id"]: row["name"] for row in shown.get("/v1/classes").json()["classes"]}
    assert all(names[g["class"]["id"]] == g["class"]["name"] for g in question["guesses"])
    assert shown.get(question["representative"]["picture"]).status_code == 200


@pytest.mark.parametrize(("number", "status"), [(9999, 404), (0, 422), ("x", 422), (2**40, 422)])
def test_a_question_that_does_not_exist(shown, number, status):
    assert shown.get(f"/v1/questions/{number}").status_code == status


def test_next_gives_the_largest_group_that_nobody_has(labeller):
    sizes = {q["id"]: q["images"] for q in labeller.get("/v1/questions").json()["questions"]}
    first = take(labeller, "ana").json()
    assert first["images"] == max(sizes.values())
    assert first["lease"]["labeller"] == "ana"
    second = take(labeller, "ben").json()
    assert second["id"] != first["id"]
    assert second["images"] == sorted(sizes.values())[-2]


def test_a_labeller_who_asks_again_gets_the_same_question(labeller):
    first = take(labeller, "ana").json()
    assert take(labeller, "ana").json()["id"] == first["id"]
    labeller.post(f"/v1/questions/{first['id']}/answer", json={"name": "a", "labeller": "ana"})
    assert take(labeller, "ana").json()["id"] != first["id"]


def test_two_labellers_answer_every_question_once(labeller):
    answered = []
    turns = 0
    while (found := take(labeller, ("ana", "ben")[turns % 2])).status_code == 200:
        name = ("ana", "ben")[turns % 2]
        question = found.json()["id"]
        told = labeller.post(
            f"/v1/questions/{question}/answer", json={"name": "bird", "labeller": name}
        )
        assert told.status_code == 200
        answered.append(question)
        turns += 1
    assert found.status_code == 204
    everything = labeller.get("/v1/questions", params={"limit": 500}).json()["questions"]
    assert sorted(answered) == [question["id"] for question in everything]
    assert {question["status"] for question in everything} == {"answered"}


@pytest.mark.slow
def test_two_labellers_answer_while_images_come(client):
    pairs = files(240)
    is_over = threading.Event()
    answers = {"ana": [], "ben": []}

    def work(name):
        while not is_over.is_set() or take(client, name).status_code == 200:
            if (found := take(client, name)).status_code != 200:
                continue
            question = found.json()["id"]
            body = {"name": "bird", "labeller": name}
            told = client.post(f"/v1/questions/{question}/answer", json=body)
            if told.status_code == 409:  # its last image joined another question meanwhile
                continue
            assert told.status_code == 200
            answers[name].append(question)

    with ThreadPoolExecutor(2) as pool:
        working = [pool.submit(work, name) for name in answers]
        for start in range(0, len(pairs), 12):
            assert post(client, pairs[start : start + 12]).status_code == 200
        is_over.set()
        for future in working:
            future.result()
    everything = client.get("/v1/questions", params={"limit": 500}).json()["questions"]
    answered = [question["id"] for question in everything if question["status"] == "answered"]
    assert sorted(answers["ana"] + answers["ben"]) == answered != []
    assert {question["status"] for question in everything} <= {"answered", "expired"}


def test_a_question_that_another_has_cannot_be_answered_or_leased(labeller):
    question = take(labeller, "ana").json()["id"]
    path = f"/v1/questions/{question}"
    refused = labeller.post(f"{path}/answer", json={"name": "a", "labeller": "ben"})
    assert refused.status_code == 409
    assert "ana has question" in refused.json()["detail"]
    assert labeller.post(f"{path}/lease", json={"labeller": "ben"}).status_code == 409
    assert labeller.post(f"{path}/lease", json={"labeller": "ana"}).status_code == 200
    assert labeller.post(f"{path}/answer", json={"name": "a", "labeller": "ana"}).is_success


def test_a_released_question_is_given_to_another(labeller):
    question = take(labeller, "ana").json()["id"]
    assert take(labeller, "ben").json()["id"] != question
    path = f"/v1/questions/{question}/lease"
    assert labeller.delete(path, params={"labeller": "ben"}).status_code == 204
    assert take(labeller, "cid").json()["id"] != question  # it was not ben's to release
    assert labeller.delete(path, params={"labeller": "ana"}).status_code == 204
    assert take(labeller, "dan").json()["id"] == question


def test_a_lease_survives_a_restart_of_the_service(asked):
    with serving(asked) as (client, _):
        question = take(client, "ana").json()["id"]
    with serving(asked) as (client, _):
        assert take(client, "ben").json()["id"] != question
        assert take(client, "ana").json()["id"] == question


def test_a_lease_ends_by_itself(asked, monkeypatch):
    limits = Limits(lease_seconds=100)
    with serving(asked, limits=limits) as (client, _):
        question = take(client, "ana").json()["id"]
        assert take(client, "ben").json()["id"] != question
        clock = __import__("csim.web.questions", fromlist=["now"])
        real = clock.now
        monkeypatch.setattr(clock, "now", lambda: real() + 101)  # not slept: no clock decides
        assert take(client, "cid").json()["id"] == question


def test_a_question_with_an_answer_cannot_be_leased(labeller):
    question = take(labeller, "ana").json()["id"]
    labeller.post(f"/v1/questions/{question}/answer", json={"name": "a", "labeller": "ana"})
    refused = labeller.post(f"/v1/questions/{question}/lease", json={"labeller": "ana"})
    assert refused.status_code == 409
    assert "is answered" in refused.json()["detail"]
