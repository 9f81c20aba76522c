"""Who may use the service: tokens, hosts, origins, cookies, headers."""

import shutil
import socket

import httpx
import pytest
from waiting import HANG_SECONDS
from web.serving import serving

from csim.errors import InputError
from csim.web.launch import Address
from csim.web.limits import Limits
from csim.web.security import COOKIE, Token, is_loopback

SECRET = "correct horse battery staple"  # noqa: S105


@pytest.fixture(scope="module")
def locked(asked_base, tmp_path_factory):
    """Return an HTTP client of a service with a token, served as birds.example too."""
    root = shutil.copytree(asked_base, tmp_path_factory.mktemp("locked") / "stream")
    with serving(root, token=Token(SECRET.encode()), hosts=["birds.example"]) as (client, _):
        yield client


def bearer(secret):
    return {
        "Authorization": b"Bearer " + (secret if isinstance(secret, bytes) else secret.encode())
    }


def test_the_token_lets_in_and_nothing_else_does(locked):
    assert locked.get("/v1/status").status_code == 401
    assert locked.get("/v1/status", headers=bearer(SECRET)).status_code == 200


@pytest.mark.parametrize(
    "header",
    [
        b"Bearer wrong",
        b"Bearer",
        b"",
        b"Basic " + SECRET.encode(),
        SECRET.encode(),
        b"Bearer " + SECRET.encode() + b"x",
        b"Bearer " + SECRET[:-1].encode(),
        "Bearer schlüssel".encode(),
        b"Bearer \xff\xfe\x80",
        b"Bearer " + b"a" * 20000,
    ],
)
def test_a_wrong_token_is_401(locked, header):
    refused = locked.get("/v1/status", headers={"Authorization": header})
    assert refused.status_code == 401
    assert refused.headers["www-authenticate"] == "Bearer"


def test_a_token_need_not_be_ascii(empty):
    secret = "ключ от всех дверей"  # noqa: S105
    with serving(empty, token=Token(secret.encode())) as (client, _):
        assert client.get("/v1/status", headers=bearer(secret)).status_code == 200
        assert client.get("/v1/status", headers=bearer("ключ")).status_code == 401
        assert client.post("/v1/session", json={"token": secret}).status_code == 204


def test_refused_requests_count_against_the_rate(empty):
    limits = Limits(requests_per_second=2, stop_seconds=5)
    with serving(empty, token=Token(SECRET.encode()), limits=limits) as (client, _):
        tries = [client.get("/v1/status", headers=bearer(f"guess {n}")) for n in range(30)]
        assert tries[0].status_code == 401
        assert 429 in [answer.status_code for answer in tries]
        refused = next(answer for answer in tries if answer.status_code == 429)
        assert refused.headers["retry-after"]
        assert "content-security-policy" in refused.headers


def test_foreign_hosts_count_against_the_rate(empty):
    with serving(empty, limits=Limits(requests_per_second=2, stop_seconds=5)) as (client, _):
        foreign = {"Host": "evil.example"}
        assert 429 in [client.get("/healthz", headers=foreign).status_code for _ in range(30)]


@pytest.mark.parametrize("path", ["/v1/questions", "/metrics", "/v1/openapi.json", "/nothing"])
def test_every_path_needs_the_token(locked, path):
    assert locked.get(path).status_code == 401


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_health_needs_no_token(locked, path):
    assert locked.get(path).status_code == 200


def test_a_token_in_the_address_is_no_token(locked):
    assert locked.get("/v1/status", params={"token": SECRET}).status_code == 401
    assert locked.get("/v1/status", params={"access_token": SECRET}).status_code == 401


def test_a_page_exchanges_the_token_for_a_cookie(locked):
    signed = locked.post("/v1/session", json={"token": SECRET})
    assert signed.status_code == 204
    cookie = signed.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert SECRET not in cookie
    value = signed.cookies[COOKIE]
    locked.cookies.clear()
    assert locked.get("/v1/status", headers={"Cookie": f"{COOKIE}={value}"}).status_code == 200
    assert locked.get("/v1/status", headers={"Cookie": f"{COOKIE}={value}0"}).status_code == 401
    assert locked.get("/v1/status", headers={"Cookie": f"{COOKIE}={SECRET}"}).status_code == 401
    assert locked.get("/v1/status", headers={"Cookie": "\x01=;;="}).status_code in (400, 401)
    gone = locked.delete("/v1/session")
    assert "Max-Age=0" in gone.headers["set-cookie"]


@pytest.mark.parametrize(("proto", "is_secure"), [("https", True), ("http", False)])
def test_behind_a_proxy_with_https_the_cookie_is_for_https_alone(locked, proto, is_secure):
    headers = {"X-Forwarded-Proto": proto}
    signed = locked.post("/v1/session", json={"token": SECRET}, headers=headers)
    locked.cookies.clear()
    assert ("; Secure" in signed.headers["set-cookie"]) == is_secure


