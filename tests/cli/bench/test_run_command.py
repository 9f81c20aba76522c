"""`csim bench run`: output, files on disk, errors, and a killed run."""

import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
from pathlib import Path

import numpy as np
import pytest
from bench.nearest_mean import few_digits
from PIL import Image
from tiny_encoder import write_encoder
from typer.testing import CliRunner
from waiting import HANG_SECONDS, wait_for

from csim.bench.answers import Answers
from csim.bench.case import Case
from csim.bench.json_lines import read_lines
from csim.bench.results import CURVES
from csim.bench.run import run
from csim.cli.main import app
from csim.metrics.figures import summarise

SMALL = {
    **{"channels": 4, "hidden_units": 16, "embedding_size": 16, "epochs": 2, "update_steps": 5},
    **{"ask_every": 20, "buffer_size": 20, "update_size": 5},
}
PERCENTS = (
    "accuracy",
    "accuracy_at_arrival",
    "accuracy_unasked",
    "labels_percent",
    "m_new",
    "f_new",
)
OTHERS = (
    "forgetting",
    "seconds_training",
    "images_per_second",
    "peak_memory_mb",
    "classes_learned",
)


def settings(**changes):
    return [
        word for name, value in (SMALL | changes).items() for word in ("--set", f"{name}={value}")
    ]


@pytest.fixture
def bench_run(monkeypatch):
    """Return a runner of `csim bench run`, the data folder not being known."""
    monkeypatch.delenv("CSIM_DATA", raising=False)
    return lambda *words: CliRunner().invoke(app, ["bench", "run", *map(str, words)])


def last_line(done):
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout.splitlines()[-1])


def runs_in(folder):
    """Return the runs of a folder of results, by name."""
    lines = [read_lines(path) for path in (folder / "runs").glob("*.jsonl")]
    entries = {
        name: entry
        for each in lines
        if each.path.name != CURVES
        for name, entry in each.entries.items()
    }
    return {name: entry.content for name, entry in entries.items()}


def the_run_in(folder):
    (content,) = runs_in(folder).values()
    return content


def files_in(folder):
    return {
        path.relative_to(folder): path.is_file() and path.read_bytes() for path in folder.rglob("*")
    }


# What it gives.


def test_a_run_is_shown_and_left_on_disk(bench_run, tmp_path):
    out = tmp_path / "new" / "folder"
    done = bench_run("default", "digits", "--thin", 6, *settings(), "--seed", 4, "--out", out)
    assert done.exit_code == 0, done.output
    head, row, where = done.stdout.splitlines()
    assert re.split(r"  +", head.strip())[:4] == ["seed", "accuracy %", "at arrival %", "unasked %"]
    assert where == f"written to {out / 'runs'}"
    content = the_run_in(out)
    assert row.split()[:2] == ["4", f"{content['figures']['accuracy']:.4g}"]
    first, *_, last = done.stderr.splitlines()
    assert re.fullmatch(r"digits-default-r0\.3-thin6-\S+-seed4: 0 of [\d,]+ images", first)
    assert re.fullmatch(r"1/1 digits-default-r0\.3-thin6-\S+-seed4", last)


def test_the_last_line_tells_the_figures_of_the_run(bench_run, tmp_path):
    words = [
        "--thin",
        6,
        "--r",
        0.5,
        "--seed",
        2,
        "--delay",
        20,
        "--wrong",
        0.1,
        "--scenario",
        "together",
    ]
    words += [*settings(alpha=0.99), "--budget", "20/100", "--ask-at-end"]
    told = last_line(bench_run("paper", "digits", *words, "--out", tmp_path, "--json"))
    for name in PERCENTS + OTHERS:
        assert isinstance(told[name], int | float) or name == "forgetting", name
    assert all(0 <= told[name] <= 100 for name in PERCENTS)
    answers = Answers(delay=20, wrong=0.1)
    case = Case(
        "paper",
        "digits",
        2,
        0.5,
        scenario="together",
        budget=0.2,
        answers=answers,
        changes=SMALL | {"alpha": 0.99},
    )
    done = run(
        case.stream(few_digits()),
        case.open_method,
        answers=answers,
        seed=2,
        at_once=True,
    )
    for name, value in vars(summarise(done.events, done.truth)).items():
        assert told[name] == (value if value is None else pytest.approx(value, abs=1e-4)), name
    assert told["forgetting"] is done.forgetting is None
    assert 0 < told["labels_percent"] <= 20
    assert told["seed"] == 2
    assert (told["method"], told["data"], told["known_share"], told["scenario"]) == (
        "paper",
        "digits",
        0.5,
        "together",
    )
    assert told["answers"] == {"delay": 20, "jitter": 0, "missing": 0.0, "wrong": 0.1}
    assert told["ask_at_end"] is True


