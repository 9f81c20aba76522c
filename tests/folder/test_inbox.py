import sqlite3
import subprocess
import sys
import textwrap
from contextlib import closing

import pytest
from digit_folder import rows

from csim.folder import inbox
from csim.folder.database import open_for_messages
from csim.folder.layout import Layout
from csim.folder.stream import Stream
from csim.messages import AddClass, Named, RemoveClass, RenameClass, Skip


@pytest.fixture
def connection(folder):
    with closing(open_for_messages(Layout(folder).database)) as opened:
        yield opened


def messages_of(queue):
    return [queued.message for queued in queue]


def test_a_message_is_safe_once_posted_even_if_its_sender_is_killed_at_once(folder):
    code = """
        import os, signal, sys
        from pathlib import Path
        from csim.folder import inbox
        from csim.folder.database import open_for_messages
        from csim.messages import AddClass
        inbox.post(open_for_messages(Path(sys.argv[1])), [AddClass("heron")])
        os.kill(os.getpid(), signal.SIGKILL)
    """
    database = Layout(folder).database
    sender = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), str(database)], check=False
    )
    assert sender.returncode == -9
    assert rows(folder, "SELECT kind, body, step FROM inbox") == [
        ("AddClass", '{"name": "heron"}', None)
    ]
    with Stream(folder, trainer=None) as stream:
        stream.attend()
    assert rows(folder, "SELECT name FROM classes WHERE name = 'heron'") == [("heron",)]


def test_messages_are_taken_in_the_order_in_which_they_came(connection):
    messages = [AddClass("heron"), RenameClass(0, "coot"), Named(3, "heron"), Skip(2)]
    first = inbox.post(connection, messages[:2])
    second = inbox.post(connection, messages[2:])
    assert first + second == sorted(first + second)
    assert messages_of(inbox.waiting(connection, 0)) == messages


def test_a_message_waits_for_its_position_and_those_for_earlier_positions_go_first(connection):
    inbox.post(connection, [Skip(1)], not_before=20)
    inbox.post(connection, [Skip(2)], not_before=10)
    inbox.post(connection, [Skip(3)])
    inbox.post(connection, [Skip(4)], not_before=10)
    assert messages_of(inbox.waiting(connection, 0)) == [Skip(3)]
    assert messages_of(inbox.waiting(connection, 9)) == [Skip(3)]
    assert messages_of(inbox.waiting(connection, 10)) == [Skip(3), Skip(2), Skip(4)]
    assert messages_of(inbox.waiting(connection, 99)) == [Skip(3), Skip(2), Skip(4), Skip(1)]


def test_a_key_that_is_sent_twice_is_one_message(connection, folder):
    once = inbox.post(connection, [Skip(1), Skip(2)], keys=["a", "b"])
    again = inbox.post(connection, [Skip(2), AddClass("heron")], keys=["b", "c"])
    assert again[0] == once[1]
    assert messages_of(inbox.waiting(connection, 0)) == [Skip(1), Skip(2), AddClass("heron")]
    with Stream(folder, trainer=None) as stream:
        stream.attend()
        assert inbox.post(connection, [AddClass("heron")], keys=["c"]) == again[1:]
        stream.attend()
    assert rows(folder, "SELECT count(*) FROM inbox") == [(3,)]
    assert rows(folder, "SELECT count(*) FROM classes WHERE name = 'heron'") == [(1,)]


def test_messages_without_keys_are_each_their_own(connection):
    assert len(set(inbox.post(connection, [Skip(1)]) + inbox.post(connection, [Skip(1)]))) == 2


def test_nothing_to_say_is_fine(connection):
    assert inbox.post(connection, []) == []
    assert inbox.waiting(connection, 0) == []


def test_all_messages_of_one_call_are_written_or_none(connection):
    with pytest.raises(ValueError, match="zip"):
        inbox.post(connection, [Skip(1), Skip(2)], keys=["only one"])
    assert inbox.waiting(connection, 0) == []
    assert not connection.in_transaction


