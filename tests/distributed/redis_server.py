"""A redis-server of a test's own, with an append-only file; it can be killed and restarted."""

import shutil
import signal
import socket
import subprocess
from contextlib import closing

import redis
from waiting import wait_for

from csim.distributed.address import Address, Credentials
from csim.distributed.broker import Broker


def free_port():
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class RedisServer:
    def __init__(self, folder, *options, port=None, **connection):
        program = shutil.which("redis-server")
        assert program, "redis-server is missing; install it: apt-get install redis-server"
        self.port = port or free_port()
        self._connection = {"port": self.port, "protocol": 2} | connection
        self._command = [
            program, "--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(folder),
            "--appendonly", "yes", "--appendfsync", "always", "--save", "", *options,
        ]  # fmt: skip
        self.start()

    def start(self):
        self._process = subprocess.Popen(self._command, stdout=subprocess.DEVNULL)
        wait_for(self.answers)

    def answers(self):
        try:
            return self.client().ping()
        except (redis.ConnectionError, redis.BusyLoadingError):
            assert self._process.poll() is None, "redis-server has ended"
            return False

    def client(self):
        return redis.Redis(**self._connection)

    def url(self, stream):
        return f"redis://127.0.0.1:{self.port}/{stream}"

    def broker(self, stream, **options):
        return Broker(Address.from_text(self.url(stream)), Credentials(), **options)

    def kill(self):
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()

    def stop(self):
        self._process.terminate()
        self._process.wait()
