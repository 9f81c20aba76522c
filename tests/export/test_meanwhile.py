"""Exports of a folder that another process is writing to."""

import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from export.hostile_folder import FORMATS
from safetensors.numpy import load_file

from csim.export.image_folder import write_images
from csim.export.label_studio import write_tasks
from csim.export.labels import write_labels
from csim.export.model import write_model
from csim.export.predictions import write_predictions
from csim.folder.reader import Reader
from csim.folder.send import send
from csim.messages import Named

ENGINE = """
import sys
from pathlib import Path
from export.hostile_folder import arrivals, truth
from csim.folder import inbox
from csim.folder.database import open_for_messages
from csim.folder.reader import Reader
from csim.folder.stream import Stream
from csim.messages import Named

root = Path(sys.argv[1])
with Stream(root, trainer=None) as stream, Reader(root) as reader:
    connection = open_for_messages(stream.layout.database)
    images = arrivals()[:120]
    print("begun", flush=True)
    for start in range(0, len(images), 5):
        stream.take(images[start : start + 5])
        if start == 60:
            sys.stdin.readline()  # comes after the first export
        asked = reader.questions()
        answers = [Named(q.id, truth(q.representative)) for q in asked]
        inbox.post(connection, answers, keys=[str(q.id) for q in asked])
    stream.finish()
"""


def read_csv(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def check_labels(reader, out):
    write_labels(reader, out / "labels.csv")
    rows = read_csv(out / "labels.csv")
    assert [int(row["position"]) for row in rows] == list(range(1, len(rows) + 1))
    assert all(bool(row["class"]) == (row["decided_by"] != "none") for row in rows)
    return len(rows)


def check_predictions(reader, out):
    write_predictions(reader, out / "predictions.jsonl")
    lines = [
        json.loads(line) for line in (out / "predictions.jsonl").read_text("utf-8").split("\n")[:-1]
    ]
    arrived = [line["position"] for line in lines if line["decision"] in ("accepted", "rejected")]
    assert arrived == list(range(1, len(arrived) + 1))
    known = {line["item"] for line in lines if line["decision"] in ("accepted", "rejected")}
    assert {line["item"] for line in lines} == known


def check_images(reader, out):
    copied = write_images(reader, out / "images", every=True)
    rows = read_csv(out / "images.csv")
    assert len(rows) == copied.images
    assert all((out / "images" / row["file"]).stat().st_size for row in rows)
    assert {Path(row["file"]).suffix for row in rows} <= {
        f".{kind.lower()}".replace("jpeg", "jpg") for kind in FORMATS
    }


def check_tasks(reader, out):
    written = write_tasks(reader, out / "tasks.json")
    tasks = json.loads((out / "tasks.json").read_text("utf-8"))
    assert len(tasks) == written.tasks
    for task in tasks:
        names = {choice["value"] for choice in task["data"]["classes"]}
        assert {
            name for p in task["predictions"] for name in p["result"][0]["value"]["choices"]
        } <= names


def check_model(reader, out):
    card = write_model(reader, out / "model")
    assert len(load_file(out / "model.safetensors")["bias"]) == len(card["columns"])


@pytest.mark.slow
def test_every_export_is_whole_while_a_stream_runs(fresh, tmp_path):
    folder = tmp_path / "stream"
    shutil.copytree(fresh, folder)
    environment = os.environ | {
        "PYTHONPATH": str(Path(__file__).parents[1]),
        "OMP_NUM_THREADS": "1",
    }
    command = [sys.executable, "-c", ENGINE, str(folder)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, env=environment, text=True, **pipes) as engine:
        assert engine.stdout.readline() == "begun\n"
        seen = []
        while engine.poll() is None:
            with Reader(folder) as reader, tempfile.TemporaryDirectory(dir=tmp_path) as out:
                seen.append(check_labels(reader, Path(out)))
                for check in (check_predictions, check_images, check_tasks, check_model):
                    check(reader, Path(out))
            if len(seen) == 1:
                print(file=engine.stdin, flush=True)
    assert engine.returncode == 0
    with Reader(folder) as reader:
        seen.append(check_labels(reader, tmp_path))
    assert seen == sorted(seen)
    assert len(set(seen)) > 1  # the stream went on between exports


def test_what_is_read_inside_a_moment_is_of_that_moment(folder):
    with Reader(folder) as reader:
        question = reader.questions()[0]
        with reader.transaction():
            before = [item for _, item in zip(range(300), reader.items(), strict=False)]
            (outcome,) = send(folder, [Named(question.id, "a class that was not there")])
            assert outcome.is_taken  # the engine did not wait for the reader
            assert list(reader.items())[:300] == before
            assert reader.question(question.id).status == "open"
            assert "a class that was not there" not in {row.name for row in reader.classes()}
        assert reader.question(question.id).name == "a class that was not there"


def test_a_moment_ends_even_if_the_export_fails(folder):
    with Reader(folder) as reader:
        with pytest.raises(ZeroDivisionError), reader.transaction():
            _ = 1 / 0
        question = reader.questions()[0]
        send(folder, [Named(question.id, "a class that was not there")])
        assert reader.question(question.id).status == "answered"  # what is read is of today again
