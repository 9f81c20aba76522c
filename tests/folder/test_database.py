import random
import shutil
import sqlite3
from contextlib import closing

import pytest
from digit_folder import crash
from folder.tables import dump, files

from csim.errors import BusyError, FolderError, StorageError
from csim.folder import database
from csim.folder.layout import Layout
from csim.folder.schema import APPLICATION, VERSION
from csim.folder.stream import Stream

WAYS = [database.open_for_reading, database.open_for_messages, database.open_for_engine]


@pytest.fixture
def path(folder):
    return Layout(folder).database


def values(connection, query):
    return [value for (value,) in connection.execute(query)]


def checked(path):
    """Return whether SQLite itself finds a database whole."""
    with closing(sqlite3.connect(path)) as connection:
        return values(connection, "PRAGMA integrity_check") == ["ok"]


def test_a_new_database_is_ours_durable_and_of_today(tmp_path):
    with closing(database.create(tmp_path / "new.db")) as connection:
        assert values(connection, "PRAGMA journal_mode") == ["wal"]
        assert values(connection, "PRAGMA synchronous") == [
            2
        ]  # FULL: a commit survives a power cut
    with closing(sqlite3.connect(tmp_path / "new.db")) as plain:
        assert values(plain, "PRAGMA application_id") == [APPLICATION]
        assert values(plain, "PRAGMA user_version") == [VERSION]
    assert checked(tmp_path / "new.db")


@pytest.mark.parametrize("way", [database.open_for_messages, database.open_for_engine])
def test_those_who_write_do_so_durably(path, way):
    with closing(way(path)) as connection:
        assert values(connection, "PRAGMA journal_mode") == ["wal"]
        assert values(connection, "PRAGMA synchronous") == [2]


@pytest.mark.parametrize("way", WAYS)
def test_a_missing_database_is_said_and_none_is_made(tmp_path, way):
    with pytest.raises(FolderError, match=r"is not a stream folder: there is no stream\.db"):
        way(tmp_path / "stream.db")
    (tmp_path / "stream.db").mkdir()
    with pytest.raises(FolderError, match="is not a stream folder"):
        way(tmp_path / "stream.db")
    assert list(tmp_path.rglob("*")) == [tmp_path / "stream.db"]


@pytest.mark.parametrize("way", WAYS)
def test_somebody_elses_database_is_refused_and_not_touched(tmp_path, way):
    with closing(sqlite3.connect(tmp_path / "stream.db")) as connection:
        connection.execute("CREATE TABLE theirs (value)")
        connection.commit()
    before = (tmp_path / "stream.db").read_bytes()
    with pytest.raises(FolderError, match="was not made by csim"):
        way(tmp_path / "stream.db")
    assert (tmp_path / "stream.db").read_bytes() == before
    assert list(tmp_path.iterdir()) == [tmp_path / "stream.db"]


@pytest.mark.parametrize("way", WAYS)
def test_a_newer_folder_is_refused_and_not_touched(path, way):
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {VERSION + 1}")
    before = path.read_bytes()
    with pytest.raises(
        FolderError,
        match=f"at most version {VERSION}, it has version {VERSION + 1}; use a newer csim",
    ):
        way(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "content", [b"", b"hello", b"\x00" * 4096, b"SQLite format 3\x00" + b"\xff" * 5000]
)
def test_a_file_that_is_no_database_is_refused_and_not_touched(tmp_path, way, content):
    (tmp_path / "stream.db").write_bytes(content)
    with pytest.raises(FolderError):
        way(tmp_path / "stream.db")
    assert (tmp_path / "stream.db").read_bytes() == content


def damaged(path, first, length, seed=0):
    content = bytearray(path.read_bytes())
    content[first : first + length] = random.Random(seed).randbytes(length)  # noqa: S311
    path.write_bytes(content)


