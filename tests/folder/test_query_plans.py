"""No query that runs for every batch, every status or every question reads a whole table."""

import io
import sqlite3
from contextlib import closing

import pytest
from digit_folder import arrivals, save
from folder.totals import class_totals

from csim.folder import inbox
from csim.folder.access import WriteAccess
from csim.folder.folding import KeptHistory
from csim.folder.layout import Layout
from csim.folder.log import LastStep
from csim.folder.output import Output
from csim.folder.query_plans import (
    read_everything,
    scans_during,
    scans_of_readers,
    table_scans,
)
from csim.folder.reader import Reader
from csim.folder.stream import Stream
from csim.folder.synthetic import add_images
from csim.messages import Named


def test_status_and_questions_read_no_whole_table(reference):
    with Reader(reference) as reader:
        statements, scans = scans_of_readers(reader)
        assert statements > 20
        assert scans == {}


def test_a_batch_with_predictions_answers_and_a_snapshot_reads_no_whole_table(asked, tmp_path):
    with Stream(asked, trainer=None, history=KeptHistory(images=50)) as stream:
        output = Output(stream.layout.database, tmp_path / "out.jsonl", io.BytesIO())
        inbox.post(stream._connection, [Named(1, "owl"), Named(99, "owl")], not_before=210)

        def work():
            for start in (200, 230, 260, 290):
                stream.known([arrival.id for arrival in arrivals(start)])
                stream.take(arrivals(start + 30)[start:])
                output.catch_up()
                save(stream)

        statements, scans = scans_during([stream._connection, output._connection], work)
        output.close()
        assert statements > 20
        assert scans == {}


def test_a_scan_would_be_seen(asked):
    with Reader(asked) as reader:
        connection = reader._query.connection
        assert table_scans(connection, "SELECT count(*) FROM items WHERE class_id = 3")
        assert table_scans(connection, "SELECT id FROM questions WHERE class_id IS NULL")
        assert not table_scans(connection, "SELECT id FROM items WHERE place = 3")


@pytest.fixture
def work_of(asked):
    """Return a function that counts SQLite's instructions for what a reader is asked."""

    def count(connection, work):
        done = [0]

        def tick():
            done[0] += 1

        connection.set_progress_handler(tick, 100)
        work()
        connection.set_progress_handler(None, 0)
        return done[0]

    return count


def test_status_and_new_lines_take_no_more_work_in_a_folder_a_hundred_times_as_large(
    asked, work_of
):
    def measure():
        with Reader(asked) as reader:
            connection = reader._query.connection
            last = reader.history.last_step()
            return (
                work_of(connection, lambda: read_everything(reader)),
                work_of(connection, lambda: list(reader.history.lines(last - 1))),
            )

    add(asked, batches=1)
    small = measure()
    add(asked, batches=100)
    large = measure()
    with closing(sqlite3.connect(Layout(asked).database)) as connection:
        assert connection.execute("SELECT count(*) FROM items").fetchone()[0] > 51_000
    assert large[0] < 1.1 * small[0] + 5
    assert large[1] < 1.1 * small[1] + 5
    assert class_totals(asked) == class_totals(asked, counted=True)


def add(folder, batches):
    """Add images that no engine decided."""
    access = WriteAccess(Layout(folder))
    row = access.connection.execute("SELECT max(step), max(position) FROM steps").fetchone()
    add_images(access.connection, LastStep(row[0], "observe", row[1]), batches)
    access.release()
