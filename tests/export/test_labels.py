import csv
import json
import tracemalloc

import pytest
from digit_stream import last_classes
from export.hostile_folder import IDS, change

from csim.errors import InputError
from csim.export.labels import FIELDS, labels, write_labels
from csim.folder.reader import Reader
from csim.folder.send import send
from csim.messages import MergeClasses, RemoveClass
from csim.records import (
    Labelled,
    Undone,
)


def read_csv(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_csv_and_json_lines_hold_the_same_rows(reader, tmp_path):
    assert write_labels(reader, tmp_path / "labels.csv") == 230
    assert write_labels(reader, tmp_path / "labels.jsonl") == 230
    lines = [
        json.loads(line) for line in (tmp_path / "labels.jsonl").read_text("utf-8").split("\n")[:-1]
    ]
    texts = [
        {key: "" if value is None else str(value) for key, value in line.items()} for line in lines
    ]
    assert read_csv(tmp_path / "labels.csv") == texts
    assert [tuple(line) for line in lines] == [FIELDS] * 230
    assert [line["position"] for line in lines] == list(range(1, 231))


def test_ids_and_names_come_back_as_they_were_however_awkward(reader, tmp_path):
    write_labels(reader, tmp_path / "labels.csv")
    rows = read_csv(tmp_path / "labels.csv")
    assert tuple(row["item"] for row in rows[: len(IDS)]) == IDS
    assert {row["class"] for row in rows} >= {"..", "@crane"}


def test_classes_are_what_the_events_tell(reader):
    given = last_classes(reader.history.events())
    names = {row.id: row.name for row in reader.classes()}
    assert {row["item"]: row["class"] for row in labels(reader)} == {
        item: names.get(class_id) for item, class_id in given.items()
    }


def test_who_decided_is_what_the_events_tell(reader):
    told: dict[str, int] = {}
    for event in reader.history.events():
        if isinstance(event, Labelled) and event.is_told:
            told[event.item_id] = event.question_id
        elif isinstance(event, Undone):
            told = {
                item: question for item, question in told.items() if question != event.question_id
            }
    rows = list(labels(reader))
    assert {row["item"]: row["question"] for row in rows if row["decided_by"] == "told"} == told
    assert {row["decided_by"] for row in rows} >= {"told", "answer", "model"}
    for row in rows:
        assert (row["class"] is None) == (row["decided_by"] == "none")
        assert (row["question"] is None) == (row["decided_by"] in ("model", "none"))
        assert 0 <= row["score"] <= 1


def test_an_image_of_the_group_that_was_answered_says_which_question_it_was(reader):
    spread = [row for row in labels(reader) if row["decided_by"] == "answer"]
    assert spread
    for row in spread:
        assert row["position"] in reader.question(row["question"]).members


def test_the_warm_up_comes_if_asked_for(reader):
    rows = list(labels(reader, warm_up=True))
    assert len(rows) == 90 + 230
    assert [row["position"] for row in rows[:90]] == [0] * 90
    assert {row["decided_by"] for row in rows[:90]} == {"told"}
    assert {row["item"] for row in rows[:90]} == {
        f"labelled/{row['class']}/{row['item'][9:].rsplit('/')[-1]}" for row in rows[:90]
    }
    assert rows[90:] == list(labels(reader))


def test_a_merged_class_has_one_name_and_a_removed_one_none(folder):
    with Reader(folder) as reader:
        ids = {row.name: row.id for row in reader.classes()}
        send(folder, [MergeClasses(ids["@crane"], ids[".."]), RemoveClass(ids["grey heron"])])
        rows = list(labels(reader, warm_up=True))
    assert {row["class"] for row in rows} & {"@crane", "grey heron"} == set()
    assert {row["decided_by"] for row in rows if row["class"] is None} == {"none"}
    assert sum(row["class"] == ".." and row["decided_by"] == "told" for row in rows) > 1


def test_a_folder_without_a_stream_gives_no_row(fresh, tmp_path):
    with Reader(fresh) as reader:
        assert write_labels(reader, tmp_path / "labels.csv") == 0
        assert write_labels(reader, tmp_path / "labels.jsonl") == 0
        assert write_labels(reader, tmp_path / "all.jsonl", warm_up=True) == 90
    assert (tmp_path / "labels.csv").read_bytes().decode() == ",".join(FIELDS) + "\r\n"
    assert (tmp_path / "labels.jsonl").read_text() == ""


def test_another_ending_is_refused(reader, tmp_path):
    with pytest.raises(InputError, match=r"must end in \.csv or \.jsonl"):
        write_labels(reader, tmp_path / "labels.xlsx")
    assert list(tmp_path.iterdir()) == []


def test_memory_does_not_grow_with_the_stream(folder, tmp_path):
    change(
        folder,
        "WITH RECURSIVE n(i) AS (SELECT 231 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)"
        " INSERT INTO items (place, id, step, is_accepted, nearest, score, model, class_id)"
        " SELECT i, 'a rather long id of an image of the stream ' || i, 2, 1, 0, 0.5, 1, 0 FROM n",
    )
    done = []
    with Reader(folder) as reader:
        tracemalloc.start()
        assert write_labels(reader, tmp_path / "labels.csv", follow=done.append) == 20_000
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 700_000 < (tmp_path / "labels.csv").stat().st_size
    assert done == list(range(1000, 21_000, 1000))