@pytest.mark.parametrize("share", [0.0, 0.002, 0.01, 0.03, 0.1, 0.3, 0.5, 0.7, 0.9, 0.97])
def test_a_folder_with_a_damaged_database_says_so_or_works_and_is_never_made_worse(
    folder, path, share
):
    size = path.stat().st_size
    damaged(path, int(share * size), max(200, size // 50))
    before = files(folder)
    try:
        crash(Stream(folder, trainer=None))
    except FolderError as error:
        assert (  # noqa: PT017
            "damaged" in str(error) or "was not made by csim" in str(error) or "newer" in str(error)
        )
    assert files(folder) == before


@pytest.mark.parametrize("first", [0, 16, 100])
def test_a_damaged_header_is_refused_by_all(path, first):
    damaged(path, first, 60)
    before = path.read_bytes()
    for way in WAYS:
        with (
            pytest.raises(FolderError),
            closing(way(path)) as connection,
            database.told(connection),
        ):
            connection.execute("SELECT * FROM config").fetchall()
    assert path.read_bytes() == before


def test_half_a_database_is_refused(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(FolderError, match="damaged"):
        read_all(path)


def read_all(path):
    with closing(database.open_for_engine(path)) as connection, database.told(connection):
        for table in ("items", "pictures", "events", "steps"):
            connection.execute(f"SELECT * FROM {table}").fetchall()  # noqa: S608


def test_readers_see_the_last_commit_while_another_writes(path):
    with (
        closing(database.open_for_engine(path)) as writer,
        closing(database.open_for_reading(path)) as reader,
    ):
        query = "SELECT count(*) FROM troubles"
        with database.transaction(writer):
            writer.execute("INSERT INTO troubles VALUES ('a', 'damaged', 'because')")
            assert values(reader, query) == [0]
            with closing(
                database.open_for_reading(path)
            ) as another:  # opening does not wait either
                assert values(another, query) == [0]
        assert values(reader, query) == [1]


def test_a_reader_cannot_write(path):
    with closing(database.open_for_reading(path)) as reader:
        with pytest.raises(StorageError), database.transaction(reader):
            reader.execute("DELETE FROM items")
        assert values(reader, "SELECT count(*) FROM items")[0] > 0


def test_a_writer_that_waits_too_long_is_told_so(path, monkeypatch):
    monkeypatch.setattr(database, "_BUSY_TIMEOUT_SECONDS", 0.05)
    with (
        closing(database.open_for_engine(path)) as one,
        closing(database.open_for_messages(path)) as other,
    ):
        with (
            database.transaction(one),
            pytest.raises(BusyError, match="others have written to it"),
            database.transaction(other),
        ):
            pass
        with database.transaction(other):
            other.execute("INSERT INTO troubles VALUES ('a', 'damaged', 'because')")


def test_a_failed_transaction_leaves_nothing_and_the_connection_usable(path):
    with closing(database.open_for_engine(path)) as connection:
        with pytest.raises(KeyError):
            delete_and_fail(connection)
        assert values(connection, "SELECT count(*) FROM items")[0] > 0
        with database.transaction(connection):
            connection.execute("INSERT INTO troubles VALUES ('a', 'damaged', 'because')")
        assert values(connection, "SELECT count(*) FROM troubles") == [1]


def delete_and_fail(connection):
    with database.transaction(connection):
        connection.execute("DELETE FROM items")
        raise KeyError


def test_a_full_disk_is_said_and_changes_nothing(folder, path):
    before = dump(folder)
    with closing(database.open_for_engine(path)) as connection:
        (pages,) = values(connection, "PRAGMA page_count")
        connection.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(
            StorageError, match=r"stream\.db must be written to, which failed .*make room"
        ):
            write_much(connection)
        assert not connection.in_transaction
    assert dump(folder) == before
    assert checked(path)


def write_much(connection):
    with database.transaction(connection):
        connection.execute("INSERT INTO troubles VALUES ('a', 'damaged', 'because')")
        connection.execute("INSERT INTO pictures VALUES (zeroblob(32), zeroblob(9000000))")


STEP = "ALTER TABLE troubles ADD COLUMN place INTEGER;\nUPDATE troubles SET place = 7;\n"
NEXT = (
    "CREATE TABLE places (place INTEGER PRIMARY KEY) STRICT;\n"
    "INSERT INTO places SELECT place FROM troubles;\n"
)


@pytest.fixture
def older(path, monkeypatch):
    """Return a database of today, for a program that is two versions ahead."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("INSERT INTO troubles VALUES ('a', 'damaged', 'because')")
        connection.commit()
    monkeypatch.setattr(database, "VERSION", VERSION + 2)
    return path


def test_an_older_folder_is_brought_up_step_by_step(older, monkeypatch):
    monkeypatch.setattr(database, "MIGRATIONS", {VERSION: STEP, VERSION + 1: NEXT})
    for way in WAYS[:2]:  # who only reads or says something leaves it alone
        with pytest.raises(FolderError, match=r"`csim run .*` upgrades it"):
            way(older)
    for _ in range(2):  # the second time there is nothing to do
        with closing(database.open_for_engine(older)) as connection:
            assert values(connection, "PRAGMA user_version") == [VERSION + 2]
            assert values(connection, "SELECT place FROM places") == [7]
    with closing(database.open_for_reading(older)) as connection:
        assert values(connection, "SELECT place FROM troubles") == [7]


TWICE = f"{NEXT}{NEXT}"  # the second time, it is there already


@pytest.mark.parametrize("wrong", ["UPDATE nothing SET place = 1;\n", TWICE])
def test_a_migration_that_fails_leaves_the_folder_as_it_was(folder, older, monkeypatch, wrong):
    before = dump(folder)
    monkeypatch.setattr(database, "MIGRATIONS", {VERSION: STEP, VERSION + 1: wrong})
    with pytest.raises(sqlite3.DatabaseError):
        database.open_for_engine(older)
    assert dump(folder) == before
    with closing(sqlite3.connect(older)) as connection:
        assert values(connection, "PRAGMA user_version") == [VERSION]


def test_an_older_folder_whose_engine_runs_is_not_brought_up_under_it(
    folder, tmp_path, monkeypatch
):
    with Stream(folder, trainer=None):
        before = dump(folder)
        monkeypatch.setattr(database, "VERSION", VERSION + 1)
        monkeypatch.setattr(database, "MIGRATIONS", {VERSION: STEP})
        with pytest.raises(BusyError):
            Stream(folder, trainer=None)
        assert dump(folder) == before
    shutil.rmtree(folder)


def test_a_folder_whose_name_needs_quoting_opens(folder, tmp_path):
    odd = folder.rename(tmp_path / "a ?mode=ro #100% 'ü'")
    for way in WAYS:
        with closing(way(Layout(odd).database)) as connection:
            assert values(connection, "SELECT count(*) FROM config")[0] > 0
