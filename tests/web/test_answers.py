"""Answers over HTTP: each is safe before it is confirmed, and taken once."""

import pytest
from digit_folder import rows
from web.serving import serving

from csim.folder.stream import Stream


@pytest.fixture
def question(labeller):
    return labeller.get("/v1/questions").json()["questions"][0]["id"]


def say(client, question, what, body=None, **headers):
    return client.post(f"/v1/questions/{question}/{what}", json=body or {}, headers=headers)


def status(client, question):
    found = client.get(f"/v1/questions/{question}").json()
    return found["status"], found["class"] and found["class"]["name"]


def test_an_answer_by_name_labels_the_group(labeller, question):
    assert say(labeller, question, "answer", {"name": " heron "}).json()["taken"]
    assert status(labeller, question) == ("answered", "heron")


def test_an_answer_by_class_id_labels_the_group(labeller, question):
    known = labeller.get("/v1/classes").json()["classes"][1]
    assert say(labeller, question, "answer", {"class_id": known["id"]}).status_code == 200
    assert status(labeller, question) == ("answered", known["name"])


def test_a_rename_before_the_engine_takes_an_answer_by_class_id_makes_no_class(asked):
    with Stream(asked, trainer=None), serving(asked) as (client, _):  # another engine, which waits
        question = client.get("/v1/questions").json()["questions"][0]["id"]
        known = client.get("/v1/classes").json()["classes"]
        renamed = known[1]["id"]
        path = f"/v1/classes/{renamed}"
        assert client.patch(path, json={"name": "seven"}).status_code == 202
        said = say(client, question, "answer", {"class_id": renamed}, **{"Idempotency-Key": "a"})
        assert said.status_code == 202
    with serving(asked) as (client, _):
        again = say(client, question, "answer", {"class_id": renamed}, **{"Idempotency-Key": "a"})
        assert again.json() == {**said.json(), "taken": True}
        assert status(client, question) == ("answered", "seven")
        assert len(client.get("/v1/classes").json()["classes"]) == len(known)


def test_an_answer_by_the_id_of_a_removed_or_merged_class(labeller, question):
    first, second = (row["id"] for row in labeller.get("/v1/classes").json()["classes"][:2])
    assert labeller.post(f"/v1/classes/{first}/merge", json={"into": second}).status_code == 200
    assert say(labeller, question, "answer", {"class_id": first}).status_code == 200
    assert labeller.get(f"/v1/questions/{question}").json()["class"]["id"] == second
    assert labeller.delete(f"/v1/classes/{second}").status_code == 200
    refused = say(labeller, question, "correct", {"class_id": first})
    assert refused.status_code == 409
    assert "no class has the id" in refused.json()["detail"]


def test_correct_and_undo_change_an_answer(labeller, question):
    say(labeller, question, "answer", {"name": "hern"})
    assert say(labeller, question, "correct", {"name": "heron"}).status_code == 200
    assert status(labeller, question) == ("answered", "heron")
    assert say(labeller, question, "undo").status_code == 200
    assert status(labeller, question) == ("undone", None)
    assert say(labeller, question, "answer", {"name": "crane"}).status_code == 200


def test_a_skipped_question_comes_back_when_the_skip_is_taken_back(labeller, question):
    assert say(labeller, question, "skip").status_code == 200
    assert status(labeller, question) == ("skipped", None)
    assert say(labeller, question, "unskip").status_code == 200
    assert status(labeller, question) == ("undone", None)
    assert say(labeller, question, "unskip").status_code == 409
    assert say(labeller, question, "skip").status_code == 200
    assert say(labeller, question, "undo").status_code == 200
    assert status(labeller, question) == ("undone", None)
    assert say(labeller, question, "answer", {"name": "heron"}).status_code == 200


def test_junk_is_an_answer_that_can_be_corrected_and_undone(labeller, question):
    assert say(labeller, question, "junk").json()["taken"]
    found = labeller.get(f"/v1/questions/{question}").json()
    assert (found["status"], found["class"], found["is_junk"]) == ("answered", None, True)
    shown = labeller.get(f"/v1/images/{found['representative']['id']}").json()
    assert (shown["is_junk"], shown["today"], shown["decided_by"]) == (True, None, "told")
    assert labeller.get("/v1/status").json()["junk"] == found["images"]
    assert say(labeller, question, "correct", {"name": "heron"}).status_code == 200
    assert say(labeller, question, "correct", {"name": "heron", "junk": True}).status_code == 422
    assert say(labeller, question, "correct", {"junk": True}).status_code == 200
    assert labeller.get(f"/v1/questions/{question}").json()["is_junk"]
    assert say(labeller, question, "undo").status_code == 200
    assert not labeller.get(f"/v1/questions/{question}").json()["is_junk"]