def test_the_outcome_tells_waiting_from_taken_from_refused(connection, folder):
    good, bad, late = [
        *inbox.post(connection, [AddClass("heron"), RemoveClass(77)]),
        *inbox.post(connection, [AddClass("coot")], not_before=1),
    ]
    assert [inbox.outcome(connection, number) for number in (good, bad, late)] == [
        (False, None)
    ] * 3
    with Stream(folder, trainer=None) as stream:
        stream.attend()
    assert inbox.outcome(connection, good) == (True, None)
    assert inbox.outcome(connection, late) == (False, None)
    is_taken, refusal = inbox.outcome(connection, bad)
    assert is_taken
    assert refusal.startswith("no class has the id 77")


def test_a_refusal_is_kept_and_not_tried_again(connection, folder):
    inbox.post(connection, [Named(5, "heron")], keys=["too early"])
    for _ in range(2):
        with Stream(folder, trainer=None) as stream:
            stream.attend()
    ((refusal, step),) = rows(folder, "SELECT refusal, step FROM inbox")
    assert refusal.startswith("no question has the id 5")
    assert rows(folder, "SELECT count(*) FROM steps WHERE kind = 'inbox'") == [(1,)]
    assert rows(folder, "SELECT body FROM steps WHERE step = ?", step) == rows(
        folder, "SELECT number FROM inbox"
    )


def test_three_processes_post_at_once_and_nothing_is_lost(folder):
    code = """
        import sys
        from pathlib import Path
        from csim.folder import inbox
        from csim.folder.database import open_for_messages
        from csim.messages import AddClass
        who = sys.argv[2]
        connection = open_for_messages(Path(sys.argv[1]))
        print("ready", flush=True)
        sys.stdin.readline()
        for number in range(200):
            inbox.post(connection, [AddClass(f"{who} {number}")], keys=[f"{who} {number}"])
    """
    senders = [
        subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(code), str(Layout(folder).database), who],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for who in ("ann", "bob", "cleo")
    ]
    for sender in senders:
        assert sender.stdout.readline() == b"ready\n"
    with Stream(folder, trainer=None) as stream:  # the engine takes them meanwhile
        for sender in senders:
            sender.stdin.write(b"go\n")
            sender.stdin.flush()
        while any(sender.poll() is None for sender in senders):
            stream.attend()
        assert [(sender.returncode, sender.stderr.read()) for sender in senders] == [(0, b"")] * 3
        stream.attend()
    for sender in senders:
        sender.communicate()
    sent = [f"{who} {number}" for who in ("ann", "bob", "cleo") for number in range(200)]
    assert sorted(key for (key,) in rows(folder, "SELECT key FROM inbox")) == sorted(sent)
    assert rows(folder, "SELECT count(*) FROM inbox WHERE step IS NULL OR refusal IS NOT NULL") == [
        (0,)
    ]
    names = [name for (name,) in rows(folder, "SELECT name FROM classes ORDER BY id")][-600:]
    for who in ("ann", "bob", "cleo"):  # each in its own order
        assert [name for name in names if name.startswith(who)] == [
            f"{who} {number}" for number in range(200)
        ]


def test_a_message_of_a_later_program_is_not_read_as_something_else(connection):
    connection.execute(
        "INSERT INTO inbox (key, not_before, kind, body) VALUES ('x', 0, 'Explain', '{}')"
    )
    with pytest.raises(ValueError, match="a message must be one of"):
        inbox.waiting(connection, 0)


def test_a_message_can_be_posted_through_a_plain_connection_of_the_standard_library(folder):
    with closing(sqlite3.connect(Layout(folder).database)) as plain:
        plain.execute(
            "INSERT INTO inbox (key, not_before, kind, body)"
            " VALUES ('mine', 0, 'AddClass', '{\"name\": \"heron\"}')"
        )
        plain.commit()
    with Stream(folder, trainer=None) as stream:
        stream.attend()
    assert rows(folder, "SELECT refusal FROM inbox") == [(None,)]
