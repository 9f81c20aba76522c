"""What a run writes about its workers, and who sees it."""

import os

from typer.testing import CliRunner

from csim.cli.main import app
from csim.folder.reader import Reader
from csim.folder.status import read_status
from csim.folder.stream import Stream
from csim.folder.workers import WorkerReport, WorkerRow, Workers

TWO = (WorkerRow("a", "1.0", 4), WorkerRow("b", "1.0", None))


class Embedded:
    """A source whose workers are the ones given."""

    def __init__(self, workers):
        self.workers = workers

    def __iter__(self):
        return iter(())

    def describe(self):
        return Workers(self.workers, lag=12, retries=1)


def seen(folder):
    with Reader(folder) as reader:
        return read_status(reader).workers


def test_workers_are_shown_while_the_process_that_has_them_runs_the_folder(asked):
    WorkerReport(asked / "stream.db", Embedded(TWO)).write()
    assert seen(asked) is None  # nobody runs it
    with Stream(asked, trainer=None):
        assert seen(asked) == Workers(TWO, lag=12, retries=1)
        text = " ".join(CliRunner().invoke(app, ["status", str(asked)]).stdout.split())
        assert "1 with csim 1.0 and model 4, 1 with csim 1.0 and no model yet" in text
        assert "12 images waiting, 1 retry" in text
        with Reader(asked) as reader:
            assert reader.workers.of(os.getpid() + 1) is None


def test_a_new_report_replaces_the_last_one_once_some_seconds_have_passed(asked):
    now = [0.0]
    source = Embedded(TWO)
    report = WorkerReport(asked / "stream.db", source, clock=lambda: now[0])
    with Stream(asked, trainer=None):
        report.write()
        source.workers = None
        report.write()
        assert seen(asked).workers == TWO
        now[0] = 60.0
        report.write()
        assert seen(asked).workers is None
        assert "queue" in CliRunner().invoke(app, ["status", str(asked)]).stdout


def test_a_source_without_workers_writes_nothing(asked):
    with Stream(asked, trainer=None):
        WorkerReport(asked / "stream.db", []).write()
        assert seen(asked) is None
