import json
import os
import subprocess
import sys

import pytest
from report.small_folder import copy_of, small_folder, truth
from report.small_log import Page
from typer.testing import CliRunner

from csim.cli.main import app

pytestmark = pytest.mark.slow


def run(*arguments):
    return CliRunner().invoke(app, ["report", *(str(argument) for argument in arguments)])


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "truth.csv"
    rows = "".join(
        f'"{item.replace(chr(34), chr(34) * 2)}",{name.replace(chr(34), "")}\n'
        for item, name in truth().items()
    )
    path.write_text("item,class\n" + rows)
    return path


def test_a_report_is_written_and_the_way_to_it_is_told(tmp_path):
    out = tmp_path / "not there yet" / "birds.html"
    done = run(small_folder(), "--out", out)
    assert done.exit_code == 0, done.output
    assert f"{out} shows {small_folder()}" in done.stdout
    assert os.listdir(out.parent) == ["birds.html"], "nothing is left beside it"
    page = Page(out.read_text(encoding="utf-8"))
    assert page.problems == []
    command = next(words for words in page.words if words.startswith("csim report"))
    assert command == f"csim report '{small_folder()}'"
    assert any(words.startswith("csim 0") and "torch" in words for words in page.words)


def test_json_tells_where_the_page_is_and_how_large(tmp_path):
    out = tmp_path / "r.html"
    told = json.loads(run(small_folder(), "--out", out, "--json").stdout)
    assert told["report"] == str(out)
    assert told["bytes"] == out.stat().st_size
    assert told["seconds"] > 0


def test_a_page_that_is_there_is_replaced_and_can_be_read_by_others(tmp_path):
    out = tmp_path / "r.html"
    out.write_text("old")
    out.chmod(0o600)
    before = os.umask(0o022)
    try:
        assert run(small_folder(), "--out", out).exit_code == 0
    finally:
        os.umask(before)
    assert out.read_text().startswith("<!DOCTYPE html>")
    assert out.stat().st_mode & 0o777 == 0o644


def test_with_the_truth_the_page_says_how_right_the_labels_are(tmp_path, table):
    out = tmp_path / "r.html"
    done = run(small_folder(), "--out", out, "--truth", table)
    assert done.exit_code == 0, done.output
    words = Page(out.read_text()).words
    assert "How right it is" in words
    assert any(f"--truth {table}" in text for text in words)


def test_a_truth_that_cannot_be_taken_leaves_no_page(tmp_path):
    bad = tmp_path / "bad.csv"
    bad.write_text("item,name\n")
    done = run(small_folder(), "--out", tmp_path / "r.html", "--truth", bad)
    assert done.exit_code == 2
    assert "there is no class" in done.stderr
    assert os.listdir(tmp_path) == ["bad.csv"]


def test_a_folder_that_is_none_leaves_no_page(tmp_path):
    done = run(tmp_path, "--out", tmp_path / "r.html")
    assert done.exit_code == 3
    assert "is not a stream folder" in done.stderr
    assert os.listdir(tmp_path) == []


def test_a_place_that_cannot_be_written_is_refused_before_anything_is_read(tmp_path):
    taken = tmp_path / "taken"
    taken.write_text("mine")
    done = run(tmp_path / "no folder at all", "--out", taken / "r.html")
    assert done.exit_code == 5
    assert "cannot be written" in done.stderr
    assert taken.read_text() == "mine"
    done = run(small_folder(), "--out", tmp_path)
    assert done.exit_code == 2
    assert "it is a folder" in done.stderr


def test_a_full_disk_is_told_and_the_old_page_stays(tmp_path):
    out = tmp_path / "r.html"
    out.write_text("old")
    words = (
        "import resource, sys; from pathlib import Path; from csim.errors import StorageError\n"
        "from csim.cli.report import _write\n"
        "import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "try: _write(Path(sys.argv[1]), b'x' * 5000)\n"
        "except StorageError as error: print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", words, out], capture_output=True, text=True, check=True
    )
    assert "cannot be written (File too large)" in done.stdout
    assert out.read_text() == "old"
    assert os.listdir(tmp_path) == ["r.html"]


def test_the_page_may_stand_in_the_folder_itself(tmp_path):
    root = copy_of(tmp_path)
    assert run(root, "--out", root / "report.html").exit_code == 0
    assert run(root, "--out", root / "report.html").exit_code == 0
    assert (root / "report.html").stat().st_size > 10_000
