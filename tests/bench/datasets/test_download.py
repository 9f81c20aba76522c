"""Downloads from a real server that cuts connections, ignores ranges, lies or stays silent."""

import hashlib
import socket
import threading
from itertools import pairwise

import numpy as np
import pytest
from bench.datasets.faulty_server import FaultyServer
from bench.datasets.makers import published
from hypothesis import given, settings
from hypothesis import strategies as st

from csim.bench.datasets.download import download
from csim.bench.datasets.files import RemoteFile
from csim.errors import InputError

CONTENT = np.random.default_rng(0).bytes(300_000)
NAME = "images.gz"


@pytest.fixture
def target(tmp_path):
    return tmp_path / NAME


@pytest.fixture
def part(tmp_path):
    return tmp_path / f"{NAME}.part"


@pytest.fixture
def pauses(monkeypatch):
    """Return the seconds of the pauses that a download makes; none is waited for."""
    found = []
    monkeypatch.setattr("csim.bench.datasets.download.time.sleep", found.append)
    return found


def serve(server, content=CONTENT, name=NAME, **changes):
    """Put a file on the server and return its description."""
    server.files[name] = content
    return published(name, CONTENT, server.address(name), **changes)


def fetch(file, target, waits=(0, 0), timeout=600.0, on_progress=None):
    download(file, target, waits=waits, timeout=timeout, on_progress=on_progress)


def test_a_file_arrives_complete_and_nothing_else(server, target):
    fetch(serve(server), target)
    assert target.read_bytes() == CONTENT
    assert [path.name for path in target.parent.iterdir()] == [NAME]
    assert server.requests == [(NAME, None)]


def test_progress_is_reported_up_to_the_end(server, target):
    steps = []
    fetch(serve(server), target, on_progress=lambda *step: steps.append(step))
    assert {(name, total) for name, _, total in steps} == {(NAME, 300_000)}
    assert all(before < after for (_, before, _), (_, after, _) in pairwise(steps))
    assert steps[-1][1] == 300_000


def test_a_lost_connection_is_resumed_where_it_ended(server, target):
    server.cuts = [1000, 2500]
    fetch(serve(server), target)
    assert target.read_bytes() == CONTENT
    assert server.ranges() == [None, "bytes=1000-", "bytes=3500-"]


def test_a_reset_connection_is_resumed_too(server, target):
    server.resets = [100_000, 0]
    fetch(serve(server), target)
    assert target.read_bytes() == CONTENT
    assert len(server.requests) == 3


def test_a_server_without_ranges_starts_over(server, target):
    server.has_ranges = False
    server.cuts = [1000]
    steps = []
    fetch(serve(server), target, on_progress=lambda _, done, __: steps.append(done))
    assert target.read_bytes() == CONTENT
    assert server.ranges() == [None, "bytes=1000-"]
    assert steps[-1] == 300_000


def test_a_server_that_gives_another_range_than_asked_starts_over(server, target, part):
    part.write_bytes(CONTENT[:1000])
    server.shift = 7
    fetch(serve(server), target)
    assert target.read_bytes() == CONTENT
    assert server.ranges() == ["bytes=1000-", None]


@settings(max_examples=40)
@given(
    cuts=st.lists(st.integers(0, 300_000), max_size=6),
    has_ranges=st.booleans(),
    has_length=st.booleans(),
)
def test_whatever_is_cut_the_content_is_the_same(tmp_path_factory, cuts, has_ranges, has_length):
    target = tmp_path_factory.mktemp("cut") / NAME
    with FaultyServer() as server:
        server.cuts = list(cuts)
        server.has_ranges = has_ranges
        server.has_length = has_length
        fetch(serve(server), target, waits=(0,) * 6)
    assert target.read_bytes() == CONTENT


def test_an_earlier_run_is_continued(server, target, part):
    part.write_bytes(CONTENT[:299_000])
    steps = []
    fetch(serve(server), target, on_progress=lambda _, done, total: steps.append((done, total)))
    assert target.read_bytes() == CONTENT
    assert server.ranges() == ["bytes=299000-"]
    assert steps == [(300_000, 300_000)]
    assert not part.exists()


