"""The service as a process: it starts where it may, and stops cleanly."""

import shutil
import signal
import ssl
import subprocess
import sys

import pytest
from waiting import HANG_SECONDS
from web.serving import Process, files, post

from csim.folder.reader import Reader


def refuse(*arguments):
    """Run `csim serve`, which must refuse to start; return its exit code and message."""
    done = subprocess.run(
        [sys.executable, "-m", "csim", "serve", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=HANG_SECONDS,
        check=False,
    )
    assert done.stdout == ""
    return done.returncode, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_it_cleanly_and_nothing_acknowledged_is_lost(empty, signum):
    process = Process(empty)
    with process.client() as client:
        assert post(client, files(30)).status_code == 200
        with client.stream("GET", "/v1/events?after=0") as stream:  # it does not hold up the stop
            lines = stream.iter_lines()
            next(lines)
            assert process.stop(signum) == 0
    with Reader(empty) as reader:
        assert reader.history.position() == 30
        assert reader.models.newest_snapshot(1).position == 30  # nothing to repeat


@pytest.mark.slow
def test_it_refuses_to_start_outside_loopback_without_a_token(empty, tmp_path):
    code, text = refuse(empty, "--host", "0.0.0.0", "--port", 0)  # noqa: S104
    assert (code, text.count("\n")) == (2, 1)
    assert "must have a token, because other machines reach it" in text
    short = tmp_path / "token"
    short.write_text("short\n")
    code, text = refuse(empty, "--host", "0.0.0.0", "--token-file", short)  # noqa: S104
    assert code == 2
    assert "at least 16 bytes" in text
    code, text = refuse(empty, "--token-file", tmp_path / "missing")
    assert code == 2
    assert "cannot be read" in text


@pytest.mark.slow
def test_it_listens_elsewhere_with_a_token_that_it_makes_and_shows_once(empty):
    process = Process(empty, "--host", "0.0.0.0", "--new-token", "--access-log")  # noqa: S104
    token = process.process.stderr.readline().strip().removeprefix("token: ")
    assert len(token) > 30
    url = process.url.replace("0.0.0.0", "127.0.0.1")  # noqa: S104
    with process.client() as client:
        client.base_url = url
        assert client.get("/v1/status").status_code == 401
        shown = {"Authorization": f"Bearer {token}"}
        assert client.get("/v1/status?secret=1", headers=shown).status_code == 200
    process.process.send_signal(signal.SIGTERM)
    log = process.process.stderr.read()
    assert process.stop() == 0
    assert '"path": "/v1/status", "status": 200' in log
    assert token not in log
    assert "secret" not in log


@pytest.mark.slow
def test_a_folder_or_port_that_cannot_be_used_is_said_in_one_line(empty, tmp_path):
    code, text = refuse(tmp_path / "nothing")
    assert (code, text.count("\n")) == (3, 1)
    assert "not a stream folder" in text
    process = Process(empty)
    port = process.url.rpartition(":")[2]
    other = tmp_path / "other"
    other.mkdir()
    code, text = refuse(empty, "--port", port)
    assert code == 2
    assert "cannot" in text
    assert process.stop() == 0


@pytest.mark.slow
def test_with_a_certificate_it_speaks_https_and_cookies_are_for_https_alone(empty, tmp_path):
    openssl = shutil.which("openssl")
    assert openssl, "openssl is missing; install it: apt-get install openssl"
    key, cert, token = tmp_path / "key.pem", tmp_path / "cert.pem", tmp_path / "token"
    request = [openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run(
        [*request, "-keyout", key, "-out", cert, *names], capture_output=True, check=True
    )
    token.write_text("a long enough secret")
    code, text = refuse(empty, "--tls-cert", cert)
    assert code == 2
    assert "belong together" in text
    process = Process(empty, "--tls-cert", cert, "--tls-key", key, "--token-file", token)
    assert process.url.startswith("https://")
    with process.client(verify=ssl.create_default_context(cafile=cert)) as client:
        signed = client.post("/v1/session", json={"token": token.read_text()})
        assert "; Secure" in signed.headers["set-cookie"]
        assert client.get("/v1/status").status_code == 200
    assert process.stop() == 0
