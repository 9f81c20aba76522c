import hashlib
from itertools import takewhile

from digit_folder import arrivals, png, rows
from distributed.redis_server import RedisServer
from waiting import no_hang

import csim.distributed.image_message as image_message
import csim.distributed.message_reader as message_reader
from csim.distributed.redis_source import RedisSource
from csim.folder.run import run
from csim.folder.stream import Stream
from csim.sources.arrival import Arrival, Trouble


def add(server, name, count, first=1):
    """Send images of the digit stream; return the ids of their messages."""
    client = server.client()
    return [
        client.xadd(name, {"id": arrival.id, "image": arrival.kept})
        for arrival in arrivals(count)[first - 1 :]
    ]


def open_source(broker, consumer="one", **options):
    return RedisSource(broker, group="csim", consumer=consumer, **options)


def waiting(source):
    """Return all that a source gives before it has to wait."""
    return list(takewhile(lambda found: found is not None, source))


def ids(found):
    return [arrival.id for arrival in found]


def image_ids(first, last):
    return [f"image {place}" for place in range(first, last + 1)]


def taken(folder):
    return [row[0] for row in rows(folder, "SELECT id FROM items WHERE place > 0 ORDER BY place")]


def is_idle_after(counts):
    """Return a function that stops a run once so many images are taken or refused."""
    seen = []

    def is_stopped():
        return bool(seen) and seen[-1] >= counts

    return is_stopped, lambda found: seen.append(found.taken + found.troubles + found.known)


def run_until(stream, source, count):
    is_stopped, on_batch = is_idle_after(count)
    with no_hang():
        return run(stream, source, is_stopped=is_stopped, on_batch=on_batch)[0]


def test_images_are_taken_in_order_and_their_messages_removed(server, broker, name, folder):
    add(server, name, 150)
    with Stream(folder, trainer=None) as stream:
        counts, _ = run(stream, open_source(broker), limit=150)
    assert (counts.taken, counts.troubles) == (150, 0)
    assert taken(folder) == image_ids(1, 150)
    assert server.client().xlen(name) == 0
    assert server.client().xpending(name, "csim")["pending"] == 0


def test_an_image_that_is_not_safe_comes_again_and_before_all_others(server, broker, name):
    add(server, name, 5)
    source = open_source(broker)
    first = waiting(source)
    assert ids(first) == image_ids(1, 5)
    source.settle([first[0].id, first[3].id], [])
    add(server, name, 6, first=6)
    again = open_source(server.broker(name))
    assert ids(waiting(again)) == ["image 2", "image 3", "image 5", "image 6"]
    assert again.reader.retries == 3


def test_messages_of_a_dead_consumer_are_claimed(server, broker, name):
    add(server, name, 3)
    assert len(waiting(open_source(broker, "dead"))) == 3
    patient = open_source(server.broker(name), "patient")
    assert waiting(patient) == []
    heir = open_source(server.broker(name), "heir", claim_after=0.01)
    found = []
    with no_hang():
        while len(found) < 3:
            found += waiting(heir)
    assert ids(found) == image_ids(1, 3)
    heir.settle(ids(found), [])
    assert server.client().xpending(name, "csim")["pending"] == 0


def test_a_slow_consumer_does_not_claim_what_it_has_in_flight(server, broker, name):
    add(server, name, 3)
    source = open_source(broker, claim_after=0.001)
    assert len(waiting(source)) == 3
    for _ in range(4):
        assert waiting(source) == []
    pending = server.client().xpending_range(name, "csim", "-", "+", 10)
    assert [row["times_delivered"] for row in pending] == [1, 1, 1]


def test_messages_that_another_group_reads_are_not_deleted(server, broker, name):
    server.client().xgroup_create(name, "others", "0", mkstream=True)
    add(server, name, 3)
    source = open_source(broker)
    source.settle(ids(waiting(source)), [])
    assert server.client().xlen(name) == 3
    assert server.client().xpending(name, "csim")["pending"] == 0


def test_what_cannot_be_used_goes_to_the_dead_letters_with_the_reason(
    server, broker, name, folder, monkeypatch
):
    monkeypatch.setattr(image_message, "MAX_FILE_BYTES", 4000)
    client = server.client()
    client.xadd(name, {"id": "no image", "weather": "rain"})
    client.xadd(name, {"id": "text", "image": "just text"})
    client.xadd(name, {"id": "big", "image": b"\0" * 5000})
    client.xadd(name, {"id": "file", "path": "a.png", "sha256": "0"})
    nameless = client.xadd(name, {"image": b""}).decode()
    add(server, name, 4)
    with Stream(folder, trainer=None) as stream:
        counts = run_until(stream, open_source(broker), 9)
    assert (counts.taken, counts.troubles) == (4, 5)
    letters = {
        fields[b"id"].decode(): (fields[b"kind"].decode(), fields[b"reason"].decode())
        for _, fields in client.xrange(f"{name}:dead")
    }
    assert {item_id: kind for item_id, (kind, _) in letters.items()} == {
        "no image": "no-image",
        "text": "not-an-image",
        "big": "too-large",
        "file": "no-image",
        nameless: "empty",
    }
    assert "this one has: id, weather" in letters["no image"][1]
    assert "at most 4,000 bytes, got 5,000" in letters["big"][1]
    assert "--files FOLDER" in letters["file"][1]
    assert client.xlen(name) == 0
    assert len(rows(folder, "SELECT id FROM troubles")) == 5