def test_a_complete_part_is_not_requested_again(server, target, part):
    part.write_bytes(CONTENT)
    fetch(serve(server), target)
    assert target.read_bytes() == CONTENT
    assert server.requests == []


def test_a_part_that_is_longer_than_the_file_is_dropped(server, target, part):
    part.write_bytes(CONTENT + b"more")
    fetch(serve(server), target)
    assert target.read_bytes() == CONTENT
    assert server.ranges() == [None]


@pytest.mark.parametrize("more", [b"", b"more"])
def test_a_range_beyond_the_end_starts_over(server, target, part, more):
    part.write_bytes(CONTENT + more)
    fetch(serve(server, size=None), target)
    assert target.read_bytes() == CONTENT
    assert server.ranges() == [f"bytes={300_000 + len(more)}-", None]


def test_a_file_of_unknown_size_arrives_without_a_length(server, target):
    server.has_length = False
    totals = set()
    fetch(serve(server, size=None), target, on_progress=lambda _, __, total: totals.add(total))
    assert target.read_bytes() == CONTENT
    assert totals == {None}


def test_a_file_in_chunks_is_resumed_after_a_cut(server, target):
    server.is_chunked = True
    server.cuts = [50_000]
    fetch(serve(server, size=None), target)
    assert target.read_bytes() == CONTENT
    assert len(server.requests) == 2


def test_a_part_that_was_damaged_is_deleted_and_the_next_run_succeeds(server, target, part):
    part.write_bytes(b"x" * 1000)
    file = serve(server)
    with pytest.raises(InputError, match="was deleted"):
        fetch(file, target)
    assert not part.exists()
    fetch(file, target)
    assert target.read_bytes() == CONTENT


@pytest.mark.parametrize("kind", ["sha256", "md5"])
def test_wrong_content_is_deleted_and_both_checksums_are_reported(server, target, kind):
    expected, found = (
        hashlib.new(kind, content).hexdigest() for content in (CONTENT, bytes(300_000))
    )
    file = serve(server, bytes(300_000), **{"sha256": None, kind: expected})
    with pytest.raises(InputError, match=f"its {kind} must be {expected}, found {found}"):
        fetch(file, target)
    assert list(target.parent.iterdir()) == []


def test_an_address_with_wrong_content_gives_way_to_the_next(server, target):
    serve(server, bytes(300_000), "wrong")
    file = serve(server)
    fetch(
        published(NAME, CONTENT, server.address("gone"), server.address("wrong"), *file.addresses),
        target,
    )
    assert target.read_bytes() == CONTENT
    assert [name for name, _ in server.requests] == ["gone", "wrong", NAME]


def test_when_no_address_helps_each_is_reported_with_its_reason(server, target):
    serve(server, bytes(300_000), "wrong")
    file = published(NAME, CONTENT, server.address("gone"), server.address("wrong"))
    with pytest.raises(
        InputError,
        match=r"/gone: the server answers 404 .*/wrong: the download is not the published file",
    ):
        fetch(file, target)


def test_a_transient_refusal_is_tried_again(server, target):
    server.refusals = [503, 429]
    fetch(serve(server), target)
    assert target.read_bytes() == CONTENT
    assert len(server.requests) == 3


def test_a_final_refusal_is_not(server, target):
    server.refusals = [403, 403, 403]
    with pytest.raises(InputError, match="403"):
        fetch(serve(server), target)
    assert len(server.requests) == 1


def test_after_the_last_pause_the_received_bytes_are_kept_for_the_next_run(server, target, part):
    file = serve(server)
    server.cuts = [1000, 0, 0]
    with pytest.raises(
        InputError,
        match=r"lost after 1,000 of 300,000 bytes, 1,000 bytes were received and are kept",
    ):
        fetch(file, target)
    assert not target.exists()
    assert part.read_bytes() == CONTENT[:1000]
    fetch(file, target)
    assert target.read_bytes() == CONTENT
    assert server.ranges() == [None, "bytes=1000-", "bytes=1000-", "bytes=1000-"]


