import pytest
from digit_folder import crash, rows
from folder.story import tell

from csim.errors import FolderError
from csim.folder.send import send
from csim.folder.stream import Stream
from csim.messages import AddClass, Named, RemoveClass, RenameClass, Skip


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
    assert first[0].number == again[0].number
    assert (first[0].is_old, again[0].is_old) == (False, True)
    assert again[0].refusal is None


def test_what_was_refused_is_tried_again_under_the_same_key(asked):
    (refused,) = send(asked, [RenameClass(77, "heron")], keys=["k"])
    assert refused.refusal is not None
    send(asked, [AddClass("heron")])
    (again,) = send(asked, [AddClass("crane")], keys=["k"])
    assert (again.is_taken, again.refusal, again.is_old) == (True, None, False)


def test_nobody_trains_for_a_word(due):
    send(due, [AddClass("heron")])
    assert rows(due, "SELECT version FROM models WHERE installed_at IS NULL") == [(2,)]


def test_nothing_is_said_to_what_is_no_stream_folder(tmp_path):
    with pytest.raises(FolderError, match="is not a stream folder"):
        send(tmp_path, [AddClass("heron")])
    assert list(tmp_path.iterdir()) == []


def test_many_messages_share_a_transaction_and_progress_is_told_after_each(asked):
    before = rows(asked, "SELECT max(step) FROM steps")[0][0]
    first = rows(asked, "SELECT time FROM steps ORDER BY step DESC LIMIT 1")[0][0]
    told = []
    messages = [Named(1, "owl")] + [Skip(99_999)] * 2499
    outcomes = send(asked, messages, on_progress=told.append)
    assert told == [1000, 2000, 2500]
    assert outcomes[0].refusal is None
    assert all("99999" in outcome.refusal for outcome in outcomes[1:])
    taken = rows(asked, "SELECT step FROM inbox ORDER BY number")
    assert [step for (step,) in taken] == list(range(before + 1, before + 2501))
    assert rows(asked, "SELECT min(time) FROM steps WHERE step > ?", before)[0][0] >= first
    with Stream(asked, trainer=None) as stream:
        assert stream.attend() == []


def test_a_kill_among_many_messages_leaves_each_to_be_taken_once(asked):
    stream = Stream(asked, trainer=None)
    tell(asked, [Named(1, "owl")] + [Skip(99_999)] * 1999)

    def fail(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stream.attend(fail)
    crash(stream)
    assert rows(asked, "SELECT count(*) FROM inbox WHERE step IS NULL") == [(1000,)]
    with Stream(asked, trainer=None) as stream:
        stream.attend()
    assert rows(asked, "SELECT count(*), count(step), count(DISTINCT step) FROM inbox") == [
        (2000, 2000, 2000)
    ]
    assert rows(asked, "SELECT status FROM questions WHERE id = 1") == [("answered",)]
