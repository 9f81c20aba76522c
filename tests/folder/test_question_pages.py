"""Questions page by page."""

import pytest

from csim.errors import QuestionError
from csim.folder.reader import Reader


def test_pages_join_to_all_questions_as_the_reader_has_them(reference):
    with Reader(reference) as reader:
        expected = reader.questions(None)
        found = []
        while page := reader.question_pages.page(None, after=found[-1].id if found else 0, most=4):
            found += page
    assert [entry.id for entry in found] == [row.id for row in expected]
    for entry, row in zip(found, expected, strict=True):
        assert (entry.status, entry.position, entry.class_name) == (
            row.status, row.position, row.name,
        )  # fmt: skip
        assert entry.size == len(row.members)
        assert entry.representative == row.representative
        assert tuple((guess.name, guess.score) for guess in entry.guesses) == row.guesses
    assert len({entry.status for entry in found}) > 2


def test_a_status_selects(reference):
    with Reader(reference) as reader:
        some = reader.question_pages.page("answered", after=0, most=1000)
        assert {entry.status for entry in some} == {"answered"}
        assert len(some) == reader.count("answered")


def test_a_question_that_is_not_there(asked):
    with Reader(asked) as reader, pytest.raises(QuestionError, match="no question has the id 99"):
        reader.question_pages.one(99)
