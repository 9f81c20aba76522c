"""Limits on requests: size, time, rate, pixels, connections."""

import shutil
import socket
import struct
import time
import zlib
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from waiting import wait_for
from web.serving import files, post, serving

from csim.errors import SettingsError
from csim.web.limits import Limits

SMALL = Limits(
    body_bytes=50_000,
    json_bytes=1000,
    body_seconds=0.5,
    request_images=50,
    queue_images=50,
    connections=6,
    stop_seconds=5,
)


@pytest.fixture(scope="module")
def narrow(empty_base, tmp_path_factory):
    """Return an HTTP client of a service with narrow limits."""
    root = shutil.copytree(empty_base, tmp_path_factory.mktemp("narrow") / "stream")
    with serving(root, limits=SMALL) as (client, _):
        yield client


def position(client):
    return client.get("/v1/status").json()["position"]


def png_header(width, height):
    """Return a PNG that claims a size and has no pixels."""

    def chunk(kind, body):
        crc = zlib.crc32(kind + body)
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", crc)

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", zlib.compress(b"\0" * 1000))


def test_a_body_that_says_that_it_is_too_large_is_refused(narrow):
    refused = narrow.post(
        "/v1/images", content=b"x" * 50_001, headers={"Content-Type": "image/png"}
    )
    assert refused.status_code == 413
    assert "50,000 bytes" in refused.json()["detail"]
    assert narrow.post("/v1/classes", json={"name": "x" * 2000}).status_code == 413
    assert position(narrow) == 0


def test_a_body_without_a_length_is_counted(narrow):
    def endless():
        for _ in range(100):
            yield b"x" * 1000

    headers = {"Content-Type": "image/png"}
    assert narrow.post("/v1/images", content=endless(), headers=headers).status_code == 413
    json_headers = {"Content-Type": "application/json"}
    assert narrow.post("/v1/classes", content=endless(), headers=json_headers).status_code == 413


def test_a_body_that_never_ends_is_given_up(narrow):
    with connect(narrow) as connection:
        connection.sendall(
            b"POST /v1/images HTTP/1.1\r\nHost: localhost\r\nContent-Type: image/png\r\n"
            b"Content-Length: 1000\r\n\r\nsome"
        )
        assert connection.makefile("rb").readline().startswith(b"HTTP/1.1 408")


def test_too_many_connections_are_refused_and_those_that_say_nothing_end(narrow):
    opened = [connect(narrow) for _ in range(12)]
    try:
        answers = [opened[-1].makefile("rb").readline() for _ in range(1)]
        assert answers[0].startswith(b"HTTP/1.1 503")
    finally:
        for connection in opened:
            connection.close()


def test_an_endless_head_is_refused(narrow):
    with connect(narrow) as connection:
        try:
            connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n")
            for _ in range(3000):
                connection.sendall(b"X-A: " + b"a" * 95 + b"\r\n")
            answer = connection.makefile("rb").readline()
        except OSError:
            answer = b""  # the service has closed the connection
        assert answer == b"" or answer.startswith(b"HTTP/1.1 400")


def test_a_picture_of_too_many_pixels_is_refused_before_it_is_decoded(narrow):
    bomb = png_header(40_000, 40_000)
    assert len(bomb) < 200
    start = time.process_time()
    refused = post(narrow, [("bomb", bomb)])
    assert refused.status_code == 422
    assert "too-large" in refused.json()["detail"]
    assert time.process_time() - start < 60  # decoding it would take gigabytes
    assert position(narrow) == 0


@pytest.mark.parametrize(
    "content", [b"", b"GIF89a" + b"\0" * 50, b"%PDF-1.4", b"<svg/>", b"\xff\xd8\xff", b"PK\3\4"]
)
def test_only_listed_formats_are_decoded(narrow, content):
    assert post(narrow, [("x", content)]).status_code == 422


def test_requests_of_one_address_are_counted(empty):
    with serving(empty, limits=Limits(requests_per_second=2, stop_seconds=5)) as (client, _):
        statuses = [client.get("/healthz").status_code for _ in range(30)]
        assert statuses[0] == 200
        assert 429 in statuses


def test_an_answer_that_takes_too_long_is_503_and_the_same_ids_get_the_decisions_later(empty):
    slow = Limits(batch_ms=1500, batch_images=1000, request_seconds=0.2, stop_seconds=5)
    with serving(empty, limits=slow) as (client, _):
        late = post(client, files(3))
        assert late.status_code == 503
        assert "took too long" in late.json()["detail"]
        assert late.headers["retry-after"]
        # The status may take longer than 0.2 s too, and is then refused.
        wait_for(lambda: client.get("/v1/status").json().get("position") == 3)
    with serving(empty) as (client, _):
        assert post(client, files(3)).status_code == 200
        assert position(client) == 3


def test_a_full_queue_answers_429_and_takes_nothing(empty):
    limits = Limits(queue_images=20, request_images=20, batch_ms=500, batch_images=1000)
    with serving(empty, limits=limits) as (client, service):
        waits = service.engine.submit([])  # the thread is awake
        waits.result()
        pairs = files(45)
        with httpx.Client(base_url=client.base_url, timeout=60) as other:
            statuses = hammer(other, [pairs[:20], pairs[20:40], pairs[40:]])
        assert set(statuses) <= {200, 429}
        taken = sum(
            size for size, status in zip((20, 20, 5), statuses, strict=True) if status == 200
        )
        assert client.get("/v1/status").json()["position"] == taken


def hammer(client, requests):
    with ThreadPoolExecutor(len(requests)) as pool:
        answers = list(pool.map(lambda pairs: post(client, pairs), requests))
    assert all(answer.headers.get("retry-after") for answer in answers if answer.status_code == 429)
    return [answer.status_code for answer in answers]


@pytest.mark.parametrize("name", ["batch_images", "connections", "body_seconds", "json_bytes"])
def test_a_limit_must_be_above_zero(name):
    with pytest.raises(SettingsError, match=name):
        Limits(**{name: 0})


def test_the_queue_must_take_a_whole_request():
    with pytest.raises(SettingsError, match="queue_images must be at least request_images"):
        Limits(queue_images=10, request_images=11)


def connect(client):
    url = httpx.URL(client.base_url)
    return socket.create_connection((url.host, url.port), timeout=60)


DEEP = (b"[" * 900, b'{"a":' * 150, b"\xff\xfe", b"{", b"NaN", b'"' + b"\\u0000" * 50 + b'"')


@pytest.mark.parametrize("body", DEEP)
def test_json_that_is_deep_or_none_is_refused(narrow, body):
    headers = {"Content-Type": "application/json"}
    assert narrow.post("/v1/classes", content=body, headers=headers).status_code in (400, 422)