def test_a_wrong_token_gets_no_cookie(locked):
    refused = locked.post("/v1/session", json={"token": "wrong"})
    assert refused.status_code == 401
    assert "set-cookie" not in refused.headers


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost", 200),
        ("LOCALHOST:80", 200),
        ("127.0.0.1:8000", 200),
        ("[::1]:8000", 200),
        ("birds.example", 200),
        ("evil.example", 403),
        ("birds.example.evil.example", 403),
        ("localhost.evil.example", 403),
        ("localhost@evil.example", 403),
        ("localhost/x", 403),
        ("localhost:x", 403),
        ("127.0.0.1 evil", 403),
        ("", 403),
    ],
)
def test_only_hosts_that_are_served_may_be_named(locked, host, status):
    found = locked.get("/v1/status", headers={"Host": host, **bearer(SECRET)})
    assert found.status_code == status


def raw(client, *lines):
    """Send the lines of a request as they are; return the status of the answer."""
    url = httpx.URL(client.base_url)
    with socket.create_connection((url.host, url.port), timeout=HANG_SECONDS) as connection:
        connection.sendall("\r\n".join([*lines, "", ""]).encode())
        return int(connection.makefile("rb").readline().split()[1])


def test_two_hosts_no_host_or_an_empty_token_are_refused(locked):
    shown = f"Authorization: Bearer {SECRET}"
    line = "GET /v1/status HTTP/1.1"
    assert raw(locked, line, "Host: localhost", shown) == 200
    assert raw(locked, line, "Host: localhost", "Host: evil.example", shown) == 403
    assert raw(locked, line, shown) == 403
    assert raw(locked, line, "Host: localhost", "Authorization: Bearer ") == 401


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Origin": "{own}"}, 200),
        ({"Origin": "{own}", "Sec-Fetch-Site": "same-origin"}, 200),
        ({"Sec-Fetch-Site": "none"}, 200),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": ""}, 403),
        ({"Origin": "http://[bad"}, 403),
        ({"Origin": "http://127.0.0.1:1"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Origin": "{own}", "Sec-Fetch-Site": "cross-site"}, 403),
    ],
)
def test_a_write_from_a_page_of_another_site_is_refused(locked, headers, status):
    own = str(locked.base_url).rstrip("/")
    sent = {name: value.format(own=own) for name, value in headers.items()} | bearer(SECRET)
    path = "/v1/classes?dry_run=true"
    assert locked.post(path, json={"name": "x"}, headers=sent).status_code == status
    assert locked.get("/v1/status", headers=sent).status_code == 200  # reading is harmless


def test_other_sites_get_no_permission_to_read(locked):
    headers = {"Origin": "http://evil.example", **bearer(SECRET)}
    answers = [locked.get("/v1/status", headers=headers)]
    preflight = {"Access-Control-Request-Method": "POST", **headers}
    answers.append(locked.options("/v1/images", headers=preflight))
    assert answers[1].status_code == 405
    for answer in answers:
        assert not [name for name in answer.headers if name.startswith("access-control")]


@pytest.mark.parametrize("path", ["/v1/status", "/healthz", "/nothing"])
def test_every_answer_has_security_headers(locked, path):
    for headers in ({}, bearer(SECRET)):
        answer = locked.get(path, headers=headers)
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert "server" not in answer.headers


@pytest.mark.parametrize(
    "path",
    ["/docs", "/redoc", "/openapi.json", "/v1/../v1/status", "/etc/passwd", "/v1/exports/../x"],
)
def test_there_is_nothing_but_the_listed_paths(shown, path):
    assert raw(shown, f"GET {path} HTTP/1.1", "Host: localhost") in (404, 422)


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.1", "::", "birds.example"])  # noqa: S104
def test_outside_loopback_a_token_is_needed(host):
    assert not is_loopback(host)
    with pytest.raises(InputError, match=r"must have a token.*--token-file"):
        Address(host)
    assert Address(host, token=Token(b"x" * 16)).host == host


@pytest.mark.parametrize("host", ["127.0.0.1", "127.3.2.1", "::1", "localhost"])
def test_on_loopback_no_token_is_needed(host):
    assert is_loopback(host)
    assert Address(host).token is None


def test_a_token_is_long_and_shows_nothing_of_itself():
    with pytest.raises(InputError, match="at least 16 bytes"):
        Token(b"short")
    token, text = Token.make()
    assert token.is_secret(text.encode())
    assert text not in repr(token) + str(token.__class__)
    assert Token.make()[1] != text
