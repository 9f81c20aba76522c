"""Stream folders to export from; a test that changes one gets a copy of its own."""

import shutil

import pytest
from export import hostile_folder

from csim.folder.reader import Reader


@pytest.fixture(scope="session")
def fresh():
    """Return a folder that has seen no image of a stream; read-only."""
    return hostile_folder.fresh()


@pytest.fixture(scope="session")
def lived():
    """Return a folder with answers and open questions; read-only."""
    return hostile_folder.lived()


@pytest.fixture
def folder(lived, tmp_path):
    """Return a folder of one's own, with answers and open questions."""
    return shutil.copytree(lived, tmp_path / "stream")


@pytest.fixture
def reader(lived):
    """Return a reader of the folder with answers and open questions."""
    with Reader(lived) as opened:
        yield opened
