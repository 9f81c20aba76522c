"""Progress of downloads: lines on standard error."""

from csim.cli.bench.progress import DownloadProgress


def test_a_download_is_told_a_tenth_at_a_time(capsys):
    tell = DownloadProgress()
    for done in range(0, 1001):
        tell("images.gz", 2600 * done, 2_600_000)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 11
    assert lines[0] == "downloading images.gz: 0 % of 2.6 MB"
    assert lines[-1] == "downloading images.gz: 100 % of 2.6 MB"


def test_a_download_of_unknown_size_is_told_in_steps_of_eight_megabytes(capsys):
    tell = DownloadProgress()
    for done in range(0, 30_000_000, 100_000):
        tell("images.gz", done, None)
    assert [line.split(": ")[1] for line in capsys.readouterr().err.splitlines()] == [
        "0.0 MB",
        "8.4 MB",
        "16.8 MB",
        "25.2 MB",
    ]


def test_two_files_are_told_apart(capsys):
    tell = DownloadProgress()
    tell("images.gz", 5, 10)
    tell("labels.gz", 5, 10)
    tell("labels.gz", 5, 10)
    assert len(capsys.readouterr().err.splitlines()) == 2
