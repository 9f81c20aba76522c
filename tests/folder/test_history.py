from digit_folder import rows
from folder.story import tell

from csim.folder.reader import Reader
from csim.folder.status import read_status
from csim.messages import AddClass
from csim.metrics.answers import labels_spent, questions
from csim.records import (
    Corrected,
    Divided,
    Undone,
)


def test_labels_spent_are_those_that_the_metrics_count_in_the_log(reference):
    with Reader(reference) as reader:
        events = reader.history.events()
        found = reader.history.labels_spent()
        assert found == labels_spent(events)
        assert len(found) == read_status(reader).told
        assert reader.history.questions_asked() == questions(events)
    kinds = {type(event) for event in events}
    assert {Corrected, Divided, Undone} <= kinds  # the log has every kind of label


def test_position_and_last_step_are_those_of_the_log(reference, base):
    with Reader(reference) as reader:
        assert reader.history.position() == 420
        assert [(reader.history.last_step(),)] == rows(reference, "SELECT count(*) FROM steps")
    with Reader(base) as reader:
        assert reader.history.position() == 0


def test_the_last_answered_question_still_has_its_answer(reference, base):
    with Reader(reference) as reader:
        last = reader.question(reader.history.last_answered())
        assert last.status == "answered"
        assert last.name is not None
    with Reader(base) as reader:
        assert reader.history.last_answered() is None


def test_messages_tell_their_outcome(reference, asked):
    raw = rows(reference, "SELECT key, not_before, step, refusal FROM inbox ORDER BY number")
    with Reader(reference) as reader:
        found = reader.history.messages()
        assert reader.history.refusals() == [row.refusal for row in found if row.refusal]
    assert [(row.key, row.not_before, row.is_taken, row.refusal) for row in found] == [
        (key, not_before, step is not None, refusal) for key, not_before, step, refusal in raw
    ]
    assert any(row.refusal for row in found)
    tell(asked, [AddClass("later")], not_before=500)
    with Reader(asked) as reader:
        assert reader.history.messages()[-1].message == AddClass("later")
        assert not reader.history.messages()[-1].is_taken
