import csv
import io
import json
import shutil

import pytest
from digit_stream import last_classes

from csim.export.predictions import write_predictions
from csim.folder.layout import Layout
from csim.folder.lines import FIELDS
from csim.folder.output import Output
from csim.folder.reader import Reader


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_the_file_is_the_one_that_a_run_writes_byte_for_byte(folder, tmp_path, ending):
    output = Output(Layout(folder).database, tmp_path / f"run.{ending}", io.BytesIO())
    lines = output.catch_up()
    output.close()
    with Reader(folder) as reader:
        assert write_predictions(reader, tmp_path / f"exported.{ending}") == lines > 230
    assert (tmp_path / f"exported.{ending}").read_bytes() == (
        tmp_path / f"run.{ending}"
    ).read_bytes()


def test_the_last_line_of_an_image_is_its_class_today(reader, tmp_path):
    write_predictions(reader, tmp_path / "predictions.csv")
    with (tmp_path / "predictions.csv").open(encoding="utf-8", newline="") as file:
        last = {row["item"]: row["class"] or None for row in csv.DictReader(file)}
    names = {row.id: row.name for row in reader.classes()}
    for item, class_id in last_classes(reader.history.events()).items():
        assert last[item] == names.get(class_id)


def test_a_folder_without_a_stream_gives_a_header_only(fresh, tmp_path):
    with Reader(fresh) as reader:
        assert write_predictions(reader, tmp_path / "predictions.csv") == 0
        assert write_predictions(reader, tmp_path / "predictions.jsonl") == 0
    assert (tmp_path / "predictions.csv").read_text().strip().split(",") == list(FIELDS)
    assert (tmp_path / "predictions.jsonl").read_bytes() == b""


def test_an_export_changes_nothing_in_the_folder(folder, tmp_path):
    before = shutil.copytree(folder, tmp_path / "before")
    with Reader(folder) as reader:
        write_predictions(reader, tmp_path / "predictions.jsonl")
    assert (
        json.loads((tmp_path / "predictions.jsonl").read_text("utf-8").split("\n")[0])["line"]
        == "1"
    )
    for file in before.rglob("*"):
        if file.is_file() and not file.name.endswith(("-wal", "-shm")):
            assert file.read_bytes() == (folder / file.relative_to(before)).read_bytes()
