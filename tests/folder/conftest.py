"""Stream folders that are made once; a test that changes one gets a copy."""

import shutil
from dataclasses import replace

import pytest
from digit_folder import SETTINGS, arrivals, make_folder
from folder.story import run_reference, tell

from csim.folder.stream import Stream
from csim.messages import Named

UNTAUGHT = replace(SETTINGS, update_labels=0, update_size=999)  # no answer ever makes training due
NEW_ONLY = replace(SETTINGS, update_labels=0)  # a new class does


@pytest.fixture(scope="session")
def base(tmp_path_factory):
    """Return a fresh stream folder; read-only."""
    return make_folder(tmp_path_factory.mktemp("base") / "stream", NEW_ONLY, retrain_lag=60)


@pytest.fixture
def folder(base, tmp_path):
    """Return a copy of `base`."""
    return shutil.copytree(base, tmp_path / "stream")


@pytest.fixture(scope="session")
def asked_base(tmp_path_factory):
    """Return a folder with open questions after 200 images, read-only; no training is due."""
    root = make_folder(tmp_path_factory.mktemp("asked") / "stream", UNTAUGHT, retrain_lag=60)
    with Stream(root, trainer=None) as stream:
        stream.take(arrivals(200))
    return root


@pytest.fixture
def asked(asked_base, tmp_path):
    """Return a copy of `asked_base`."""
    return shutil.copytree(asked_base, tmp_path / "asked")


@pytest.fixture(scope="session")
def due_base(tmp_path_factory):
    """Return a folder after 200 images, read-only; model 2 is due and takes over at 230."""
    root = make_folder(tmp_path_factory.mktemp("due") / "stream", NEW_ONLY, retrain_lag=30)
    with Stream(root, trainer=None) as stream:
        stream.take(arrivals(200))
        tell(root, [Named(1, "something new")])
        stream.attend()
    return root


@pytest.fixture
def due(due_base, tmp_path):
    """Return a copy of `due_base`."""
    return shutil.copytree(due_base, tmp_path / "due")


@pytest.fixture(scope="session")
def reference(base, tmp_path_factory):
    """Return a stream that was never stopped, with every kind of message; read-only."""
    return run_reference(shutil.copytree(base, tmp_path_factory.mktemp("reference") / "stream"))
