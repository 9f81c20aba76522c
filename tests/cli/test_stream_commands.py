"""The commands of a stream folder, as an operator uses them."""

import json
import os
import shutil
import signal
import subprocess
import sys

import pytest
from digit_folder import SETTINGS, arrivals, make_folder, name_of, rows
from digit_stream import digit_stream
from PIL import Image
from typer.testing import CliRunner
from waiting import wait_for

from csim.cli.main import app
from csim.folder.stream import Stream

pytestmark = pytest.mark.slow


def csim(*arguments, **options):
    return CliRunner().invoke(app, [str(argument) for argument in arguments], **options)


def as_json(*arguments):
    done = csim(*arguments, "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    """Return a folder of PNG files: known/CLASS/ and incoming/."""
    root = tmp_path_factory.mktemp("photos")
    stream = digit_stream()
    for place, (image, name) in enumerate(zip(stream.warm_up, stream.warm_up_names, strict=True)):
        (root / "known" / name).mkdir(parents=True, exist_ok=True)
        Image.fromarray(image.astype("uint8")).save(root / "known" / name / f"{place}.png")
    (root / "incoming").mkdir()
    for place, image in enumerate(stream.images[:300], start=1):
        Image.fromarray(image.astype("uint8")).save(root / "incoming" / f"image {place:04d}.png")
    return root


@pytest.fixture(scope="module")
def fresh(tmp_path_factory):
    return make_folder(tmp_path_factory.mktemp("fresh") / "stream")


@pytest.fixture
def folder(fresh, tmp_path):
    """Return a stream folder that has taken 200 images, with questions open."""
    copy = shutil.copytree(fresh, tmp_path / "stream")
    with Stream(copy, trainer=None) as stream:
        stream.take(arrivals(200))
    return copy


CHANGED = (
    "epochs",
    "hidden_units",
    "embedding_size",
    "recent",
    "ask_every",
    "channels",
    "update_steps",
)
SETS = [word for name in CHANGED for word in ("--set", f"{name}={getattr(SETTINGS, name)}")]


def test_init_makes_a_folder_that_knows_the_labelled_classes(photos, tmp_path):
    made = as_json("init", tmp_path / "s", "--labelled", photos / "known", *SETS)
    assert made["classes"] == sorted(set(digit_stream().warm_up_names))
    assert made["shape"] == [8, 8]
    assert rows(tmp_path / "s", "SELECT count(*) FROM items") == [(made["images"],)]


def test_init_refuses_a_folder_that_is_there(photos, folder):
    before = (folder / "stream.db").read_bytes()
    done = csim("init", folder, "--labelled", photos / "known")
    assert done.exit_code == 2
    assert "must not exist yet" in done.stderr
    assert (folder / "stream.db").read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--size", "big"], "--size must be pixels"),
        (["--size", "4"], "at least 8×8"),
        (["--preset", "fast"], "default or paper"),
        (["--budget", "2"], "between 0 and 1"),
        (["--picture-room", "lots"], "as 500MB or 2GB"),
        (["--keep", "2GB"], "--picture-room 2GB"),
        (["--set", "look=20"], "ask_every"),
        (["--set", "no_such=1"], "no setting is called"),
        (["--set", "epochs=-1"], "epochs"),
        (["--retrain-lag", "-1"], "--retrain-lag"),
    ],
)
def test_init_refuses_what_cannot_be(photos, tmp_path, arguments, words):
    done = csim("init", tmp_path / "s", "--labelled", photos / "known", *arguments)
    assert done.exit_code == 2
    assert words in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_init_names_a_labelled_file_that_is_no_image(photos, tmp_path):
    (tmp_path / "known" / "a").mkdir(parents=True)
    (tmp_path / "known" / "a" / "x.png").write_text("no image")
    done = csim("init", tmp_path / "s", "--labelled", tmp_path / "known")
    assert done.exit_code == 2
    assert "x.png" in done.stderr


def test_run_takes_all_images_once_and_writes_a_line_for_each(fresh, photos, tmp_path):
    stream = shutil.copytree(fresh, tmp_path / "s")
    out = tmp_path / "out.jsonl"
    first = as_json("run", stream, photos / "incoming", "--out", out, "--limit", 100)
    assert (first["taken"], first["known"], first["position"]) == (100, 0, 100)
    second = as_json("run", stream, photos / "incoming", "--out", out)
    assert (second["taken"], second["known"], second["position"]) == (200, 100, 300)
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    arrived = [line["item"] for line in lines if line["decision"] in ("accepted", "rejected")]
    assert arrived == sorted(file.name for file in (photos / "incoming").iterdir())
    assert len({line["line"] for line in lines}) == len(lines)
    assert {line["class"] for line in lines} - {None} <= set(digit_stream().warm_up_names)


def test_predictions_on_standard_output_stand_alone_there(fresh, photos, tmp_path):
    stream = shutil.copytree(fresh, tmp_path / "s")
    command = [
        sys.executable,
        "-m",
        "csim",
        "run",
        str(stream),
        str(photos / "incoming"),
        "--limit",
        "60",
        "--out",
        "-",
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=True)
    assert [json.loads(line)["position"] for line in done.stdout.splitlines()][:60] == list(
        range(1, 61)
    )
    assert "60 images taken" in done.stderr


def test_files_that_cannot_be_read_are_counted_by_kind(fresh, photos, tmp_path):
    stream = shutil.copytree(fresh, tmp_path / "s")
    incoming = tmp_path / "in"
    incoming.mkdir()
    (incoming / "a.png").write_bytes(b"")
    (incoming / "b.png").write_text("words")
    shutil.copy(photos / "incoming" / "image 0001.png", incoming / "c.png")
    whole = (photos / "incoming" / "image 0002.png").read_bytes()
    (incoming / "d.png").write_bytes(whole[: len(whole) // 2])
    done = csim("run", stream, incoming)
    assert done.exit_code == 0
    assert "3 files could not be read" in done.stderr
    assert as_json("status", stream)["troubles"] == {"damaged": 1, "empty": 1, "not-an-image": 1}
    (incoming / "d.png").write_bytes(whole)
    again = as_json("run", stream, incoming)
    assert (again["taken"], again["known"], again["troubles"]) == (1, 1, 2)
    assert as_json("status", stream)["troubles"] == {"empty": 1, "not-an-image": 1}


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM])
def test_a_run_that_is_stopped_ends_cleanly_and_goes_on_later(fresh, tmp_path, signum):
    stream = shutil.copytree(fresh, tmp_path / "s")
    incoming = tmp_path / "in"
    incoming.mkdir()
    command = [sys.executable, "-m", "csim", "run", str(stream), str(incoming), "--watch"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    Image.fromarray(digit_stream().images[0].astype("uint8")).save(incoming / "one.png")
    wait_for(lambda: rows(stream, "SELECT 1 FROM items WHERE place > 0"))
    process.send_signal(signum)
    _, words = process.communicate(timeout=600)
    assert process.returncode == 130
    assert "repeat the command to continue" in words
    assert rows(stream, "SELECT id FROM items WHERE place > 0") == [("one.png",)]
    assert as_json("run", stream, incoming)["known"] == 1


def test_status_shows_what_an_operator_wants_to_know(folder):
    found = as_json("status", folder)
    assert found["position"] == 200
    assert found["engine"] is None
    assert found["questions"] == {"open": rows(folder, "SELECT count(*) FROM questions")[0][0]}
    assert [row["name"] for row in found["classes"]] == sorted(set(digit_stream().warm_up_names))
    shown = csim("status", folder).stdout
    assert "200" in shown
    assert "csim label" in shown


def test_answers_from_a_file_are_taken_once(folder, tmp_path):
    questions = as_json("label", folder)
    answers = tmp_path / "answers.jsonl"
    answers.write_text(
        "".join(
            json.dumps({"question": q["question"], "name": name_of(q["representative"])}) + "\n"
            for q in questions
        )
    )
    for _ in range(2):
        outcome = as_json("label", folder, "--from", answers)
        assert outcome["answers"] == len(questions) > 2
        assert outcome["refused"] == outcome["waiting"] == 0
    assert as_json("label", folder) == []
    assert rows(folder, "SELECT count(*) FROM inbox") == [(len(questions),)]


def test_a_person_answers_skips_and_takes_back_in_the_terminal(folder):
    first, second, third = (q["question"] for q in as_json("label", folder)[:3])
    done = csim("label", folder, input="nine\nk\nu\nten\nten\nq\n")
    assert done.exit_code == 0, done.output
    kinds = rows(
        folder, "SELECT kind, json_extract(body, '$.question_id') FROM inbox ORDER BY number"
    )
    assert kinds == [
        ("Named", first),
        ("Skip", second),
        ("Undo", first),
        ("Named", first),
        ("Named", third),
    ]
    states = dict(rows(folder, "SELECT id, status FROM questions"))
    assert (states[first], states[second], states[third]) == ("answered", "skipped", "answered")
    assert "ten" in [row["name"] for row in as_json("classes", "list", folder)]


def test_a_guess_is_taken_by_its_number(folder):
    question = as_json("label", folder)[0]
    csim("label", folder, input="1\nq\n")
    named = rows(folder, "SELECT json_extract(body, '$.name') FROM inbox")
    assert named == [(question["guesses"][0]["name"],)]


def test_classes_are_added_renamed_merged_and_removed(folder):
    names = [row["name"] for row in as_json("classes", "list", folder)]
    assert csim("classes", "add", folder, "heron").exit_code == 0
    assert csim("classes", "rename", folder, names[0], "zero").exit_code == 0
    assert csim("classes", "merge", folder, names[1], "zero").exit_code == 0
    assert csim("classes", "remove", folder, names[2]).exit_code == 0
    assert [row["name"] for row in as_json("classes", "list", folder)] == ["zero", "heron"]


def test_a_class_that_is_not_there_is_one_clear_line(folder):
    done = csim("classes", "rename", folder, "nobody", "somebody")
    assert done.exit_code == 2
    assert "no class is called 'nobody'" in done.stderr


def test_undo_takes_back_the_last_answer(folder):
    question = as_json("label", folder)[0]["question"]
    csim("label", folder, input="nine\nq\n")
    assert question not in [row["question"] for row in as_json("label", folder)]
    assert csim("undo", folder).exit_code == 0
    assert rows(folder, "SELECT status FROM questions WHERE id = ?", question) == [("undone",)]
    assert question in [row["question"] for row in as_json("label", folder)]
    done = csim("undo", folder)
    assert done.exit_code == 2
    assert "no question has an answer yet" in done.stderr


def test_a_backup_is_a_folder_of_its_own(folder, tmp_path):
    as_json("backup", folder, tmp_path / "copy")
    with Stream(tmp_path / "copy", trainer=None) as stream:
        stream.take(arrivals(210)[200:])
        assert stream.position == 210
    assert as_json("status", folder)["position"] == 200
    assert csim("backup", folder, tmp_path / "copy").exit_code == 3


def test_while_a_stream_runs_answers_wait_and_a_second_engine_is_refused(folder, photos):
    with Stream(folder, trainer=None) as stream:
        question = as_json("label", folder)[0]["question"]
        done = csim("classes", "add", folder, "heron")
        assert "as soon as the running engine takes it" in done.stdout
        assert as_json("status", folder)["engine"] == os.getpid()
        refused = csim("run", folder, photos / "incoming")
        assert refused.exit_code == 4
        assert str(os.getpid()) in refused.stderr
        csim("label", folder, input="heron\nq\n")
        assert rows(folder, "SELECT status FROM questions WHERE id = ?", question) == [("open",)]
        stream.attend()
    assert rows(folder, "SELECT status FROM questions WHERE id = ?", question) == [("answered",)]


@pytest.mark.parametrize("command", ["status", "undo", "label", "run"])
def test_what_is_no_stream_folder_is_one_clear_line_and_stays_as_it_is(tmp_path, command):
    done = csim(command, tmp_path)
    assert done.exit_code == 3
    assert "is not a stream folder" in done.stderr
    assert list(tmp_path.iterdir()) == []
