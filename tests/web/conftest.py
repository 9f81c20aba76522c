"""Stream folders for the service, made once; a test that changes one gets a copy."""

import shutil
from dataclasses import replace

import pytest
from digit_folder import SETTINGS, arrivals, make_folder
from web.serving import serving

from csim.folder.stream import Stream

UNTAUGHT = replace(SETTINGS, update_labels=0, update_size=999)  # no answer ever makes training due


@pytest.fixture(scope="session")
def empty_base(tmp_path_factory):
    """Return a folder without an image; read-only."""
    return make_folder(tmp_path_factory.mktemp("empty") / "stream", UNTAUGHT)


@pytest.fixture(scope="session")
def asked_base(empty_base, tmp_path_factory):
    """Return a folder with open questions after 200 images; read-only."""
    root = shutil.copytree(empty_base, tmp_path_factory.mktemp("asked") / "stream")
    with Stream(root, trainer=None) as stream:
        stream.take(arrivals(200))
    return root


@pytest.fixture
def empty(empty_base, tmp_path):
    """Return a copy of `empty_base`."""
    return shutil.copytree(empty_base, tmp_path / "empty")


@pytest.fixture
def asked(asked_base, tmp_path):
    """Return a copy of `asked_base`."""
    return shutil.copytree(asked_base, tmp_path / "asked")


@pytest.fixture
def client(empty):
    """Return an HTTP client of a service of an empty stream."""
    with serving(empty) as (client, _):
        yield client


@pytest.fixture
def labeller(asked):
    """Return an HTTP client of a service with open questions."""
    with serving(asked) as (client, _):
        yield client


@pytest.fixture(scope="session")
def shown(asked_base, tmp_path_factory):
    """Return an HTTP client of a service with open questions, for reading only."""
    root = shutil.copytree(asked_base, tmp_path_factory.mktemp("shown") / "stream")
    with serving(root) as (client, _):
        yield client
