import json

import pytest
from digit_folder import arrivals, name_of, rows
from distributed.redis_server import RedisServer
from folder.story import tell
from waiting import no_hang

from csim.distributed.redis_output import RedisOutput
from csim.errors import BrokerError, InputError
from csim.folder.database import open_for_reading
from csim.folder.layout import Layout
from csim.folder.lines import lines
from csim.folder.stream import Stream
from csim.messages import Named, RenameClass

BATCH = 60


def take(stream, batch):
    stream.take(arrivals(BATCH * (batch + 1))[BATCH * batch :])


def answer(folder, stream):
    """Answer all open questions, so that labels change later."""
    asked = (
        "SELECT q.id, i.id FROM questions q JOIN items i ON i.place = representative"
        " WHERE status = 'open'"
    )
    for question, item_id in rows(folder, asked):
        tell(folder, [Named(question, name_of(item_id))])
    stream.attend()


def expected(folder):
    connection = open_for_reading(Layout(folder).database)
    try:
        return [line for _, line in lines(connection)]
    finally:
        connection.close()


def written(server, name):
    return [json.loads(fields[b"line"]) for _, fields in server.client().xrange(name)]


@pytest.fixture
def stream(folder):
    with Stream(folder, trainer=None) as stream:
        yield stream


def test_every_line_is_a_message_whose_id_is_its_number(server, broker, name, folder, stream):
    output = RedisOutput(Layout(folder).database, broker)
    for batch in range(4):
        take(stream, batch)
        output.catch_up()
        answer(folder, stream)
    output.close()
    assert written(server, name) == expected(folder)
    kinds = {line["decision"] for line in written(server, name)}
    assert kinds >= {"accepted", "rejected", "told"}
    for entry_id, fields in server.client().xrange(name):
        number = json.loads(fields[b"line"])["line"]
        assert entry_id.decode() == (number.replace(".", "-") if "." in number else f"{number}-0")


def test_a_run_that_was_killed_goes_on_where_the_stream_ends(server, broker, name, folder, stream):
    take(stream, 0)
    take(stream, 1)
    killed = RedisOutput(Layout(folder).database, broker)
    for entry in expected(folder)[:70]:
        broker.call("XADD", name, f"{entry['line']}-0", "line", json.dumps(entry))
    del killed
    again = RedisOutput(Layout(folder).database, server.broker(name))
    assert again.catch_up() == 50
    again.close()
    assert written(server, name) == expected(folder)


def test_a_line_that_was_written_is_refused(server, broker, name, folder, stream):
    take(stream, 0)
    one = RedisOutput(Layout(folder).database, broker)
    other = RedisOutput(Layout(folder).database, server.broker(name))
    assert one.catch_up() == BATCH
    with pytest.raises(BrokerError, match="equal or smaller"):
        other.catch_up()
    assert written(server, name) == expected(folder)


def test_a_stream_of_somebody_else_is_refused_and_stays(server, broker, name, folder, stream):
    take(stream, 0)
    server.client().xadd(name, {"weather": "rain"})
    with pytest.raises(InputError, match="must be written by this stream alone"):
        RedisOutput(Layout(folder).database, broker)
    server.client().delete(name)
    server.client().xadd(name, {"line": json.dumps({"line": "7", "item": "heron"})}, id="7-0")
    with pytest.raises(InputError, match="must be written by this stream alone"):
        RedisOutput(Layout(folder).database, broker)
    assert server.client().xlen(name) == 1


def test_a_class_that_was_renamed_does_not_make_the_stream_foreign(
    server, broker, name, folder, stream
):
    take(stream, 0)
    RedisOutput(Layout(folder).database, broker).close()
    tell(folder, [RenameClass(0, "naught"), RenameClass(1, "unit"), RenameClass(2, "pair")])
    stream.attend()
    take(stream, 1)
    RedisOutput(Layout(folder).database, server.broker(name)).close()
    assert len(written(server, name)) == 2 * BATCH


def test_csim_waits_for_readers_and_removes_what_all_have_read(
    server, broker, name, folder, stream
):
    client = server.client()
    client.xgroup_create(name, "page", "0", mkstream=True)
    client.xgroup_create(name, "archive", "0")
    got = {"page": [], "archive": []}

    def read():
        for group, messages in got.items():
            for _, entries in client.xreadgroup(group, "reader", {name: ">"}, count=40) or []:
                messages += [json.loads(fields[b"line"]) for _, fields in entries]
                client.xack(name, group, *(entry_id for entry_id, _ in entries))

    output = RedisOutput(Layout(folder).database, broker, most=30, while_waiting=read)
    for batch in range(4):
        take(stream, batch)
        with no_hang():
            output.catch_up()
        assert client.xlen(name) <= 30 + BATCH
    for _ in range(9):
        read()
    assert got["page"] == got["archive"] == expected(folder)


def test_csim_does_not_wait_for_readers_once_it_is_stopped(server, broker, name, folder, stream):
    is_stopped = []
    output = RedisOutput(
        Layout(folder).database,
        broker,
        most=30,
        is_stopped=lambda: bool(is_stopped),
        while_waiting=lambda: is_stopped.append(True),
    )
    take(stream, 0)
    output.catch_up()
    take(stream, 1)
    with no_hang():
        assert output.catch_up() == 0
    assert len(written(server, name)) == BATCH


def test_a_server_that_is_away_gets_its_lines_later(tmp_path, folder, stream):
    server = RedisServer(tmp_path)
    output = RedisOutput(Layout(folder).database, server.broker("out"))
    take(stream, 0)
    output.catch_up()
    server.kill()
    take(stream, 1)
    assert output.catch_up() == 0
    take(stream, 2)
    server.start()
    with no_hang():
        while len(written(server, "out")) < 3 * BATCH:
            output.catch_up()
    assert written(server, "out") == expected(folder)
    server.client().flushall()  # as a server without a saved state
    server.kill()
    assert output.catch_up() == 0
    take(stream, 3)
    assert output.catch_up() == 0
    server.start()
    output.close()
    assert written(server, "out") == expected(folder)
    server.stop()
