"""One message, its key and its result."""

from contextlib import closing

import pytest

from csim.errors import InputError, QuestionError
from csim.folder import leases
from csim.folder.database import open_for_messages
from csim.folder.layout import Layout
from csim.folder.reader import Reader
from csim.folder.stream import Stream
from csim.folder.submit import result, submit
from csim.messages import AddClass, Named, Skip, Split, Undo


@pytest.fixture
def connection(asked):
    with closing(open_for_messages(Layout(asked).database)) as connection:
        yield connection


def attend(folder):
    with Stream(folder, trainer=None) as stream:
        stream.attend()


def test_a_message_is_safe_first_and_taken_later(connection, asked):
    number = submit(connection, Named(1, "heron"))
    assert result(connection, number) == result(connection, number)
    assert not result(connection, number).is_taken
    attend(asked)
    assert result(connection, number).is_taken
    assert result(connection, number).refusal is None


def test_the_same_key_is_one_message(connection):
    number = submit(connection, AddClass("heron"), key="a")
    assert submit(connection, AddClass("heron"), key="a") == number
    assert submit(connection, AddClass("crane"), key="b") != number
    with pytest.raises(InputError, match="another message"):
        submit(connection, AddClass("crane"), key="a")


def test_a_split_says_which_questions_it_made(connection, asked):
    number = submit(connection, Split(1))
    attend(asked)
    made = result(connection, number).asked
    assert len(made) == 2
    with Reader(asked) as reader:
        assert [reader.question_pages.one(question).status for question in made] == ["open"] * 2


def test_a_refusal_has_its_reason(connection, asked):
    number = submit(connection, Undo(1))
    attend(asked)
    assert "question 1 is open" in result(connection, number).refusal


def test_a_skip_can_be_taken_back(connection, asked):
    for message in (Skip(1), Undo(1), Named(1, "heron")):
        number = submit(connection, message)
        attend(asked)
        assert result(connection, number).refusal is None
    with Reader(asked) as reader:
        assert reader.question(1).name == "heron"


def test_a_question_that_is_not_there_or_that_another_has_takes_no_answer(connection):
    with pytest.raises(QuestionError, match="no question has the id 999"):
        submit(connection, Named(999, "heron"))
    leases.take(connection, 1, "ana", now=100, seconds=60)
    with pytest.raises(QuestionError, match="ana has question 1 for 50 more seconds"):
        submit(connection, Named(1, "heron"), labeller="ben", clock=lambda: 110)
    assert submit(connection, Named(1, "heron"), labeller="ana", clock=lambda: 110)
    assert submit(connection, Undo(1), labeller="ben", clock=lambda: 110)  # the lease has ended
