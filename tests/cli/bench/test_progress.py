"""Progress of downloads, of reading and of runs: lines on standard error."""

import io

from rich.console import Console
from rich.progress import Progress

from csim.bench.case import Case
from csim.cli.bench.progress import LoadProgress, RunProgress


def test_a_download_is_told_a_tenth_at_a_time(capsys):
    tell = LoadProgress()
    for done in range(0, 1001):
        tell("images.gz", 2600 * done, 2_600_000)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 11
    assert lines[0] == "downloading images.gz: 0 % of 2.6 MB"
    assert lines[-1] == "downloading images.gz: 100 % of 2.6 MB"


def test_a_download_of_unknown_size_is_told_in_steps_of_eight_megabytes(capsys):
    tell = LoadProgress()
    for done in range(0, 30_000_000, 100_000):
        tell("images.gz", done, None)
    assert [line.split(": ")[1] for line in capsys.readouterr().err.splitlines()] == [
        "0.0 MB",
        "8.4 MB",
        "16.8 MB",
        "25.2 MB",
    ]


def test_two_files_are_told_apart(capsys):
    tell = LoadProgress()
    tell("images.gz", 5, 10)
    tell("labels.gz", 5, 10)
    tell("labels.gz", 5, 10)
    assert len(capsys.readouterr().err.splitlines()) == 2


class Clock:
    """A clock that a test moves."""

    def __init__(self):
        self.seconds = 1000.0

    def __call__(self):
        return self.seconds


def test_reading_a_folder_is_told_every_five_seconds(capsys):
    clock = Clock()
    tell = LoadProgress(clock)
    for done in range(1, 5001):
        tell("birds", done, 5000, "images")
        clock.seconds += 1 / 256
    assert capsys.readouterr().err.splitlines() == [
        "reading birds: 1,281 of 5,000 images",
        "reading birds: 2,561 of 5,000 images",
        "reading birds: 3,841 of 5,000 images",
    ]


def test_a_run_without_a_terminal_is_told_every_ten_seconds():
    clock = Clock()
    printed = io.StringIO()
    console = Console(file=printed, width=200)
    case = Case("default", "digits")
    with Progress(console=console, disable=True) as bars:
        tell = RunProgress(console, bars, "images", clock)
        for done in range(101):
            tell([case], 0, done, 100)
            clock.seconds += 0.25
    assert printed.getvalue().splitlines() == [
        f"{case.name}: 0 of 100 images",
        f"{case.name}: 40 of 100 images",
        f"{case.name}: 80 of 100 images",
        f"1/1 {case.name}",
    ]
