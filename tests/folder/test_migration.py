"""A folder of an older version goes on today.

Both were stopped: their searches compared other images, so only the csim that wrote a folder could
replay the steps after its last snapshot.
"""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from digit_folder import png, rows
from folder.totals import class_totals, picture_bytes
from sklearn.datasets import load_digits

from csim.errors import FolderError
from csim.folder import database
from csim.folder.reader import Reader
from csim.folder.schema import VERSION
from csim.folder.stream import Stream
from csim.sources.arrival import Decoded

HERE = Path(__file__).parent
# By version: images of the stream, answers. Each has 24 labelled digits.
OLD = {1: (130, 20), 2: (130, 10)}


@pytest.fixture(params=OLD)
def version(request):
    return request.param


@pytest.fixture
def old(tmp_path, version):
    shutil.unpack_archive(HERE / f"version-{version}.zip", tmp_path / "old")
    return tmp_path / "old"


def test_a_reader_refuses_an_old_folder_and_says_what_brings_it_up(old, version):
    with pytest.raises(FolderError, match=rf"version {version}.*csim run"):
        Reader(old)
    assert version_of(old) == version


@pytest.mark.slow
def test_an_old_folder_is_migrated_and_goes_on_where_it_stopped(old, version):
    position, answers = OLD[version]
    images = (load_digits().images * 15).astype(np.uint8)
    with Stream(old) as stream:
        assert stream.position == position
        assert stream.config.settings.ask_every == 10
        assert stream.config.picture_room == 2_000_000_000
        stream.take([Decoded(f"new {i}", images[i], png(images[i])) for i in range(200, 230)])
        stream.finish()
        assert stream.position == position + 30
    times = rows(old, "SELECT place, time FROM items JOIN steps USING (step) WHERE place > 0")
    assert all(place <= position or time is not None for place, time in times)
    assert rows(old, "SELECT count(*) FROM questions WHERE answered IS NOT NULL") == [(0,)]
    answered = rows(old, "SELECT count(*) FROM questions WHERE status = 'answered'")[0][0]
    assert answered >= answers
    assert version_of(old) == VERSION
    with Stream(old) as stream:
        assert stream.position == position + 30


def test_migration_counts_the_images_and_pictures_that_are_there(old):
    database.open_for_engine(old / "stream.db").close()
    assert class_totals(old) == class_totals(old, counted=True) != {}
    assert picture_bytes(old) == picture_bytes(old, counted=True) > 0


def test_a_migration_that_is_killed_leaves_the_old_version(old, version):
    before = schema_of(old)
    with closing(sqlite3.connect(old / "stream.db")) as connection:
        connection.execute("CREATE TABLE folded_until (x)")  # stops the migration half-way
    with pytest.raises(sqlite3.OperationalError, match="folded_until"):
        database.open_for_engine(old / "stream.db")
    assert version_of(old) == version
    with closing(sqlite3.connect(old / "stream.db")) as connection:
        connection.execute("DROP TABLE folded_until")
    assert schema_of(old) == before
    database.open_for_engine(old / "stream.db").close()
    assert version_of(old) == VERSION


def version_of(folder):
    with closing(sqlite3.connect(folder / "stream.db")) as connection:
        return connection.execute("PRAGMA user_version").fetchone()[0]


def schema_of(folder):
    with closing(sqlite3.connect(folder / "stream.db")) as connection:
        return sorted(connection.execute("SELECT name, sql FROM sqlite_master"), key=repr)