def test_the_papers_method_asks_nothing_at_the_end_unless_told_so(bench_run, tmp_path):
    words = [
        "paper",
        "digits",
        "--thin",
        3,
        *settings(buffer_size=1000),
        "--out",
        tmp_path,
        "--json",
    ]
    told = last_line(bench_run(*words))
    assert (told["labels_percent"], told["ask_at_end"]) == (0.0, False)  # its buffer holds 1,000
    assert "–" in bench_run(*words).stdout  # no forgetting: nothing is held out


def test_several_seeds_give_means_and_each_run(bench_run, tmp_path):
    words = [
        "random",
        "digits",
        "--thin",
        6,
        *settings(ask_every=50),
        "--out",
        tmp_path,
        "--json",
        "--jobs",
        1,
    ]
    told = last_line(bench_run(*words, "--seed", 0, "--seed", 1, "--seed", 0, "--seed", 3))
    assert [each["seed"] for each in told["runs"]] == [0, 1, 3]
    for name in PERCENTS + OTHERS:
        assert told[name] == pytest.approx(np.mean([each[name] for each in told["runs"]]))
    alone = last_line(bench_run(*words, "--seed", 1))
    assert {name: alone[name] for name in told["runs"][1]} == told["runs"][1]
    assert "runs" not in alone


def test_a_share_that_leaves_one_new_class_is_enough(bench_run, tmp_path):
    done = bench_run("default", "digits", "--r", 0.99, "--thin", 6, *settings(), "--out", tmp_path)
    assert done.exit_code == 0, done.output
    content = the_run_in(tmp_path)
    assert len(content["stream"]["known"]) == 9


def test_changed_settings_are_read_as_what_they_are(bench_run, tmp_path):
    words = settings(flip="true", mining="batch-hard", margin="0.5", beta="1e-3")
    assert bench_run("default", "digits", "--thin", 12, *words, "--out", tmp_path).exit_code == 0
    found = the_run_in(tmp_path)["settings"]
    changed = {name: found[name] for name in ("flip", "mining", "margin", "beta", "epochs")}
    assert changed == {
        "flip": True,
        "mining": "batch-hard",
        "margin": 0.5,
        "beta": 0.001,
        "epochs": 2,
    }


@pytest.fixture
def own(tmp_path):
    """Return own images in both forms."""
    data = few_digits()
    np.savez(tmp_path / "own.npz", images=data.images, labels=np.array(data.names).astype(int))
    for place, (image, name) in enumerate(zip(data.images, data.names, strict=True)):
        (tmp_path / "own" / name).mkdir(parents=True, exist_ok=True)
        Image.fromarray(image).save(tmp_path / "own" / name / f"{place:03}.png")
    return tmp_path


@pytest.mark.parametrize("form", ["own.npz", "own"])
def test_own_images_are_run(bench_run, own, form):
    words = ["default", "mine", "--data", own / form, *settings(), "--out", own / "out", "--json"]
    told = last_line(bench_run(*words))
    data = few_digits()
    assert told["images"] == len(Case("default", "mine").stream(data).images)
    assert told["classes_learned"] >= 3
    assert (told["data"], told["path"]) == ("mine", str(own / form))


