import pytest
from digit_folder import rows

from csim.errors import FolderError
from csim.folder.send import send
from csim.folder.stream import Stream
from csim.records import AddClass, Named, RemoveClass


def test_without_an_engine_a_message_is_taken_at_once(asked):
    (outcome,) = send(asked, [Named(1, "heron")])
    assert (outcome.is_taken, outcome.refusal) == (True, None)
    assert rows(asked, "SELECT status FROM questions WHERE id = 1") == [("answered",)]
    Stream(asked, trainer=None).close()  # nobody holds the folder


def test_with_an_engine_it_is_safe_and_waits_for_it(asked):
    with Stream(asked, trainer=None) as stream:
        (outcome,) = send(asked, [Named(1, "heron")])
        assert (outcome.is_taken, outcome.refusal) == (False, None)
        assert rows(asked, "SELECT status FROM questions WHERE id = 1") == [("open",)]
        stream.attend()
    assert rows(asked, "SELECT status FROM questions WHERE id = 1") == [("answered",)]


def test_each_message_has_its_own_outcome(asked):
    outcomes = send(asked, [AddClass("heron"), RemoveClass(99), AddClass("heron"), AddClass("owl")])
    assert [outcome.refusal is None for outcome in outcomes] == [True, False, False, True]
    assert all(outcome.is_taken for outcome in outcomes)
    assert "belongs to class" in outcomes[2].refusal


def test_what_is_said_twice_under_one_key_is_said_once(asked):
    first = send(asked, [AddClass("heron")], keys=["k"])
    again = send(asked, [AddClass("heron")], keys=["k"])
    assert first == again
    assert again[0].refusal is None


def test_nobody_trains_for_a_word(due):
    send(due, [AddClass("heron")])
    assert rows(due, "SELECT version FROM models WHERE installed_at IS NULL") == [(2,)]


def test_nothing_is_said_to_what_is_no_stream_folder(tmp_path):
    with pytest.raises(FolderError, match="is not a stream folder"):
        send(tmp_path, [AddClass("heron")])
    assert list(tmp_path.iterdir()) == []
