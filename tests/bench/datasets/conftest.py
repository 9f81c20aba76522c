"""Fixtures of the data set tests: a faulty server, and the prepared data sets."""

import os

import pytest
from bench.datasets.faulty_server import FaultyServer

from csim.bench.datasets.catalogue import load
from csim.bench.datasets.files import data_folder
from csim.errors import InputError


@pytest.fixture(autouse=True)
def _direct(monkeypatch):
    """Use no proxy, even if this machine has one."""
    monkeypatch.setenv("no_proxy", "*")


@pytest.fixture
def server():
    with FaultyServer() as running:
        yield running


@pytest.fixture
def prepared():
    """Return a loader of the prepared data sets. Without them, tests skip, and fail in CI."""

    def load_prepared(name):
        try:
            if not (data_folder() / name).is_dir():
                raise InputError(f"{data_folder() / name} does not exist")
        except InputError as error:
            if os.environ.get("CI") == "true":
                pytest.fail(f"CI needs the data sets: {error}")
            pytest.skip(f"needs the data sets: {error}")
        return load(name)

    return load_prepared
