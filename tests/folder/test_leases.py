"""Leases: who has a question, until it is answered, released, or the time is over."""

from contextlib import closing

import pytest

from csim.errors import QuestionError
from csim.folder import leases
from csim.folder.database import open_for_messages
from csim.folder.inbox import post
from csim.folder.layout import Layout
from csim.folder.reader import Reader
from csim.messages import Named


@pytest.fixture
def connection(asked):
    with closing(open_for_messages(Layout(asked).database)) as connection:
        yield connection


def take(connection, labeller, now=0.0, seconds=60.0):
    return leases.take_next(connection, labeller, now=now, seconds=seconds)


def sizes(folder):
    with Reader(folder) as reader:
        return {row.id: row.size for row in reader.question_pages.page("open", after=0, most=500)}


def test_the_largest_groups_come_first_and_each_once(connection, asked):
    open_questions = sizes(asked)
    taken = [take(connection, f"person {number}") for number in range(len(open_questions))]
    assert sorted(taken) == sorted(open_questions)
    assert [open_questions[question] for question in taken] == sorted(
        open_questions.values(), reverse=True
    )
    assert take(connection, "one more") is None


def test_audit_questions_come_first(connection, asked):
    smallest = min(sizes(asked), key=lambda question: sizes(asked)[question])
    connection.execute("UPDATE questions SET audit = 1 WHERE id = ?", (smallest,))
    assert take(connection, "ana") == smallest


def test_a_labeller_keeps_a_question_until_the_time_is_over(connection):
    question = take(connection, "ana", now=0, seconds=10)
    assert take(connection, "ana", now=5) == question
    assert take(connection, "ben", now=14) != question  # ana asked again, so it lasts longer
    assert take(connection, "cid", now=66) == question


def test_an_answer_that_waits_ends_the_wait_of_others(connection, asked):
    question = take(connection, "ana")
    post(connection, [Named(question, "heron")])
    assert take(connection, "ana") != question
    assert take(connection, "ben") != question


def test_a_lease_of_another_stands_against_taking_and_answering(connection):
    question = take(connection, "ana")
    other = leases.take(connection, question, "ben", now=1, seconds=60)
    assert other.labeller == "ana"
    assert leases.take(connection, question, "ana", now=1, seconds=60) is None
    assert leases.held_by_other(connection, question, "ana", now=1) is None
    assert leases.held_by_other(connection, question, None, now=1).labeller == "ana"
    assert leases.held_by_other(connection, question, "ben", now=1000) is None


def test_release_ends_only_the_own_lease(connection):
    question = take(connection, "ana")
    leases.release(connection, question, "ben")
    assert leases.held_by_other(connection, question, "ben", now=1).labeller == "ana"
    leases.release(connection, question, "ana")
    assert leases.held_by_other(connection, question, "ben", now=1) is None


def test_a_question_that_is_not_there_or_not_open_cannot_be_taken(connection):
    with pytest.raises(QuestionError, match="no question has the id 999"):
        leases.take(connection, 999, "ana", now=0, seconds=1)
    connection.execute("UPDATE questions SET status = 'answered' WHERE id = 1")
    with pytest.raises(QuestionError, match="question 1 is answered"):
        leases.take(connection, 1, "ana", now=0, seconds=1)
