"""What the tests of the data sets share: a server that misbehaves, and the prepared data sets."""

import os

import pytest
from bench.datasets.faulty_server import FaultyServer

from csim.bench.datasets.catalogue import load
from csim.bench.datasets.files import data_folder
from csim.errors import InputError


@pytest.fixture(autouse=True)
def _direct(monkeypatch):
    """Let nothing go over a proxy that this machine may have."""
    monkeypatch.setenv("no_proxy", "*")


@pytest.fixture
def server():
    with FaultyServer() as running:
        yield running


@pytest.fixture
def prepared():
    """Return a loader of the data folder's data sets; without their files tests skip, in CI fail."""

    def load_prepared(name):
        try:
            if not (data_folder() / name).is_dir():
                raise InputError(f"{data_folder() / name} is not there")
        except InputError as error:
            if os.environ.get("CI") == "true":
                pytest.fail(f"the data sets must be there in CI: {error}")
            pytest.skip(f"needs the data sets: {error}")
        return load(name)

    return load_prepared
