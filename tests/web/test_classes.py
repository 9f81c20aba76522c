"""Classes over HTTP: list and edit, each edit with a dry run."""

import pytest
from digit_folder import rows


def classes(client):
    return {row["id"]: row for row in client.get("/v1/classes").json()["classes"]}


def test_classes_have_counts_and_examples(shown):
    found = classes(shown)
    assert [row["name"] for row in found.values()] == ["0", "7", "8"] or len(found) == 3
    for row in found.values():
        assert row["told"] > 0
        assert len(row["examples"]) == 3
        assert shown.get(row["examples"][0]["picture"]).status_code == 200
    plain = shown.get("/v1/classes", params={"examples": 0}).json()["classes"]
    assert all(row["examples"] == [] for row in plain)


def test_add_rename_merge_remove(labeller):
    before = classes(labeller)
    added = labeller.post("/v1/classes", json={"name": "heron"})
    assert (added.status_code, added.json()["taken"]) == (200, True)
    (new,) = set(classes(labeller)) - set(before)
    labeller.patch(f"/v1/classes/{new}", json={"name": "grey heron"})
    assert classes(labeller)[new]["name"] == "grey heron"
    first, second, *_ = before
    images = before[first]["images"] + before[second]["images"]
    assert labeller.post(f"/v1/classes/{first}/merge", json={"into": second}).is_success
    assert classes(labeller)[second]["images"] == images
    assert labeller.delete(f"/v1/classes/{new}").status_code == 200
    assert set(classes(labeller)) == set(before) - {first}
    assert (
        labeller.post(f"/v1/classes/{new}/restore").json()["change"]
        == "restores 'grey heron' with the images it had"
    )
    assert classes(labeller)[new]["name"] == "grey heron"


@pytest.mark.parametrize(
    ("method", "path", "body", "text"),
    [
        ("POST", "", {"name": "heron"}, "adds the class 'heron'"),
        ("PATCH", "/0", {"name": "heron"}, "renames '0' to 'heron'"),
        ("POST", "/0/merge", {"into": 1}, "gives the images of '0' the class"),
        ("DELETE", "/0", None, "removes '0'"),
    ],
)
def test_a_dry_run_says_what_would_change_and_changes_nothing(
    labeller, asked, method, path, body, text
):
    before = classes(labeller)
    said = labeller.request(method, f"/v1/classes{path}", json=body, params={"dry_run": True})
    assert said.status_code == 200
    assert said.json()["change"].startswith(text)
    assert said.json()["images"] == (before[0]["images"] if path else 0)
    assert classes(labeller) == before
    assert rows(asked, "SELECT count(*) FROM inbox") == [(0,)]
    done = labeller.request(method, f"/v1/classes{path}", json=body)
    assert done.json()["change"] == said.json()["change"]
    assert classes(labeller) != before


@pytest.mark.parametrize("dry_run", [True, False])
@pytest.mark.parametrize(
    ("method", "path", "body", "code"),
    [
        ("POST", "", {"name": "0"}, 409),
        ("POST", "", {"name": "a\nb"}, 422),
        ("PATCH", "/1", {"name": "0"}, 409),
        ("PATCH", "/99", {"name": "a"}, 404),
        ("POST", "/0/merge", {"into": 0}, 409),
        ("POST", "/0/merge", {"into": 99}, 409),
        ("DELETE", "/99", None, 404),
        ("DELETE", "/x", None, 422),
        ("POST", "/0/restore", None, 409),
    ],
)
def test_an_edit_that_cannot_be_is_refused_like_its_dry_run(
    labeller, asked, method, path, body, code, dry_run
):
    refused = labeller.request(method, f"/v1/classes{path}", json=body, params={"dry_run": dry_run})
    assert refused.status_code == code, refused.text
    assert rows(asked, "SELECT count(*) FROM inbox") == [(0,)]