def test_a_dead_letter_holds_the_message_and_can_be_sent_again(server, broker, name, folder):
    client = server.client()
    broken = client.xadd(name, {"id": "image 1", "image": arrivals(1)[0].kept[:80]}).decode()
    with Stream(folder, trainer=None) as stream:
        source = open_source(broker)
        assert run_until(stream, source, 1).troubles == 1
        [(_, letter)] = client.xrange(f"{name}:dead")
        assert letter[b"message"].decode() == broken
        assert letter[b"image"] == arrivals(1)[0].kept[:80]
        client.xadd(name, {"id": "image 1", "image": arrivals(1)[0].kept})
        assert run_until(stream, source, 1).taken == 1
    assert rows(folder, "SELECT id FROM troubles") == []


def test_an_id_that_comes_twice_is_one_image_and_another_image_under_it_is_refused(
    server, broker, name, folder
):
    add(server, name, 3)
    add(server, name, 3)
    with Stream(folder, trainer=None) as stream:
        source = open_source(broker)
        counts = run_until(stream, source, 6)
        assert (counts.taken, counts.known) == (3, 3)
        server.client().xadd(name, {"id": "image 1", "image": arrivals(2)[1].kept})
        assert run_until(stream, source, 1).last.kind == "name-reused"
    assert server.client().xlen(name) == 0
    assert server.client().xlen(f"{name}:dead") == 1


def reference(path, content):
    return {"id": path, "path": path, "sha256": hashlib.sha256(content).hexdigest()}


def test_a_message_may_name_a_file_and_its_checksum(server, broker, name, tmp_path):
    content = arrivals(1)[0].kept
    (tmp_path / "a.png").write_bytes(content)
    (tmp_path / "b.png").write_bytes(content[:-1])
    client = server.client()
    for path in ("a.png", "b.png", "../a.png", "/etc/hostname", "zero\0.png"):
        client.xadd(name, reference(path, content))
    client.xadd(name, {"id": "no checksum", "path": "a.png"})
    found = waiting(open_source(broker, files=tmp_path))
    assert found[0].picture == content
    reasons = [trouble.reason for trouble in found[1:]]
    assert "must have the sha256 of its message" in reasons[0]
    assert all("leads out of it" in reason for reason in reasons[1:4])
    assert "which has none" in reasons[4]


def test_a_file_that_is_not_there_yet_is_tried_again(server, broker, name, tmp_path):
    content = arrivals(1)[0].kept
    server.client().xadd(name, reference("late.png", content))
    server.client().xadd(name, reference("never.png", content))
    source = open_source(broker, files=tmp_path, tries=3, claim_after=0.01)
    found = waiting(source)
    assert found == []
    (tmp_path / "late.png").write_bytes(content)
    with no_hang():
        while len(found) < 2:
            found += waiting(source)
    assert isinstance(found[0], Arrival)
    assert (found[1].id, found[1].kind) == ("never.png", "vanished")
    source.settle([found[0].id], [found[1]])
    [(_, letter)] = server.client().xrange(f"{name}:dead")
    assert letter[b"kind"] == b"vanished"


def test_a_message_that_ends_csim_again_and_again_is_taken_alone_and_then_buried(
    server, broker, name
):
    add(server, name, 3)
    for _ in range(3):  # csim takes the messages and ends before they are safe
        assert len(waiting(open_source(server.broker(name), tries=2))) == 3
    source = open_source(server.broker(name), tries=2)
    assert ids(waiting(source)) == ["image 1"]  # alone, since any of the three may be the culprit
    assert waiting(source) == []
    source.settle(["image 1"], [])
    assert ids(waiting(source)) == ["image 2"]  # which ends csim once more
    source = open_source(server.broker(name), tries=2)
    found = waiting(source)
    assert [type(found[0]), found[0].id, found[0].kind] == [Trouble, "image 2", "poison"]
    assert "ended 4 times" in found[0].reason
    source.settle([], found)
    assert ids(waiting(source)) == ["image 3"]


def test_reads_are_bounded_by_bytes(server, broker, name, monkeypatch):
    add(server, name, 300)
    size = len(png(arrivals(1)[0].image))
    monkeypatch.setattr(message_reader, "_READ_BYTES", 10 * size)
    source = open_source(broker)
    counts = []
    read = source.reader._group.read

    def counting(count, milliseconds):
        entries = read(count, milliseconds)
        counts.append(len(entries))
        return entries

    source.reader._group.read = counting
    assert len(waiting(source)) == 300
    assert max(counts) < 20


class Killing:
    """A source whose server is killed before some of its images, and restarted after a while."""

    def __init__(self, source, server, moments):
        self._source = source
        self._server = server
        self._moments = moments

    def __iter__(self):
        count = 0
        pauses = None
        for found in self._source:
            count += found is not None
            if count in self._moments:
                self._moments.remove(count)
                self._server.kill()
                pauses = 3
            if found is None and pauses is not None:
                pauses -= 1
                if not pauses:
                    self._server.start()
                    pauses = None
            yield found

    def settle(self, taken, troubles):
        self._source.settle(taken, troubles)


def test_a_server_that_is_killed_costs_no_image(tmp_path, folder):
    server = RedisServer(tmp_path)
    add(server, "pond", 300)
    source = open_source(server.broker("pond"))
    moments = {70, 90, 250}
    with Stream(folder, trainer=None) as stream, no_hang():
        counts, _ = run(stream, Killing(source, server, moments), limit=300)
    assert not moments
    assert (counts.taken, counts.troubles) == (300, 0)
    assert taken(folder) == image_ids(1, 300)
    with no_hang():
        while server.client().xlen("pond"):
            waiting(source)
    server.stop()


def test_a_server_that_lost_its_group_is_read_from_the_beginning(server, broker, name):
    add(server, name, 2)
    source = open_source(broker)
    assert len(waiting(source)) == 2
    server.client().delete(name)
    add(server, name, 4)
    assert waiting(source) == []  # the group is made again
    assert ids(waiting(source)) == image_ids(1, 4)
