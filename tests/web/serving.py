"""A real service for tests: uvicorn in a thread on a free loopback port, or in a process."""

import json
import os
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager

import httpx
from digit_folder import arrivals
from waiting import HANG_SECONDS, wait_for

from csim.web.app import make_app
from csim.web.limits import Limits
from csim.web.server import Server, listen
from csim.web.service import Service


@contextmanager
def serving(folder, *, limits=None, token=None, hosts=(), **options):
    """Serve a folder from a thread of this process; yield an HTTP client and the service."""
    limits = limits or Limits(stop_seconds=5)
    service = Service(folder, limits, **options)
    app = make_app(service, token=token, hosts=hosts)
    server = Server(app, limits, on_stop=service.begin_stop)
    with listen("127.0.0.1", 0) as listening:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            wait_for(lambda: server.started or not thread.is_alive())
            assert server.started
            with httpx.Client(base_url=url, timeout=HANG_SECONDS) as client:
                yield client, service
        finally:
            service.begin_stop()
            server.should_exit = True
            thread.join()


class Process:
    """`csim serve` in a process of its own."""

    def __init__(self, folder, *options, env=()):
        command = [sys.executable, "-m", "csim", "serve", str(folder), "--port", "0", "--json"]
        self.process = subprocess.Popen(
            [*command, *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **dict(env)},
        )
        line = self.process.stdout.readline()
        assert line, self.process.stderr.read()
        self.url = json.loads(line)["url"]

    def client(self, **options):
        return httpx.Client(base_url=self.url, timeout=HANG_SECONDS, **options)

    def stop(self, signum=signal.SIGTERM):
        """Send a signal to this process; return its exit code."""
        if self.process.poll() is None:
            os.kill(self.process.pid, signum)
        code = self.process.wait(HANG_SECONDS)
        self.process.stdout.close()
        self.process.stderr.close()
        return code


def files(count, start=0):
    """Return the ids and PNG files of images of the stream."""
    return [(image.id, image.kept) for image in arrivals(start + count)[start:]]


def form(pairs):
    """Return what httpx sends as a form with images and their ids."""
    return {
        "files": [("images", (f"{item_id}.png", file, "image/png")) for item_id, file in pairs],
        "data": {"ids": [item_id for item_id, _ in pairs]},
    }


def post(client, pairs, **options):
    return client.post("/v1/images", **form(pairs), **options)