def test_pauses_start_again_as_long_as_bytes_arrive(server, target):
    server.cuts = [10_000] * 20
    fetch(serve(server), target, waits=(0,))
    assert target.read_bytes() == CONTENT
    assert len(server.requests) == 21


def test_a_server_that_always_cuts_at_the_same_byte_is_given_up(server, target):
    server.has_ranges = False
    server.cuts = [10_000] * 20
    with pytest.raises(InputError, match="lost after 10,000"):
        fetch(serve(server), target, waits=(0, 0))
    assert len(server.requests) == 3


def test_pauses_are_kept(server, target, pauses):
    server.refusals = [503] * 3
    with pytest.raises(InputError, match="503"):
        fetch(serve(server), target, waits=(1.5, 3.0))
    assert pauses == [1.5, 3.0]


@pytest.mark.parametrize("change", [-1, 1, 1000])
def test_an_answer_of_another_size_is_refused_before_it_comes(server, target, part, change):
    part.write_bytes(CONTENT[:1000])
    server.has_ranges = False
    other = (CONTENT + bytes(1000))[: 300_000 + change]
    with pytest.raises(
        InputError, match=f"must have 300,000 bytes, the server gives {len(other):,}"
    ):
        fetch(serve(server, other), target)
    # A login page instead of the file does not delete what was received.
    assert part.read_bytes() == CONTENT[:1000]


def test_more_bytes_than_expected_are_refused(server, target):
    server.has_length = False
    with pytest.raises(InputError, match="must have 300,000 bytes, the server sends more"):
        fetch(serve(server, CONTENT * 3), target)
    assert list(target.parent.iterdir()) == []


def test_a_silent_server_is_given_up(server, target):
    server.is_silent = True
    with pytest.raises(InputError, match="timed out"):
        fetch(serve(server), target, waits=(), timeout=0.1)


def test_a_closed_port_is_given_up_without_a_pause(target, pauses):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{unused.getsockname()[1]}/{NAME}"
        with pytest.raises(InputError, match="no connection"):
            fetch(published(NAME, CONTENT, address), target, waits=(20,))
    assert pauses == []
    assert list(target.parent.iterdir()) == []


def test_a_redirect_is_followed(server, target):
    file = serve(server)
    server.redirects["old"] = file.addresses[0]
    fetch(published(NAME, CONTENT, server.address("old")), target)
    assert target.read_bytes() == CONTENT


@pytest.mark.parametrize("scheme", ["file://", "ftp://127.0.0.1", "data:,"])
def test_other_addresses_than_http_are_refused_after_a_redirect_too(
    server, target, tmp_path, scheme
):
    secret = tmp_path / "secret"
    secret.write_bytes(CONTENT)
    with pytest.raises(InputError, match="only http and https"):
        fetch(published(NAME, CONTENT, f"{scheme}{secret}"), target)
    server.redirects["old"] = f"{scheme}{secret}"
    with pytest.raises(InputError, match=r"is not allowed|unknown url type"):
        fetch(published(NAME, CONTENT, server.address("old")), target, waits=())
    assert not target.exists()


def test_a_file_that_is_there_stays_as_it_is(server, target):
    target.write_bytes(b"mine")
    fetch(serve(server), target)
    assert target.read_bytes() == b"mine"
    assert server.requests == []


def test_of_two_at_once_one_downloads_and_the_other_waits(server, target):
    file = serve(server)
    threads = [threading.Thread(target=fetch, args=(file, target)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert target.read_bytes() == CONTENT
    assert len(server.requests) == 1


def test_a_path_that_is_not_writable_is_reported(server, target, part):
    part.mkdir()
    with pytest.raises(InputError, match=r"images\.gz\.part cannot be written"):
        fetch(serve(server), target)


def test_without_an_address_nothing_can_arrive(target):
    with pytest.raises(InputError):
        fetch(RemoteFile(NAME), target)
    assert list(target.parent.iterdir()) == []
