"""A folder of version 1, killed with steps after its last snapshot, goes on today."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from digit_folder import png, rows
from sklearn.datasets import load_digits

from csim.errors import FolderError
from csim.folder.reader import Reader
from csim.folder.stream import Stream
from csim.sources.arrival import Decoded

OLD = Path(__file__).parent / "version-1.zip"  # 24 labelled digits, 130 of the stream, 26 questions


@pytest.fixture
def old(tmp_path):
    shutil.unpack_archive(OLD, tmp_path / "old")
    return tmp_path / "old"


def test_a_reader_refuses_an_old_folder_and_says_what_brings_it_up(old):
    with pytest.raises(FolderError, match=r"version 1.*csim run"):
        Reader(old)
    assert version_of(old) == 1


@pytest.mark.slow
def test_an_old_folder_is_migrated_and_goes_on_where_it_stopped(old):
    images = (load_digits().images * 15).astype(np.uint8)
    with Stream(old) as stream:  # does the steps after the snapshot again, and compares
        assert stream.position == 130
        assert stream.config.settings.ask_every == 10
        assert stream.config.picture_room == 2_000_000_000
        stream.take([Decoded(f"new {i}", images[i], png(images[i])) for i in range(200, 230)])
        stream.finish()
        assert stream.position == 160
    assert rows(old, "SELECT count(*) FROM questions WHERE status = 'answered'")[0][0] >= 20
    assert version_of(old) == 2
    with Stream(old) as stream:
        assert stream.position == 160


def version_of(folder):
    with closing(sqlite3.connect(folder / "stream.db")) as connection:
        return connection.execute("PRAGMA user_version").fetchone()[0]