def test_images_are_labelled_unasked_once_per_key_and_can_be_undone(labeller):
    asked = labeller.get("/v1/questions", params={"limit": 500}).json()["questions"]
    shown = {entry["representative"]["id"] for entry in asked}
    first, second = [f"image {n}" for n in range(170, 201) if f"image {n}" not in shown][:2]
    body = {"images": [first, second], "name": "heron"}
    key = {"Idempotency-Key": "map 1"}
    done = labeller.post("/v1/images/label", json=body, headers=key)
    assert done.status_code == 200
    assert labeller.post("/v1/images/label", json=body, headers=key).json() == done.json()
    made = done.json()["questions"]
    assert [status(labeller, number) for number in made] == [("answered", "heron")] * 2
    assert labeller.get(f"/v1/images/{second}").json()["decided_by"] == "told"
    assert say(labeller, made[0], "undo").status_code == 200
    assert labeller.get(f"/v1/images/{first}").json()["today"] is None
    junk = {"images": [first, second], "junk": True}
    assert labeller.post("/v1/images/label", json=junk).json()["questions"] == []
    assert labeller.get(f"/v1/images/{second}").json()["is_junk"]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"images": ["no such image"], "name": "heron"}, 409),
        ({"images": ["image 200"]}, 422),
        ({"images": [], "name": "heron"}, 422),
        ({"images": ["image 200"], "name": "heron", "junk": True}, 422),
    ],
)
def test_labels_that_cannot_be_taken_are_refused(labeller, body, code):
    refused = labeller.post("/v1/images/label", json=body)
    assert (refused.status_code, bool(refused.json()["detail"])) == (code, True)


def test_a_split_makes_two_questions(labeller, question):
    made = say(labeller, question, "split").json()["questions"]
    assert len(made) == 2
    assert status(labeller, question) == ("split", None)
    assert {status(labeller, part)[0] for part in made} == {"open"}


def test_a_split_is_undone_until_a_part_has_an_answer(labeller, question):
    first, second = say(labeller, question, "split").json()["questions"]
    say(labeller, first, "answer", {"name": "heron"})
    refused = say(labeller, question, "undo")
    assert (refused.status_code, f"undo question {first} first" in refused.text) == (409, True)
    say(labeller, first, "undo")
    assert say(labeller, question, "undo").status_code == 200
    assert status(labeller, question) == ("undone", None)
    assert {status(labeller, part)[0] for part in (first, second)} == {"expired"}


def test_members_taken_out_become_a_question_of_their_own(labeller, question):
    members = [m["id"] for m in labeller.get(f"/v1/questions/{question}").json()["members"]]
    rest, out = say(labeller, question, "take-out", {"images": members[:2]}).json()["questions"]

    def group(number):
        return [m["id"] for m in labeller.get(f"/v1/questions/{number}").json()["members"]]

    assert group(out) == members[:2]
    assert group(rest) == members[2:]


@pytest.mark.parametrize(
    ("what", "body", "code"),
    [
        ("answer", {}, 422),
        ("answer", {"name": "a", "class_id": 0}, 422),
        ("answer", {"name": ""}, 422),
        ("answer", {"name": "a\u202eb"}, 422),
        ("answer", {"name": 3}, 422),
        ("answer", {"class_id": "0"}, 422),
        ("answer", {"class_id": 999}, 409),
        ("answer", {"name": "a", "more": 1}, 422),
        ("correct", {"name": "a"}, 409),
        ("undo", {}, 409),
        ("split", {"parts": [["nothing"], ["else"]]}, 409),
        ("take-out", {"images": ["nothing"]}, 422),
        ("take-out", {"images": []}, 422),
    ],
)
def test_an_answer_that_cannot_be_is_refused_and_changes_nothing(
    labeller, question, what, body, code
):
    refused = say(labeller, question, what, body)
    assert refused.status_code == code, refused.text
    assert refused.json()["detail"]
    assert status(labeller, question) == ("open", None)


def test_a_question_that_does_not_exist_takes_no_answer(labeller, asked):
    assert say(labeller, 9999, "answer", {"name": "a"}).status_code == 404
    assert rows(asked, "SELECT count(*) FROM inbox") == [(0,)]


def test_the_same_key_again_is_one_answer(labeller, question, asked):
    key = {"Idempotency-Key": "k1"}
    first = say(labeller, question, "answer", {"name": "heron"}, **key)
    assert say(labeller, question, "answer", {"name": "heron"}, **key).json() == first.json()
    assert rows(asked, "SELECT count(*) FROM inbox") == [(1,)]
    other = say(labeller, question, "answer", {"name": "crane"}, **key)
    assert other.status_code == 422
    assert "another message" in other.json()["detail"]


def test_a_second_answer_without_a_key_is_refused(labeller, question):
    assert say(labeller, question, "answer", {"name": "heron"}).status_code == 200
    refused = say(labeller, question, "answer", {"name": "heron"})
    assert refused.status_code == 409
    assert "is answered" in refused.json()["detail"]


def test_beside_another_engine_an_answer_is_safe_and_taken_later(asked):
    with Stream(asked, trainer=None) as stream, serving(asked) as (client, _):
        question = client.get("/v1/questions").json()["questions"][0]["id"]
        waits = say(client, question, "answer", {"name": "heron"})
        assert (waits.status_code, waits.json()["taken"]) == (202, False)
        taken = client.post("/v1/questions/next", json={"labeller": "ana"}).json()["id"]
        assert taken != question  # its answer waits
        stream.attend()
        assert status(client, question) == ("answered", "heron")