def test_photographs_of_mixed_sizes_are_run_with_a_named_encoder(bench_run, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    rng = np.random.default_rng(0)
    for label in range(4):
        (tmp_path / "own" / str(label)).mkdir(parents=True)
        for index in range(12):
            colour = np.full((rng.integers(9, 30), 20, 3), 60 * label, np.uint8)
            colour[:4] = rng.integers(0, 256, (4, 20, 3))
            Image.fromarray(colour).save(tmp_path / "own" / str(label) / f"{index}.png")
    words = ["--data", tmp_path / "own", "--r", 0.5, "--set", "ask_every=10", "--out", tmp_path]
    named = bench_run("default", "mine", *words, "--encoder", write_encoder(tmp_path / "e.onnx"))
    assert named.exit_code == 0, named.output
    own = bench_run("default", "mine", *words, "--size", "16x12", *settings(ask_every=10))
    assert own.exit_code == 0, own.output
    both = bench_run(
        "default", "mine", *words, "--encoder", f"onnx:{tmp_path / 'e.onnx'}", "--size", 9
    )
    assert both.exit_code == 2
    assert "--size must be left out" in both.output
    shapes = {
        content["settings"]["encoder"][:4]: content["stream"]["image_shape"]
        for content in runs_in(tmp_path).values()
    }
    assert shapes == {"onnx": [8, 8, 3], "own": [16, 12, 3]}


def test_a_finished_run_is_shown_and_not_repeated(bench_run, tmp_path):
    words = ["default", "digits", "--thin", 6, *settings(), "--out", tmp_path, "--json"]
    first = bench_run(*words)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    again = bench_run(*words)
    assert again.stdout == first.stdout
    assert again.stderr == ""
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before
    assert {path.name for path in before} == {"runs", "digits.jsonl", "curves.jsonl"}


# What it refuses.


REFUSED = {
    "unknown method": (
        ["defualt", "digits"],
        ["paper, default, least-sure, random", "'defualt'", "is it default?"],
    ),
    "unknown data set": (
        ["default", "digit"],
        ["mnist, fashion-mnist", "'digit'", "did you mean digits?"],
    ),
    "r of 0": (
        ["default", "digits", "--r", "0"],
        ["(--r)", "at least 2 known", "got 0.0", "0.2 or more"],
    ),
    "r of 1": (["default", "digits", "--r", "1"], ["1 new", "got 1.0", "less than 1"]),
    "r of 0.05": (
        ["default", "digits", "--r", "0.05"],
        ["at least 2 known", "got 0.05", "10 classes choose 0.2"],
    ),
    "r of nan": (["default", "digits", "--r", "nan"], ["at least 2 known", "got nan"]),
    "r of letters": (["default", "digits", "--r", "abc"], ["--r must be a number", "'abc'"]),
    "budget of 2": (
        ["default", "digits", "--budget", "2"],
        ["--budget must lie between 0 and 1", "'2'"],
    ),
    "budget of letters": (
        ["default", "digits", "--budget", "x"],
        ["--budget must lie between 0 and 1", "'x'"],
    ),
    "three questions for two images": (
        ["default", "digits", "--budget", "3/2"],
        ["20/1000", "'3/2'"],
    ),
    "budget per no images": (["default", "digits", "--budget", "3/0"], ["20/1000", "'3/0'"]),
    "thin of 0": (
        ["default", "digits", "--thin", "0"],
        ["--thin must be a whole number, 1 or more", "'0'"],
    ),
    "thin of 1.5": (
        ["default", "digits", "--thin", "1.5"],
        ["--thin must be a whole number", "'1.5'"],
    ),
    "thin of 300": (
        ["default", "digits", "--thin", "300"],
        ["every class must have at least 2 images"],
    ),
    "unknown scenario": (
        ["default", "digits", "--scenario", "drfit"],
        ["paper, together", "'drfit'", "'drift'"],
    ),
    "wrong of 1.5": (
        ["default", "digits", "--wrong", "1.5"],
        ["wrong must lie between 0 and 1", "1.5"],
    ),
    "missing of -1": (
        ["default", "digits", "--missing", "-1"],
        ["missing must lie between 0 and 1", "-1"],
    ),
    "delay of -1": (
        ["default", "digits", "--delay", "-1"],
        ["--delay must be a whole number, 0 or more", "'-1'"],
    ),
    "jitter of x": (
        ["default", "digits", "--jitter", "x"],
        ["--jitter must be a whole number", "'x'"],
    ),
    "seed of -1": (
        ["default", "digits", "--seed", "-1"],
        ["--seed must be a whole number, 0 or more", "'-1'"],
    ),
    "huge seed": (["default", "digits", "--seed", "9" * 30], ["seed must lie between", "9" * 30]),
    "jobs of 0": (
        ["default", "digits", "--jobs", "0"],
        ["--jobs must be a whole number, 1 or more", "'0'"],
    ),
    "no setting": (
        ["default", "digits", "--set", "nonsense"],
        ["name=value", "epochs=5", "'nonsense'"],
    ),
    "unknown setting": (
        ["default", "digits", "--set", "unknown=1"],
        ["'unknown'", "docs/settings.md"],
    ),
    "nameless setting": (["default", "digits", "--set", "=1"], ["no setting is called ''"]),
    "epochs of -1": (
        ["default", "digits", "--set", "epochs=-1"],
        ["epochs must lie between 1 and", "-1"],
    ),
    "epochs of a list": (
        ["default", "digits", "--set", "epochs=[1]"],
        ["epochs must be a whole number", "[1]"],
    ),
    "empty epochs": (
        ["default", "digits", "--set", "epochs="],
        ["epochs must be a whole number", "''"],
    ),
    "seed as a setting": (
        ["default", "digits", "--set", "seed=1"],
        ["seed must not be among", "--seed"],
    ),
    "two settings at odds": (
        ["default", "digits", "--set", "update_size=1000"],
        ["less than store_size (1000)", "1000"],
    ),
    **{
        f"size of {size}": (
            ["default", "digits", "--size", size],
            [f"--size must be pixels, as 48 or 48x64 (height x width), at least 8×8; got {size!r}"],
        )
        for size in ("0", "7", "32x", "x32", "32x4", "-8", "")
    },
    "logistic regression without an encoder": (
        ["logistic", "digits", "--encoder", "own"],
        ["must be a pretrained one", "'own'"],
    ),
    "a baseline with an encoder": (
        ["ecsminer", "digits", "--encoder", "lite0"],
        ["ecsminer takes no encoder; leave out --encoder"],
    ),
    "no data folder": (["default", "mnist"], ["set CSIM_DATA to their folder, or pass --data-dir"]),
    "own images nowhere": (
        ["default", "mine", "--data", "nowhere.npz"],
        ["nowhere.npz does not exist", ".npz with"],
    ),
    "own images of no kind": (
        ["default", "mine", "--data", "notes.txt"],
        ["notes.txt must be an .npz or a folder", ".npz with"],
    ),
    "an empty folder": (
        ["default", "mine", "--data", "empty"],
        ["empty cannot be used as a data set"],
    ),
    "no arrays": (
        ["default", "mine", "--data", "bare.npz"],
        ["arrays images and labels", "it holds none"],
    ),
    "other arrays": (
        ["default", "mine", "--data", "other.npz"],
        ["arrays images and labels", "it holds x, y"],
    ),
    "images of floats": (
        ["default", "mine", "--data", "floats.npz"],
        ["whole numbers 0..255", "float64", "uint8"],
    ),
    "labels of floats": (
        ["default", "mine", "--data", "labels.npz"],
        ["labels must be", "float64"],
    ),
    "a pickle": (["default", "mine", "--data", "pickle.npz"], ["plain arrays"]),
    "a text called npz": (
        ["default", "mine", "--data", "text.npz"],
        ["not a complete .npz", "np.savez"],
    ),
    "a class of one": (
        ["default", "mine", "--data", "single.npz"],
        ["at least two images", "'9' has one"],
    ),
    "two classes": (
        ["default", "mine", "--data", "two.npz"],
        ["2 known classes and a new one", "2 in all"],
    ),
    "a file for a folder": (
        ["default", "digits", "--out", "notes.txt"],
        ["notes.txt must be a folder", "--out"],
    ),
    "a folder in a file": (
        ["default", "digits", "--out", "notes.txt/a"],
        ["must be a folder", "Not a directory"],
    ),
    "a place of the system": (
        ["default", "digits", "--out", "/proc/csim"],
        ["/proc/csim must be a folder", "--out"],
    ),
}


@pytest.fixture
def mess(tmp_path, monkeypatch):
    """Stand in a folder with all sorts of things that are no data sets."""
    monkeypatch.chdir(tmp_path)
    images = np.zeros((30, 8, 8), np.uint8)
    labels = np.arange(30) % 3
    Path("notes.txt").write_text("mine")
    Path("text.npz").write_text("no archive")
    Path("empty").mkdir()
    np.savez("bare.npz")
    np.savez("other.npz", x=images, y=labels)
    np.savez("floats.npz", images=images / 255, labels=labels)
    np.savez("labels.npz", images=images, labels=labels / 2)
    np.savez("pickle.npz", images=images, labels=np.array([{}] * 30, object))
    np.savez("single.npz", images=images, labels=[*labels[:-1], 9])
    np.savez("two.npz", images=images, labels=labels // 2)
    return tmp_path


@pytest.mark.parametrize(("words", "told"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_run_is_refused_in_one_line_and_nothing_is_touched(
    bench_run, mess, words, told
):
    before = files_in(mess)
    words = words if "--out" in words else [*words, "--out", "results"]
    done = bench_run(*words, "--json")
    assert done.exit_code == 2
    assert done.stdout == ""
    *progress, refusal = done.stderr.splitlines()
    assert refusal.startswith("csim: ")
    assert all(line.startswith("reading ") for line in progress), done.stderr
    for part in told:
        assert part in done.stderr
    assert files_in(mess) == before


def test_help_gives_an_example_and_every_option(bench_run):
    text = " ".join(bench_run("--help").output.split())
    assert "Example: csim bench run paper fashion-mnist --seed 0" in text
    for option in (
        "--r",
        "--thin",
        "--budget",
        "--scenario",
        "--delay",
        "--set",
        "--data",
        "--out",
        "--jobs",
        "--json",
    ):
        assert option in text


# How it goes on.


def started(*words, **options):
    command = [sys.executable, "-m", "csim", "bench", "run", *map(str, words)]
    return subprocess.Popen(command, env=os.environ | {"OMP_NUM_THREADS": "1"}, **options)


@pytest.mark.slow
def test_on_a_terminal_a_bar_shows_images_and_an_estimate(tmp_path):
    mine, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    words = [
        "default",
        "digits",
        *settings(hidden_units=100, epochs=8, update_labels=2, update_steps=40),
        "--out",
        tmp_path,
    ]  # some seconds
    process = started(*words, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    shown = "".join(iter(lambda: read_some(mine), ""))
    assert process.wait(HANG_SECONDS) == 0
    os.close(mine)
    bare = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown)
    count = the_run_in(tmp_path)["stream"]["images"]
    clock = r"\d:\d\d:\d\d"
    done = [
        int(part)
        for part in re.findall(rf"seed0, images [━╸╺]+ +(\d+)/{count} {clock} left {clock}", bare)
    ]
    assert len(set(done)) > 2
    assert done == sorted(done)
    assert re.search(rf"all runs, % [━╸╺]+ +\d+/100 {clock} left {clock}", bare)
    assert "written to" in bare


def read_some(terminal):
    try:
        return os.read(terminal, 4096).decode(errors="replace")
    except OSError:  # the other side has closed it
        return ""


KILLED = ["default", "digits", *settings(ask_every=50, epochs=4, update_steps=20)]
SEEDS = ["--seed", 0, "--seed", 1]


def family_of(pid):
    """Return a process and its children, but for what has ended and nobody has asked about."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, parent, *_ = stat.read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if pid in (int(stat.parent.name), int(parent)) and state != "Z":
            found.append(int(stat.parent.name))
    return found


def has_torch(pid):
    """Tell whether a process has loaded torch: it is about to work."""
    try:
        return "libtorch" in Path(f"/proc/{pid}/maps").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


def lasting(folder):
    """Return what must be the same however often a run was killed, by name."""
    return {
        name: {key: value for key, value in content.items() if key not in ("cost", "origin")}
        for name, content in runs_in(folder).items()
    }


@pytest.mark.slow
def test_a_run_that_is_killed_and_started_again_ends_as_if_nothing_had_happened(
    bench_run, tmp_path
):
    assert bench_run(*KILLED, *SEEDS, "--jobs", 1, "--out", tmp_path / "calm").exit_code == 0
    out = tmp_path / "killed"

    # Only the parent is killed, in the middle of two runs at once.
    process = started(*KILLED, *SEEDS, "--jobs", 2, "--out", out, stderr=subprocess.DEVNULL)
    wait_for(lambda: sum(map(has_torch, family_of(process.pid))) == 3)  # itself and two workers
    workers = family_of(process.pid)
    assert runs_in(out) == {}
    process.kill()
    process.wait()
    wait_for(lambda: not any(family_of(worker) for worker in workers))

    # All is killed when the first result is there, and a half file lies about.
    process = started(
        *KILLED,
        *SEEDS,
        "--jobs",
        1,
        "--out",
        out,
        start_new_session=True,
        stderr=subprocess.DEVNULL,
    )
    wait_for(lambda: len(runs_in(out)) == 1 or process.poll() is not None)
    os.killpg(process.pid, signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    before = runs_in(out)
    (out / "runs" / ".half.part").write_text('{"name": "digits-def')

    # The third time it comes to its end.
    done = bench_run(*KILLED, *SEEDS, "--jobs", 1, "--out", out)
    assert done.exit_code == 0, done.output
    assert len(re.findall(r"^1/1 ", done.stderr, re.MULTILINE)) == 1
    assert before.items() <= runs_in(out).items()
    assert lasting(out) == lasting(tmp_path / "calm")
    names = [{path.name for path in (each / "runs").iterdir()} for each in (out, tmp_path / "calm")]
    assert names[0] == names[1] == {"digits.jsonl", "curves.jsonl"}
