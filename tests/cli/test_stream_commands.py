"""The commands of a stream folder, as an operator uses them."""

import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys

import numpy as np
import pytest
from digit_folder import SETTINGS, arrivals, make_folder, name_of, rows
from digit_stream import digit_stream
from folder.story import tell
from PIL import Image
from typer.testing import CliRunner
from waiting import hear_signals, wait_for

from csim.cli.main import app
from csim.folder.reader import Reader
from csim.folder.send import send
from csim.folder.stream import Stream
from csim.messages import Named
from csim.settings import Settings

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


def test_init_searches_less_often_on_a_fast_stream(photos, tmp_path):
    slow = ("init", tmp_path / "slow", "--labelled", photos / "known", *SETS)
    fast = ("init", tmp_path / "fast", "--labelled", photos / "known", *SETS)
    as_json(*slow, "--images-per-second", 1)
    as_json(*fast, "--images-per-second", 250)
    for folder, every in (("slow", SETTINGS.ask_every), ("fast", 100)):
        with Reader(tmp_path / folder) as reader:
            assert reader.config.settings.ask_every == every


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
        (["--size", "100000"], "at most 262,144 pixels (512×512), got 100000×100000"),
        (["--size", "8x99999999999"], "at most 262,144 pixels"),
        (["--preset", "fast"], "default or paper"),
        (["--budget", "2"], "between 0 and 1"),
        (["--picture-room", "lots"], "as 500MB or 2GB"),
        (["--keep", "2GB"], "--picture-room 2GB"),
        (["--set", "look=20"], "ask_every"),
        (["--set", "no_such=1"], "no setting is called"),
        (["--set", "epochs=-1"], "epochs"),
        (["--retrain-lag", "-1"], "--retrain-lag"),
        (["--bits", "17"], "bits must lie between 9 and 16"),
    ],
)
def test_init_refuses_what_cannot_be(photos, tmp_path, arguments, words):
    done = csim("init", tmp_path / "s", "--labelled", photos / "known", *arguments)
    assert done.exit_code == 2
    assert words in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("kept", "words"),
    [({"0": 9}, "at least two classes, got 1"), ({"0": 9, "7": 1}, "'7' has one")],
)
def test_init_refuses_what_fit_refuses(photos, tmp_path, kept, words):
    for name, count in kept.items():
        (tmp_path / "known" / name).mkdir(parents=True)
        for file in sorted((photos / "known" / name).iterdir())[:count]:
            shutil.copy(file, tmp_path / "known" / name)
    done = csim("init", tmp_path / "s", "--labelled", tmp_path / "known")
    assert done.exit_code == 2
    assert words in done.stderr
    assert not (tmp_path / "s").exists()


def test_init_warns_of_dark_sixteen_bit_files_and_takes_their_depth(tmp_path):
    known = tmp_path / "known"
    for index, image in enumerate(digit_stream().warm_up[:40]):
        folder = known / ("odd" if index % 2 else "even")
        folder.mkdir(parents=True, exist_ok=True)
        Image.fromarray(image.astype("uint16") * 16).save(folder / f"{index}.png")  # 12 bits
    done = csim("init", tmp_path / "dark", "--labelled", known, *SETS)
    assert "use only 12 of 16 bits" in done.stderr
    assert "--bits 12" in done.stderr
    done = csim("init", tmp_path / "bright", "--labelled", known, *SETS, "--bits", 12)
    assert done.exit_code == 0
    assert "bits" not in done.stderr
    with Reader(tmp_path / "bright") as reader:
        assert reader.config.bits == 12
        kept = [reader.picture(item.place) for item in reader.items()]
    assert max(np.asarray(Image.open(io.BytesIO(file))).max() for file in kept) > 200


@pytest.mark.parametrize("count", [3, 520])  # of files: warned at the end, or before it, and once
def test_run_warns_of_dark_sixteen_bit_files_once(photos, folder, tmp_path, count):
    (tmp_path / "in").mkdir()
    for index, image in enumerate(digit_stream().images[:count]):
        deep = image.astype("uint16") * 4  # 10 bits
        Image.fromarray(deep).save(tmp_path / "in" / f"{index}.png")
    done = csim("run", folder, tmp_path / "in")
    assert done.stderr.count("use only 10 of 16 bits") == 1
    assert "--bits 10" in done.stderr
    assert "bits" not in csim("run", folder, photos / "incoming").stderr


