"""A thousand malformed requests: each is refused with a 4xx, and the database stays as it was."""

import random
import shutil
import socket

import httpx
import numpy as np
import pytest
from digit_folder import png, rows
from web.serving import files, serving

from csim.web.limits import Limits

TABLES = ("steps", "items", "events", "questions", "members", "classes", "inbox", "troubles")
COUNT = 1000
LIMITS = Limits(
    body_bytes=30_000, json_bytes=5000, requests_per_second=1e6, request_images=8, stop_seconds=5
)


@pytest.fixture
def root(asked_base, tmp_path):
    return shutil.copytree(asked_base, tmp_path / "stream")


def content(folder):
    return [rows(folder, f"SELECT * FROM {table}") for table in TABLES]  # noqa: S608


def json_values(rng):
    """Return a JSON body that fits no operation."""
    deep = "[" * rng.randrange(1, 2000)
    texts = [
        deep, "{" * rng.randrange(1, 500), "", "null", "[]", "3", '"x"', "{}x", "NaN", "\ufeff{}",
        '{"name": 3}', '{"name": null}', '{"name": ["a"]}', '{"name": {"a": 1}}', '{"name": ""}',
        '{"name": "\\u0000"}', '{"name": "\\ud800"}', '{"class_id": 1e300}', '{"class_id": true}',
        '{"class_id": -1}', '{"class_id": 99999999999999999999}', '{"labeller": ""}',
        '{"name": "a", "name": 3}', '{"name": "' + "x" * 300 + '"}', '{"parts": 3}',
        '{"parts": [[1]]}', '{"seconds": -1, "labeller": "a"}', '{"unknown": 1}', '{"into": "a"}',
        '{"name": "' + "x" * 6000 + '"}',
    ]  # fmt: skip
    return rng.choice(texts).encode("utf-8", "surrogatepass")


def write_paths(rng):
    number = rng.choice(["1", "2", "0", "-1", "x", "1e3", "999999", "%00", "..", "1" * 40])
    return rng.choice(
        [
            f"/v1/questions/{number}/answer",
            f"/v1/questions/{'0' if number in '12' else number}/split",  # it may have no body
            f"/v1/questions/{number}/take-out",
            f"/v1/questions/{number}/correct",
            f"/v1/questions/{number}/lease",
            f"/v1/classes/{number}/merge",
            "/v1/classes",
            "/v1/questions/next",
            "/v1/session/x",
        ]
    )


def bad_json(rng, client):
    kind = rng.choice(["application/json", "application/json; charset=utf-16"])
    return client.post(write_paths(rng), content=json_values(rng), headers={"Content-Type": kind})


def bad_image(rng, client):
    good = bytearray(files(1)[0][1])
    kinds = [
        b"", b"x" * rng.randrange(1, 3000), b"GIF89a...", b"\x89PNG\r\n\x1a\n", bytes(good[:40]),
        b"BM" + bytes(60), b"II*\0" + bytes(30), b"RIFF\0\0\0\0WEBPVP8 ", b"\xff\xd8\xff\xe0",
    ]  # fmt: skip
    headers = {"Content-Type": rng.choice(["image/png", "application/octet-stream", "image/x"])}
    return client.post("/v1/images", content=rng.choice(kinds), headers=headers)


def bad_form(rng, client):
    boundary = rng.choice(["", "; boundary=", "; boundary=b", "; boundary=" + "b" * 100])
    part = b'--b\r\nContent-Disposition: form-data; name="images"; filename="../../x"\r\n\r\n'
    bodies = [
        b"", b"--b", b"--b--", part, part + b"x\r\n--b--", part * 20 + b"--b--",
        b"--b\r\n\r\n\r\n--b--", b"--b\r\nContent-Disposition: x\r\n\r\na\r\n--b--\r\n",
        b"\0" * 200, b'--b\r\nContent-Disposition: form-data; name="ids"\r\n\r\nx\r\n--b--\r\n',
    ]  # fmt: skip
    kind = f"multipart/form-data{boundary}"
    return client.post("/v1/images", content=rng.choice(bodies), headers={"Content-Type": kind})


def bad_id(rng, client):
    file = png(GREY)
    item_id = rng.choice(
        [
            "../x",
            "/x",
            "a/../../b",
            "a\0",
            "a\r\nX: y",
            "\u202e",
            "",
            " ",
            "x" * 201,
            "..",
            "image 1",
        ]
    )
    return client.post("/v1/images", files=[("images", file)], data={"ids": [item_id]})


def bad_path(rng, client):
    path = rng.choice(
        [
            "/v1/images/%2e%2e%2f%2e%2e%2fetc%2fpasswd", "/v1/pictures/..%2f..%2fstream.db",
            "/v1/exports/stream.db", "/v1/exports/..%2f..%2fstream.db", "/v1/exports/labels.exe",
            "/v1/pictures/x", "/v1/pictures/99999999999999999999999", "/v1/questions/%ff",
            "/v1/events?after=x", "/v1/questions?limit=0", "/v1/questions?limit=1e9", "/v1/", "/v1",
            "/v1/questions?status=all", "/v1/classes?examples=-1", "/v1/classes?examples=x",
        ]
    )  # fmt: skip
    return client.get(path)


def bad_method(rng, client):
    path = rng.choice(["/v1/status", "/v1/images", "/v1/questions", "/v1/exports/labels.csv"])
    return client.request(rng.choice(["PUT", "PATCH", "DELETE", "TRACE", "FOO"]), path)


def bad_headers(rng, client):
    headers = rng.choice(
        [
            {"Host": "evil.example"}, {"Host": ""}, {"Origin": "http://evil.example"},
            {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}, {"Origin": b"\xff\xfe"},
            {"Host": b"\xff"},
        ]
    )  # fmt: skip
    return client.post("/v1/classes", json={"name": "intruder"}, headers=headers)


def bad_key(rng, client):
    key = rng.choice(["", "x" * 201])
    return client.post("/v1/classes", json={"name": "intruder"}, headers={"Idempotency-Key": key})


GREY = np.full((8, 8), 7, np.uint8)
MAKERS = (bad_json, bad_image, bad_form, bad_id, bad_path, bad_method, bad_headers, bad_key)


@pytest.mark.slow
def test_a_thousand_malformed_requests_change_nothing(root):
    rng = random.Random(22)  # noqa: S311
    before = content(root)
    with serving(root, limits=LIMITS) as (client, _):
        for number in range(COUNT):
            maker = MAKERS[number % len(MAKERS)]
            state = rng.getstate()
            answer = maker(rng, client)
            assert 400 <= answer.status_code < 500, (maker.__name__, state[1][:3], answer.text)
        raw(httpx.URL(client.base_url))
        assert client.get("/healthz").status_code == 200
    assert content(root) == before


def raw(url):
    """Send bytes that are no HTTP."""
    for head in (
        b"\r\n\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"\x16\x03\x01\x02\0\x01\0",
        b"POST /v1/images HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\n",
        b"POST /v1/images HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n"
        b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"POST /v1/images HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"GET /\xff\xfe HTTP/1.1\r\nHost: localhost\r\n\r\n",
    ):
        with socket.create_connection((url.host, url.port), timeout=60) as connection:
            connection.sendall(head)
            connection.shutdown(socket.SHUT_WR)
            answer = connection.makefile("rb").readline()
            assert answer == b"" or answer.split()[1][:1] == b"4", (head, answer)
