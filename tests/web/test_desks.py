"""Both desks of `csim label` do the same: the stream folder's, and the service's."""

import shutil

import pytest
from digit_folder import rows
from web.serving import serving

from csim.cli.desk import FolderDesk
from csim.cli.service_desk import ServiceDesk
from csim.client import Client, ServiceError
from csim.client.calls import Retries
from csim.errors import QuestionError
from csim.folder.reader import Reader
from csim.messages import Named, Skip, Split, Undo

pytestmark = pytest.mark.slow


@pytest.fixture
def root(asked_base, tmp_path):
    return shutil.copytree(asked_base, tmp_path / "stream")


@pytest.fixture(params=["folder", "service"])
def desk(request, root):
    if request.param == "folder":
        with Reader(root) as reader:
            yield FolderDesk(root, reader)
        return
    with serving(root) as (client, _), Client(str(client.base_url)) as service:
        yield ServiceDesk(service)


def statuses(root):
    return dict(rows(root, "SELECT id, status FROM questions"))


def test_a_question_shows_its_group_and_its_guesses(desk, root):
    question = desk.next()
    place, item_id = question.representative
    assert (place, item_id) in question.members
    assert rows(root, "SELECT id FROM items WHERE place = ?", place) == [(item_id,)]
    assert len(question.members) == len(
        rows(root, "SELECT 1 FROM members WHERE question_id = ?", question.id)
    )
    names = [name for name, _ in question.guesses]
    assert names
    assert set(names) <= desk.class_names()
    assert desk.picture(place).startswith(b"\x89PNG")
    assert desk.question(question.id) == question


def test_all_questions_are_listed(desk, root):
    listed = [question.id for question in desk.unanswered()]
    assert sorted(listed) == sorted(statuses(root))
    assert desk.left() == len(listed)


def test_a_picture_that_is_no_longer_kept_is_none(desk):
    assert desk.picture(999_999) is None


def test_every_question_comes_once_until_none_is_left(desk, root):
    seen = []
    while (question := desk.next()) is not None:
        seen.append(question.id)
        desk.send(Skip(question.id) if len(seen) % 2 else Named(question.id, "heron"))
    assert desk.close() == []
    assert sorted(seen) == sorted(statuses(root))
    assert set(statuses(root).values()) == {"skipped", "answered"}


def test_a_name_that_was_given_is_a_class_from_then_on(desk):
    desk.send(Named(desk.next().id, "heron"))
    assert "heron" in desk.class_names()


def test_an_answer_that_is_taken_back_can_be_given_again(desk, root):
    question = desk.next()
    desk.send(Named(question.id, "hern"))
    desk.send(Undo(question.id))
    assert desk.question(question.id).id == question.id
    desk.send(Named(question.id, "heron"))
    assert desk.close() == []
    named = rows(
        root,
        "SELECT name FROM questions q JOIN classes c ON c.id = q.class_id WHERE q.id = ?",
        question.id,
    )
    assert named == [("heron",)]


def test_the_parts_of_a_split_are_asked_next(desk, root):
    question = next(q for q in desk.unanswered() if len(q.members) > 3)
    before = set(statuses(root))
    desk.send(Split(question.id))
    parts = set(statuses(root)) - before
    assert len(parts) == 2
    members = [member for part in parts for member in desk.question(part).members]
    assert sorted(members) == sorted(question.members)
    desk.send(Undo(question.id))
    assert sorted(desk.question(question.id).members) == sorted(question.members)
    assert desk.close() == []
    assert {statuses(root)[part] for part in parts} == {"expired"}


def test_a_refused_answer_changes_nothing_and_is_reported(desk, root):
    question = desk.next()
    desk.send(Skip(question.id))
    try:
        desk.send(Undo(question.id))
        desk.send(Undo(question.id))  # nothing is left to take back
        refused = [refusal for _, refusal in desk.close()]
    except QuestionError as error:  # the service says it at once
        refused = [str(error)]
    assert len(refused) == 1
    assert statuses(root)[question.id] in ("undone", "skipped")


def test_two_terminals_get_different_questions_and_give_them_back(root):
    with serving(root) as (client, _), Client(str(client.base_url)) as service:
        first, second = ServiceDesk(service), ServiceDesk(service)
        question = first.next()
        assert second.next().id != question.id
        assert first.next().id == question.id  # it is still this terminal's
        first.close()
        second.close()
        assert rows(root, "SELECT * FROM leases") == []


def test_a_service_that_is_gone_is_an_error_and_closing_is_not(root):
    with serving(root) as (client, _):
        service = Client(str(client.base_url), retries=Retries(most=0))
        desk = ServiceDesk(service)
        assert desk.next() is not None
    with pytest.raises(ServiceError, match="cannot be reached"):
        desk.next()
    assert desk.close() == []
    service.close()
