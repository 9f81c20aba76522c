"""Totals follow every change, so that status need not count rows."""

from folder.totals import class_totals, picture_bytes

from csim.folder.reader import Reader


def test_totals_are_what_counting_gives_after_every_kind_of_message(reference):
    assert class_totals(reference) == class_totals(reference, counted=True) != {}
    assert picture_bytes(reference) == picture_bytes(reference, counted=True) > 0


def test_the_folder_says_when_a_step_was_written_a_question_asked_and_an_answer_sent(reference):
    with Reader(reference) as reader:
        for table in ("steps", "questions", "inbox"):
            times = reader._query.rows(f"SELECT time FROM {table}")  # noqa: S608
            assert times
            assert all(1.7e9 < time < 1e11 for (time,) in times)
