import io
import json
import os
import re
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image
from report.small_log import EVENTS, NAMES, NASTY, Page
from rich.console import Console
from sklearn.datasets import load_digits

from csim.bench.datasets.digits import digits
from csim.bench.scenario import paper_stream
from csim.cli.demo import EXAMPLE, Narrator, Sample, settings

pytestmark = pytest.mark.slow  # most tests run the command


def demo(*arguments):
    command = [sys.executable, "-m", "csim", "demo", *map(str, arguments)]
    plain = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"}
    return subprocess.run(
        command, capture_output=True, text=True, timeout=600, check=False, env=plain
    )


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """Run the demo once, as a user would who keeps its output in a file."""
    out = tmp_path_factory.mktemp("demo") / "not there yet" / "<i>out"
    finished = demo("--out", out, "--json")
    assert finished.returncode == 0, finished.stderr
    figures = json.loads(finished.stdout.splitlines()[-1])
    return SimpleNamespace(stdout=finished.stdout, stderr=finished.stderr, out=out, figures=figures)


def test_the_demo_finds_all_classes_with_few_labels(done):
    assert done.figures["new_classes_found"] == 7
    assert done.figures["classes_learned"] == 10
    assert done.figures["accuracy"] > 90
    assert done.figures["labels_percent"] < 20
    assert done.figures["seconds"] > 0


def test_the_demo_leaves_one_whole_report_and_nothing_else(done):
    assert [path.name for path in done.out.iterdir()] == ["report.html"]
    page = Page((done.out / "report.html").read_text(encoding="utf-8"))
    assert page.problems == []
    assert page.count("article") == 24
    assert page.count("svg") == 3
    assert page.count("section") == 7
    assert done.figures["report"] == str(done.out / "report.html")


def test_the_report_and_the_last_line_tell_the_same_figures(done):
    words = Page((done.out / "report.html").read_text(encoding="utf-8")).words
    for name in ("accuracy", "labels_percent", "purity", "m_new", "f_new"):
        assert f"{done.figures[name]:.1f}\u00a0%" in words
    assert "csim demo --seed 0" in words
    assert {"ask_every", "update_labels", "update_steps"} <= set(words)


def test_every_new_class_is_told_when_found_and_when_learned(done):
    found = re.findall(
        r"image +[\d,]+ +(\d)  found after \d+ of its images, question \d+, group of \d+",
        done.stdout,
    )
    learned = re.findall(r"image +[\d,]+ +(\d)  learned after \d+ of its images", done.stdout)
    assert len(found) == len(set(found)) == 7
    assert sorted(found) == sorted(learned)


def test_output_that_is_kept_in_a_file_has_no_control_codes_and_no_noise(done):
    assert "\x1b" not in done.stdout
    assert "\r" not in done.stdout
    assert done.stderr == ""


def test_the_demo_prints_what_to_do_next(done):
    assert f"{done.out}/report.html" in done.stdout, "in one piece, to be copied"
    assert "csim demo --seed 1" in done.stdout
    assert "csim init birds --labelled known" in done.stdout
    for line in EXAMPLE.splitlines():
        assert line in done.stdout


def test_the_example_for_own_images_runs(tmp_path):
    bunch = load_digits()
    for index, (image, label) in enumerate(
        zip(bunch.images[:400], bunch.target[:400], strict=True)
    ):
        if label > 2:
            continue
        folder = tmp_path / ("stream" if label == 2 else f"known/{label}")
        folder.mkdir(parents=True, exist_ok=True)
        Image.fromarray((image * 15).astype(np.uint8)).save(folder / f"{index}.png")
    told = EXAMPLE + "print(sorted(summary.name for summary in classifier.classes))"
    finished = subprocess.run(
        [sys.executable, "-c", told],
        input="two\n" * 400, capture_output=True, text=True, timeout=600, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert finished.returncode == 0, finished.stderr
    assert finished.stdout.endswith("['0', '1', 'two']\n")


def test_a_folder_that_cannot_be_made_is_refused_at_once(tmp_path):
    taken = tmp_path / "taken"
    taken.write_text("mine")
    finished = demo("--out", taken / "deeper")
    assert finished.returncode == 2
    assert finished.stdout == ""
    assert len(finished.stderr.splitlines()) == 1
    assert "must be a folder that can be written to" in finished.stderr
    assert "--out" in finished.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]
    assert taken.read_text() == "mine"


def test_a_file_in_the_place_of_the_folder_is_refused_and_kept(tmp_path):
    taken = tmp_path / "taken"
    taken.write_text("mine")
    finished = demo("--out", taken)
    assert finished.returncode == 2
    assert "Traceback" not in finished.stderr
    assert taken.read_text() == "mine"


def test_a_place_where_nobody_may_write_is_refused():
    finished = demo("--out", "/proc/csim-demo")
    assert finished.returncode == 2
    assert "must be a folder that can be written to" in finished.stderr


def test_a_folder_in_the_place_of_the_report_is_refused_before_the_run(tmp_path):
    (tmp_path / "report.html").mkdir()
    finished = demo("--out", tmp_path)
    assert finished.returncode == 2
    assert "must be a file" in finished.stderr
    assert finished.stdout == ""


@pytest.mark.parametrize("seed", ["-1", "one", str(2**63)])
def test_a_seed_out_of_range_is_refused_and_nothing_is_made(tmp_path, seed):
    finished = demo("--seed", seed, "--out", tmp_path / "out")
    assert finished.returncode == 2
    assert "Traceback" not in finished.stderr
    assert list(tmp_path.iterdir()) == []


def test_help_shows_an_example_and_every_option():
    finished = demo("--help")
    assert finished.returncode == 0
    assert "Example: csim demo --seed 1" in finished.stdout
    for option in ("--seed", "--out", "--json"):
        assert option in finished.stdout


def narrate(console):
    stream = SimpleNamespace(warm_up_names=["crane", "gull", "gull"], names=NAMES)
    with Narrator(console, NAMES) as narrator:
        narrator.greet(stream)
        narrator.tell([event for event in EVENTS if 0 < event.position <= 7], 7)
        narrator.tell([event for event in EVENTS if event.position > 7], 12)


def test_a_class_is_told_once_when_found_and_once_when_learned():
    written = io.StringIO()
    narrate(Console(file=written, highlight=False, markup=False))
    assert written.getvalue().splitlines() == [
        "Known: crane, gull, from 3 labelled images. 2 other classes appear among the next 12.",
        "",
        f"  image     7   {NASTY}  found after 3 of its images, question 1, group of 3",
        f"  image     7   {NASTY}  learned after 3 of its images",
    ]


def test_on_a_terminal_a_bar_runs_to_the_end():
    written = io.StringIO()
    narrate(Console(file=written, force_terminal=True, width=100))
    bare = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", written.getvalue())
    assert "12/12 images" in bare
    assert "questions 3, new classes learned 1" in bare


def test_the_pictures_show_the_same_images_of_the_stream_for_a_seed():
    stream = paper_stream(digits(), known_share=0.3, seed=5)
    one = Sample(stream, 5)
    two = Sample(stream, 5)
    other = Sample(stream, 6)
    assert np.array_equal(one.indices, two.indices)
    assert not np.array_equal(one.indices, other.indices)
    assert len(set(one.indices.tolist())) == 600
    assert one.names == [stream.names[index] for index in one.indices]


def test_the_settings_of_the_demo_carry_the_seed():
    assert settings(9).seed == 9
    assert settings(9).to_dict() | {"seed": 0} == settings(0).to_dict()
