import shutil
import subprocess
import time
from itertools import pairwise

import pytest
from distributed.redis_server import RedisServer, free_port

from csim.distributed.address import Address, Credentials
from csim.distributed.broker import Broker, Disconnected
from csim.errors import BrokerError

BIRD = "heron"


def test_a_server_that_does_not_answer_is_an_error_at_once():
    start = time.monotonic()
    with pytest.raises(BrokerError, match=r"must answer, but it does not .* check host, port"):
        Broker(Address("127.0.0.1", free_port(), "pond"), Credentials())
    assert time.monotonic() - start < 10


def test_a_key_that_is_no_stream_is_refused_and_stays(server, name):
    server.client().set(name, "text")
    with pytest.raises(BrokerError, match=r"must name a stream, but the key .* holds a string"):
        server.broker(name)
    assert server.client().get(name) == b"text"


def test_a_command_that_the_server_refuses_is_an_error(broker):
    with pytest.raises(BrokerError, match="the server says"):
        broker.call("XADD", "pond", "not-an-id", "field", "value")


def test_commands_of_a_transaction_take_effect_together(broker, name, server):
    assert broker.transaction([("XADD", name, "1-1", "a", "b"), ("XLEN", name)]) == [b"1-1", 1]
    with pytest.raises(BrokerError):
        broker.transaction([("XADD", name, "2-1", "a", "b"), ("XADD", name)])
    assert server.client().xlen(name) == 1


def test_after_a_lost_connection_attempts_come_at_growing_intervals(tmp_path):
    server = RedisServer(tmp_path)
    now = [100.0]
    broker = server.broker("pond", clock=lambda: now[0])
    server.kill()
    attempts = []
    while now[0] < 120:
        before = broker._retry_at
        with pytest.raises(Disconnected):
            broker.call("PING")
        if broker._retry_at != before:
            attempts.append(now[0])
        now[0] += 0.05
    pauses = [later - earlier for earlier, later in pairwise(attempts)]
    assert broker.breaks == 1
    assert pauses[:3] == pytest.approx([0.1, 0.2, 0.4], abs=0.051)
    assert max(pauses) == pytest.approx(5, abs=0.051)
    server.start()
    now[0] += 5
    assert broker.call("PING")
    server.stop()


def test_a_server_that_wants_a_password_gets_it_or_says_so(tmp_path):
    server = RedisServer(tmp_path, "--requirepass", BIRD, password=BIRD)
    address = Address.from_text(server.url("pond"))
    for password in (None, "crane"):
        with pytest.raises(BrokerError, match="must accept csim's user") as refusal:
            Broker(address, Credentials(password=password))
        assert "crane" not in str(refusal.value)
    assert Broker(address, Credentials(password=BIRD)).call("XLEN", "pond") == 0
    server.client().acl_setuser("reader", enabled=True, passwords="+owl", commands=["+ping"])
    with pytest.raises(BrokerError, match="must accept csim's user"):
        Broker(address, Credentials("reader", "owl"))
    server.stop()


def test_rediss_encrypts_and_checks_the_certificate(tmp_path):
    openssl = shutil.which("openssl")
    assert openssl, "openssl is missing; install it: apt-get install openssl"
    key = tmp_path / "key.pem"
    certificate = tmp_path / "certificate.pem"
    subprocess.run(
        [openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-keyout", key,
         "-out", certificate, "-subj", "/CN=localhost",
         "-addext", "subjectAltName=IP:127.0.0.1"],
        check=True, capture_output=True,
    )  # fmt: skip
    port = free_port()
    server = RedisServer(
        tmp_path, "--port", "0", "--tls-port", str(port), "--tls-cert-file", str(certificate),
        "--tls-key-file", str(key), "--tls-auth-clients", "no",
        port=port, ssl=True, ssl_ca_certs=str(certificate),
    )  # fmt: skip
    address = Address("127.0.0.1", port, "pond", is_encrypted=True)
    assert Broker(address, Credentials(authorities=str(certificate))).call("PING")
    with pytest.raises(BrokerError, match="certificate"):
        Broker(address, Credentials())
    server.stop()
