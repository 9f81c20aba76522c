"""A redis-server per module, and a stream of its own per test."""

import itertools
import shutil
from dataclasses import replace

import pytest
from digit_folder import SETTINGS, make_folder
from distributed.redis_server import RedisServer

_numbers = itertools.count(1)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    server = RedisServer(tmp_path_factory.mktemp("redis"))
    yield server
    server.stop()


@pytest.fixture
def name():
    return f"images-{next(_numbers)}"


@pytest.fixture
def broker(server, name):
    broker = server.broker(name)
    yield broker
    broker.close()


@pytest.fixture(scope="session")
def base(tmp_path_factory):
    """Return a fresh stream folder; read-only."""
    settings = replace(SETTINGS, update_labels=0)
    return make_folder(tmp_path_factory.mktemp("base") / "stream", settings, retrain_lag=60)


@pytest.fixture
def folder(base, tmp_path):
    """Return a copy of `base`."""
    return shutil.copytree(base, tmp_path / "stream")
