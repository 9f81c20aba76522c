"""A folder of version 1 is migrated by the engine, and read only after that."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from csim.errors import FolderError
from csim.folder import database
from csim.folder.layout import Config
from csim.folder.schema import VERSION


@pytest.fixture
def old(tmp_path):
    path = tmp_path / "stream.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(Path(__file__).with_name("version_1.sql").read_text())
    return path


def columns(path):
    """Return the columns of every table and view."""
    with closing(sqlite3.connect(path)) as connection:
        names = connection.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")
        return {
            name: [
                row[1:4]
                for row in connection.execute("SELECT * FROM pragma_table_info(?)", (name,))
            ]
            for (name,) in names.fetchall()
        }


def test_readers_refuse_version_1(old):
    with pytest.raises(FolderError, match=r"version 1.*csim run"):
        database.open_for_reading(old)


def test_a_migrated_folder_has_the_tables_of_a_new_one(old, tmp_path):
    database.open_for_engine(old).close()
    database.create(tmp_path / "new.db").close()
    assert columns(old) == columns(tmp_path / "new.db")


def test_migration_keeps_settings_and_adds_the_classes_of_today(old):
    database.open_for_engine(old).close()
    with closing(database.open_for_reading(old)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (VERSION,)
        config = Config.read(connection)
        assert (config.settings.ask_every, config.picture_room) == (50, 1000)
        classes = connection.execute("SELECT id, current_id, name FROM current_classes ORDER BY id")
        assert classes.fetchall() == [(0, 0, "heron"), (1, 0, "heron")]
        items = connection.execute("SELECT place, current_id, class_name FROM current_items")
        assert items.fetchall() == [(1, 0, "heron"), (2, None, None), (3, None, None)]
