"""A service of its own for each test of the client."""

import shutil
from dataclasses import replace

import pytest
from digit_folder import SETTINGS, arrivals, make_folder
from web.serving import serving

from csim.folder.stream import Stream


@pytest.fixture(scope="session")
def asked_base(tmp_path_factory):
    """Return a folder with open questions after 100 images; read-only."""
    settings = replace(SETTINGS, update_labels=0, update_size=999)
    root = make_folder(tmp_path_factory.mktemp("asked") / "stream", settings)
    with Stream(root, trainer=None) as stream:
        stream.take(arrivals(100))
    return root


@pytest.fixture
def asked(asked_base, tmp_path):
    """Return a copy of `asked_base`."""
    return shutil.copytree(asked_base, tmp_path / "asked")


@pytest.fixture
def url(asked):
    """Return the URL of a service."""
    with serving(asked) as (client, _):
        yield str(client.base_url)
