"""`csim export`: output, exit codes, files on disk."""

import csv
import hashlib
import json
import os
import shutil
import subprocess
import sys

import pytest
from export import hostile_folder
from safetensors.numpy import load_file
from typer.testing import CliRunner

from csim.cli.main import app
from csim.export.label_studio import labelling_config
from csim.folder.reader import Reader
from csim.sources.image_folder import read_labelled

pytestmark = pytest.mark.slow


def csim(*arguments):
    return CliRunner().invoke(app, ["export", *(str(argument) for argument in arguments)])


def as_json(*arguments):
    done = csim(*arguments, "--json")
    assert done.exit_code == 0, done.output
    assert done.stderr == ""
    return json.loads(done.stdout)


@pytest.fixture(scope="session")
def lived():
    """Return a folder with answers and open questions; read-only."""
    return hostile_folder.lived()


@pytest.fixture
def out(tmp_path, monkeypatch):
    """Return an empty folder, which we stand in."""
    (tmp_path / "out").mkdir()
    monkeypatch.chdir(tmp_path / "out")
    return tmp_path / "out"


def rows(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_labels(lived, out):
    done = csim("labels", lived, "labels.csv")
    assert (done.exit_code, done.stdout, done.stderr) == (0, "labels.csv has 230 images\n", "")
    assert len(rows(out / "labels.csv")) == 230
    assert as_json("labels", lived, "all.jsonl", "--warm-up") == {"file": "all.jsonl", "rows": 320}
    assert len((out / "all.jsonl").read_text("utf-8").split("\n")) == 321


def test_predictions(lived, out):
    done = as_json("predictions", lived, "predictions.csv")
    assert done == {"file": "predictions.csv", "rows": len(rows(out / "predictions.csv"))}
    assert done["rows"] > 230
    assert csim("predictions", lived, "p.jsonl").stdout == f"p.jsonl has {done['rows']} lines\n"


def test_images(lived, out):
    done = as_json("images", lived, "told")
    images, names = read_labelled(out / "told")
    assert (done["images"], done["classes"]) == (len(images), len(set(names)))
    assert (done["folder"], done["gone"]) == ("told", 0)
    assert len(rows(out / "told.csv")) == len(images)
    done = csim("images", lived, "every", "--all")
    assert done.exit_code == 0
    assert len(rows(out / "every.csv")) > len(images)


def test_images_that_are_missing_are_told(lived, out, tmp_path):
    folder = shutil.copytree(lived, tmp_path / "stream")
    hostile_folder.change(folder, "UPDATE items SET picture = NULL WHERE place < -80")
    hostile_folder.change(folder, "UPDATE items SET class_id = NULL WHERE place = -1")
    done = csim("images", folder, "told")
    assert done.exit_code == 0
    assert done.stderr == "10 more have no kept picture\n1 more have no class\n"
    assert as_json("images", folder, "again")["gone"] == 10


def test_label_studio(lived, out):
    done = csim("label-studio", lived, "tasks.json", "--config", "config.xml")
    tasks = json.loads((out / "tasks.json").read_text("utf-8"))
    assert done.stdout == f"tasks.json has {len(tasks)} tasks\n"
    assert (out / "config.xml").read_text("utf-8") == labelling_config()
    with Reader(lived) as reader:
        assert [task["data"]["question"] for task in tasks] == [
            question.id for question in reader.questions()
        ]
    assert as_json("label-studio", lived, "all.json", "--all") == {
        "file": "all.json",
        "tasks": 320,
        "gone": 0,
    }


def test_the_model_as_one_graph(lived, out):
    done = as_json("model", lived, "model.onnx", "--onnx")
    assert done == {"file": "model.onnx", "model": done["model"]}
    assert [file.name for file in out.iterdir()] == ["model.onnx"]
    said = csim("model", lived, "again.onnx", "--onnx").stdout
    assert said == f"again.onnx is model {done['model']} as an ONNX graph\n"
    assert (out / "again.onnx").read_bytes() == (out / "model.onnx").read_bytes()
    refused = csim("model", lived, "model.onnx", "--onnx")
    assert refused.exit_code == 2
    assert "must not exist yet" in refused.stderr


def test_model(lived, out):
    done = as_json("model", lived, "model")
    assert (done["file"], done["card"]) == ("model.safetensors", "model.json")
    assert done["sha256"] == hashlib.sha256((out / "model.safetensors").read_bytes()).hexdigest()
    card = json.loads((out / "model.json").read_text("utf-8"))
    assert len(load_file(out / "model.safetensors")["bias"]) == len(card["columns"])
    said = csim("model", lived, "again.safetensors").stdout
    assert (
        said == f"again.safetensors is model {card['model']}, trained on {card['images']} images\n"
    )


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("labels", "x.csv"),
        ("predictions", "x.jsonl"),
        ("label-studio", "x.json"),
        ("model", "x.safetensors"),
    ],
)
def test_a_file_that_is_there_is_kept_unless_forced(lived, out, command, name):
    (out / name).write_text("precious")
    done = csim(command, lived, name)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == f"csim: {name} must not exist yet, it does; give a new name\n"
    assert {file: (out / file).read_text() for file in os.listdir(out)} == {name: "precious"}
    assert csim(command, lived, name, "--force").exit_code == 0
    assert (out / name).read_bytes() != b"precious"