def test_init_names_a_labelled_file_that_is_no_image(photos, tmp_path):
    shutil.copytree(photos / "known", tmp_path / "known")
    (tmp_path / "known" / "0" / "x.png").write_text("no image")
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


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_run_that_is_stopped_ends_cleanly_and_goes_on_later(fresh, tmp_path, signum):
    stream = shutil.copytree(fresh, tmp_path / "s")
    incoming = tmp_path / "in"
    incoming.mkdir()
    command = [sys.executable, "-m", "csim", "run", str(stream), str(incoming), "--watch"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = subprocess.Popen(command, text=True, preexec_fn=hear_signals, **pipes)
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


def test_init_spends_a_tenth_of_the_budget_on_the_audit_unless_told_otherwise(photos, tmp_path):
    for options, audit in (
        ([], 0.1),
        (["--audit", "0"], 0.0),
        (["--set", "audit=0.3"], 0.3),
        (["--preset", "paper"], 0.0),
    ):
        stream = tmp_path / f"s {audit} {len(options)}"
        csim("init", stream, "--labelled", photos / "known", *SETS, *options)
        with Reader(stream) as reader:
            assert reader.config.settings.audit == audit


def test_status_and_run_say_what_was_learned_and_how_many_labels_are_right(photos, tmp_path):
    stream = tmp_path / "s"
    csim("init", stream, "--labelled", photos / "known", *SETS, "--budget", "0.2", "--audit", "0.5")
    csim("run", stream, photos / "incoming")
    before = as_json("status", stream)
    assert before["audit"] is None
    assert before["open_audit"] > 5
    shown = " ".join(csim("status", stream).stdout.split())
    assert f"not known yet; answer the {before['open_audit']} questions of the audit" in shown
    assert f"questions left to answer, {before['open_audit']} of them for the audit" in shown
    answers = tmp_path / "answers.jsonl"
    lines = [
        json.dumps({"question": q["question"], "name": name_of(q["representative"][:-4])}) + "\n"
        for q in as_json("label", stream)
    ]
    answers.write_text("".join(lines))
    csim("label", stream, "--from", answers)
    ran = csim("run", stream)
    assert "0 images taken" not in ran.stdout
    assert re.search(r"no new images, 300 in all.*\n\d+ models? trained, \d+ labels", ran.stdout)
    found = as_json("status", stream)
    assert found["trained"] > 0
    assert found["revised"] > 0
    assert found["audit"]["answers"] >= before["open_audit"]
    assert 0 <= found["audit"]["today"]["low"] < found["audit"]["today"]["high"] <= 100
    shown = " ".join(csim("status", stream).stdout.split())
    assert re.search(r"accuracy today about \d+ %, between \d+ and \d+ %", shown)
    assert re.search(r"labels revised [\d,]+", shown)


def test_answers_from_a_file_are_taken_once(folder, tmp_path):
    questions = as_json("label", folder)
    answers = tmp_path / "answers.jsonl"
    answers.write_text(
        "".join(
            json.dumps({"question": q["question"], "name": name_of(q["representative"])}) + "\n"
            for q in questions
        )
    )
    for taken, before in ((len(questions), 0), (0, len(questions))):
        outcome = as_json("label", folder, "--from", answers)
        assert outcome["answers"] == len(questions) > 2
        assert (outcome["taken"], outcome["before"]) == (taken, before)
        assert outcome["refused"] == outcome["waiting"] == 0
    assert as_json("label", folder) == []
    assert rows(folder, "SELECT count(*) FROM inbox") == [(len(questions),)]


def test_a_file_given_again_says_what_is_true_today(folder, tmp_path):
    first, second = (question["question"] for question in as_json("label", folder)[:2])
    answers = tmp_path / "answers.csv"
    answers.write_text(f"question,name\n{first},nine\n{second},ten\n")
    assert as_json("label", folder, "--from", answers)["taken"] == 2
    csim("undo", folder, str(first))
    again = csim("label", folder, "--from", answers)
    assert again.exit_code == 0
    assert "0 answers taken, 2 taken before, 0 refused" in again.stdout
    assert f"changed: question {first} is undone by now" in again.stderr
    answers.write_text(f"question,name\n{second},ten\n{first},nine\n")  # another file
    outcome = as_json("label", folder, "--from", answers)
    assert (outcome["taken"], outcome["before"]) == (1, 1)


def test_a_file_with_many_wrong_lines_ends_with_a_summary(folder, tmp_path):
    first = as_json("label", folder)[0]["question"]
    answers = tmp_path / "answers.csv"
    wrong = "".join(f"{number},nine\n" for number in range(90_000, 91_500))
    answers.write_text(f"question,name\n{first},nine\n{wrong}")
    done = csim("label", folder, "--from", answers)
    assert done.exit_code == 2
    assert "1 answer taken, 0 taken before, 1500 refused" in done.stdout
    lines = done.stderr.splitlines()
    assert len(lines) == 21
    assert lines[-1] == "refused: 1,480 more; --json lists all"


def test_an_answer_refused_too_early_is_taken_when_its_question_is_asked(fresh, tmp_path):
    stream = shutil.copytree(fresh, tmp_path / "s")
    answers = tmp_path / "answers.csv"
    answers.write_text("question,name\n1,nine\n")
    for _ in range(2):
        early = csim("label", stream, "--from", answers)
        assert early.exit_code == 2
        assert "refused: no question has the id 1" in early.stderr
    with Stream(stream, trainer=None) as running:
        running.take(arrivals(200))
    outcome = as_json("label", stream, "--from", answers)
    assert (outcome["taken"], outcome["refused"]) == (1, 0)
    assert rows(stream, "SELECT status FROM questions WHERE id = 1") == [("answered",)]


def test_the_keys_of_the_page_work_in_the_terminal(folder):
    questions = as_json("label", folder)
    group = next(question for question in questions if len(question["members"]) > 2)
    before = questions.index(group)
    done = csim("label", folder, input="e\n" * before + "?\nx\nx 9\nx 1\n\nq\n")
    assert done.exit_code == 0, done.output
    assert "take small pictures out" in done.stdout
    assert "x needs the numbers" in done.stdout
    assert "numbers 1 to" in done.stdout
    kinds = [kind for (kind,) in rows(folder, "SELECT kind FROM inbox ORDER BY number")]
    assert kinds == ["Junk"] * before + ["Split", "Named"]
    parts = json.loads(rows(folder, "SELECT body FROM inbox WHERE kind = 'Split'")[0][0])["parts"]
    assert sorted(map(len, parts)) == [1, len(group["members"]) - 1]
    assert as_json("status", folder)["junk"] == sum(len(q["members"]) for q in questions[:before])


def test_images_are_labelled_by_their_ids(folder, tmp_path):
    shown = {question["representative"] for question in as_json("label", folder)}
    free = [f"image {number}" for number in range(150, 200) if f"image {number}" not in shown]
    assert as_json("label", folder, "--image", free[0], "--image", free[1], "--name", "owl")[
        "taken"
    ]
    assert (
        "1 image is labelled as junk" in csim("label", folder, "--image", free[2], "--junk").stdout
    )
    csim("export", "labels", folder, tmp_path / "labels.jsonl")
    lines = map(json.loads, (tmp_path / "labels.jsonl").read_text().splitlines())
    found = {row["item"]: (row["class"], row["decided_by"], row["junk"]) for row in lines}
    assert [found[item] for item in free[:3]] == [("owl", "told", False)] * 2 + [
        (None, "told", True)
    ]
    for wrong in (["--image", free[3]], ["--name", "owl"], ["--image", "none", "--junk"]):
        refused = csim("label", folder, *wrong)
        assert refused.exit_code == 2, refused.output


def test_a_person_answers_skips_and_takes_back_in_the_terminal(folder):
    first, second, third = (q["question"] for q in as_json("label", folder)[:3])
    done = csim("label", folder, input="nine\nk\nu\nu\nten\nten\nq\n")
    assert done.exit_code == 0, done.output
    kinds = rows(
        folder, "SELECT kind, json_extract(body, '$.question_id') FROM inbox ORDER BY number"
    )
    assert kinds == [
        ("Named", first),
        ("Skip", second),
        ("Undo", second),
        ("Undo", first),
        ("Named", first),
        ("Named", third),
    ]
    states = dict(rows(folder, "SELECT id, status FROM questions"))
    assert (states[first], states[second], states[third]) == ("answered", "undone", "answered")
    assert "ten" in [row["name"] for row in as_json("classes", "list", folder)]


def test_a_guess_is_taken_by_its_number(folder):
    question = as_json("label", folder)[0]
    done = csim("label", folder, input="#1\nq\n")
    assert f"That is guess 1, the class {question['guesses'][0]['name']}" in done.stdout
    named = rows(folder, "SELECT json_extract(body, '$.name') FROM inbox")
    assert named == [(question["guesses"][0]["name"],)]


def test_a_digit_that_is_typed_is_a_class_and_not_the_number_of_a_guess(folder):
    csim("label", folder, input="1\n2\nq\n")
    named = rows(folder, "SELECT json_extract(body, '$.name') FROM inbox")
    assert named == [("1",), ("2",)]


def test_a_name_that_cannot_be_is_refused_at_the_prompt_and_asked_again(folder):
    done = csim("label", folder, input=f"{'x' * 201}\n\u202ename\nnine\nq\n")
    assert done.exit_code == 0
    assert "at most 200 characters" in done.stdout
    assert "U+202E" in done.stdout
    assert "1 answer saved" in done.stdout
    assert rows(folder, "SELECT json_extract(body, '$.name') FROM inbox") == [("nine",)]


def test_an_answer_that_the_stream_refuses_is_reported_and_not_counted(folder, monkeypatch):
    question = as_json("label", folder)[0]["question"]

    def answer(prompt):
        monkeypatch.setattr("builtins.input", lambda _: "q")
        send(folder, [Named(question, "eight")])  # another person is faster
        return "nine"

    monkeypatch.setattr("builtins.input", answer)
    done = csim("label", folder)
    assert done.exit_code == 2
    assert f"refused: question {question} is answered" in done.stderr
    assert "saved" not in done.stdout


def test_classes_are_added_renamed_merged_and_removed(folder):
    names = [row["name"] for row in as_json("classes", "list", folder)]
    assert csim("classes", "add", folder, "heron").exit_code == 0
    assert csim("classes", "rename", folder, names[0], "zero").exit_code == 0
    assert csim("classes", "merge", folder, names[1], "zero").exit_code == 0
    assert csim("classes", "remove", folder, names[2]).exit_code == 0
    assert [row["name"] for row in as_json("classes", "list", folder)] == ["zero", "heron"]


def test_a_removed_class_is_restored_with_its_id_and_its_labels(folder):
    labels = rows(folder, "SELECT id, class_name, is_told FROM current_items ORDER BY place")
    first = as_json("classes", "list", folder)[0]
    done = csim("classes", "remove", folder, first["name"])
    assert f"csim classes restore {folder} id:{first['id']}" in done.stdout.replace("\n", "")
    assert first not in as_json("classes", "list", folder)
    assert csim("classes", "restore", folder, first["name"]).exit_code == 0
    again = as_json("classes", "list", folder)[0]
    assert [again[key] for key in ("id", "name", "told", "learned")] == [
        first[key] for key in ("id", "name", "told", "learned")
    ]
    told = [row for row in labels if row[2]]
    again = rows(folder, "SELECT id, class_name, is_told FROM current_items ORDER BY place")
    assert [row for row in again if row[2]] == told
    refused = csim("classes", "restore", folder, first["name"])
    assert refused.exit_code == 2
    assert "no removed class is called" in refused.stderr


@pytest.mark.parametrize("command", [["remove"], ["merge", "7"], ["rename", "x"]])
def test_an_id_is_meant_only_if_it_is_written_as_one(folder, command):
    by_id = {row["id"]: row["name"] for row in as_json("classes", "list", folder)}
    assert by_id == {0: "0", 1: "7", 2: "8"}  # the name 2 would be the id of class 8
    name, *rest = command
    done = csim("classes", name, folder, "2", *rest)
    assert done.exit_code == 2
    assert "no class is called '2'" in done.stderr
    assert "write id:2 for it" in done.stderr
    assert csim("classes", name, folder, "id:2", *rest).exit_code == 0
    assert "8" not in [row["name"] for row in as_json("classes", "list", folder)]


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


def photograph(seed, hue):
    """Return a colour image of 80x90 pixels; images of a hue look alike."""
    rng = np.random.default_rng(seed)
    image = np.full((80, 90, 3), hue) + rng.normal(0, 20, (80, 90, 3))
    image[20:50, 10 + seed % 30 : 40 + seed % 30] = 255 - np.array(hue)
    return Image.fromarray(np.clip(image, 0, 255).astype("uint8"))


HUES = {"red": (200, 30, 30), "green": (30, 160, 40), "blue": (20, 40, 200)}


@pytest.fixture(scope="module")
def colour(tmp_path_factory):
    """Return a folder of photographs: known/CLASS/ and incoming/, of one colour more."""
    root = tmp_path_factory.mktemp("colour")
    for name in ("red", "green"):
        (root / "known" / name).mkdir(parents=True)
        for seed in range(6):
            photograph(seed, HUES[name]).save(root / "known" / name / f"{seed}.jpg")
    (root / "incoming").mkdir()
    for seed in range(60):
        hue = list(HUES.values())[seed % 3]
        photograph(100 + seed, hue).save(root / "incoming" / f"{seed:03d}.jpg")
    return root


def test_photographs_get_lite0_and_a_new_kind_is_learned(colour, tmp_path):
    made = csim("init", tmp_path / "s", "--labelled", colour / "known", "--budget", "0.1")
    assert made.exit_code == 0, made.output
    assert "encoder lite0 at 224x224" in made.output
    assert csim("run", tmp_path / "s", colour / "incoming").exit_code == 0
    questions = rows(
        tmp_path / "s",
        "SELECT q.id, i.id FROM questions q JOIN items i ON i.place = representative",
    )
    answers = [
        Named(number, list(HUES)[int(item_id.split(".")[0]) % 3]) for number, item_id in questions
    ]
    tell(tmp_path / "s", answers)
    assert csim("run", tmp_path / "s").exit_code == 0
    today = "SELECT id, class_name FROM current_items WHERE place > 0"
    labels = rows(tmp_path / "s", today)
    right = [list(HUES)[int(item_id.split(".")[0]) % 3] == name for item_id, name in labels]
    assert np.mean(right) > 0.9


def test_a_pretrained_encoder_brings_the_preset_for_photographs(colour, tmp_path):
    preset = Settings.photographs()
    known = ("--labelled", colour / "known")
    for name, options, expected in [
        ("chosen", (), (preset.ask_every, preset.update_labels)),
        ("named", ("--encoder", "lite0", "--budget", 0.02), (100, preset.update_labels)),
        ("set", ("--set", "ask_every=90", "--set", "update_labels=7"), (90, 7)),
        ("own", ("--encoder", "own", "--set", "epochs=1"), (125, 15)),
    ]:
        assert csim("init", tmp_path / name, *known, *options).exit_code == 0
        with Reader(tmp_path / name) as reader:
            settings = reader.config.settings
        assert (settings.ask_every, settings.update_labels) == expected, name


def test_an_encoder_can_be_named_and_a_size_of_your_own_then_makes_no_sense(colour, tmp_path):
    known = ("--labelled", colour / "known")
    own = as_json("init", tmp_path / "own", *known, "--encoder", "own", *SETS)
    assert (own["encoder"], own["shape"]) == ("own", [64, 64, 3])
    bad = csim("init", tmp_path / "s", *known, "--encoder", "lite0", "--size", 32)
    assert bad.exit_code == 2
    assert "--size must be left out" in bad.output
    unknown = csim("init", tmp_path / "s", *known, "--encoder", "lite9")
    assert unknown.exit_code == 2
    assert "is it lite" in unknown.output
    assert not (tmp_path / "s").exists()
