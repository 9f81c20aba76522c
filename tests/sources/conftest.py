import os
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest


@pytest.fixture
def public_folder():
    """Return a folder that every user can enter, which pytest's own cannot be."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def as_nobody():
    """Return a context in which we are not root, to whom nothing is closed."""

    @contextmanager
    def become():
        is_root = os.geteuid() == 0
        if is_root:
            os.seteuid(65534)
        try:
            yield
        finally:
            if is_root:
                os.seteuid(0)

    return become