def test_a_folder_is_never_replaced(lived, out):
    (out / "images").mkdir()
    done = csim("images", lived, "images")
    assert done.exit_code == 2
    assert done.stderr == "csim: images must not exist yet, it does; give a new name\n"
    assert os.listdir(out) == ["images"]


@pytest.mark.parametrize("command", ["labels", "predictions", "images", "label-studio", "model"])
def test_what_is_no_stream_folder_is_told_in_one_line(out, command):
    done = csim(command, out, out / "x.csv")
    assert (done.exit_code, done.stdout) == (3, "")
    assert done.stderr.startswith(f"csim: {out} is not a stream folder")
    assert done.stderr.count("\n") == 1
    assert os.listdir(out) == []


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("labels", "x"),
        ("labels", "x.json"),
        ("predictions", "x.parquet"),
        ("label-studio", "x.csv"),
    ],
)
def test_an_ending_that_says_nothing_is_refused(lived, out, command, name):
    done = csim(command, lived, name)
    assert (done.exit_code, done.stdout) == (2, "")
    assert f"got {name}" in done.stderr
    assert os.listdir(out) == []


def test_nothing_is_put_into_the_stream_folder(lived, out, tmp_path):
    folder = shutil.copytree(lived, tmp_path / "stream")
    before = {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}
    for command, name in [
        ("labels", "x.csv"),
        ("images", "x"),
        ("label-studio", "x.json"),
        ("model", "models/x"),
    ]:
        assert csim(command, folder, folder / name).exit_code == 2
    assert (
        csim(
            "label-studio", folder, "x.json", "--config", folder / "stream.db", "--force"
        ).exit_code
        == 2
    )
    kept = {
        file: file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file() and not file.name.endswith("-shm")
    }
    assert kept.items() <= before.items() | {(file, b"") for file in kept}


def test_a_place_that_cannot_be_written_to_ends_with_code_5(lived, out):
    (out / "file").write_text("")
    done = csim("labels", lived, "file/x.csv")
    assert (done.exit_code, done.stdout) == (5, "")
    assert "cannot be written" in done.stderr


@pytest.mark.parametrize("name", [".", "..", "/"])
def test_a_folder_that_is_there_is_no_name(lived, out, name):
    for command in ("images", "model"):
        done = csim(command, lived, name)
        assert (done.exit_code, done.stdout) == (2, "")
        assert done.stderr.startswith(f"csim: {name} must ")
    assert sorted(os.listdir(out.parent)) == ["out"]
    assert os.listdir(out) == []


def test_a_name_that_is_too_long_ends_with_code_5(lived, out):
    for command, ending in (
        ("labels", ".csv"),
        ("images", ""),
        ("label-studio", ".json"),
        ("model", ""),
    ):
        done = csim(command, lived, "x" * 300 + ending)
        assert (done.exit_code, done.stdout) == (5, ""), done.output
        assert "too long" in done.stderr
    assert os.listdir(out) == []


def test_an_export_does_not_load_torch(lived, out):
    program = (
        "import sys\n"
        "from csim.cli.main import app\n"
        "try:\n"
        f"    app(['export', 'labels', {str(lived)!r}, {str(out / 'labels.csv')!r}])\n"
        "except SystemExit as end:\n"
        "    print(end.code, 'torch' in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=600, check=True
    )
    assert done.stdout.splitlines()[-1] == "0 False"
