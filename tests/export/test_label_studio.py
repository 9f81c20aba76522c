import base64
import io
import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from export.hostile_folder import change, truth
from PIL import Image

from csim.errors import InputError
from csim.export.answers import read_answers
from csim.export.label_studio import labelling_config, write_tasks
from csim.folder.reader import Reader
from csim.folder.send import send
from csim.messages import Named

DOCS = Path(__file__).parents[2] / "docs/export.md"


def tasks_of(reader, path, **options):
    written = write_tasks(reader, path, **options)
    tasks = json.loads(path.read_text("utf-8"))
    assert written.tasks == len(tasks)
    return tasks, written


def picture_of(task):
    """Return what a browser would show: the format it is told, and the bytes."""
    kind, text = re.fullmatch(r"data:image/(\w+);base64,(.*)", task["data"]["image"]).groups()
    return kind, base64.b64decode(text, validate=True)


def test_each_open_question_is_a_task_that_shows_its_representative(reader, tmp_path):
    tasks, written = tasks_of(reader, tmp_path / "tasks.json")
    questions = reader.questions()
    assert [task["data"]["question"] for task in tasks] == [question.id for question in questions]
    assert written.gone == 0 < len(tasks)
    for task, question in zip(tasks, questions, strict=True):
        assert task["data"]["item"] == reader.item(question.representative).id
        kind, content = picture_of(task)
        assert content == reader.picture(question.representative)
        assert Image.open(io.BytesIO(content)).format.lower() == kind


def test_the_best_guess_is_the_prediction(reader, tmp_path):
    tasks, _ = tasks_of(reader, tmp_path / "tasks.json")
    for task, question in zip(tasks, reader.questions(), strict=True):
        ((name, score),) = question.guesses[:1]
        (prediction,) = task["predictions"]
        (result,) = prediction["result"]
        assert prediction["score"] == score
        assert re.fullmatch(r"model \d+", prediction["model_version"])
        assert result["value"] == {"choices": [name]}
        assert {"value": name, "alias": name} in task["data"]["classes"]


def test_predictions_fit_the_labelling_config(reader, tmp_path):
    tasks, _ = tasks_of(reader, tmp_path / "tasks.json", every=True)
    config = ElementTree.fromstring(labelling_config())  # noqa: S314
    controls = {tag.get("name"): tag for tag in config if tag.get("toName")}
    images = {tag.get("name"): tag for tag in config if not tag.get("toName")}
    for task in tasks:
        for tag in config:
            if (value := tag.get("value")) is not None:
                assert value[0] == "$"
                assert value[1:] in task["data"]
        for result in (
            result for prediction in task["predictions"] for result in prediction["result"]
        ):
            assert controls[result["from_name"]].tag.lower() == result["type"]
            assert controls[result["from_name"]].get("toName") == result["to_name"]
            assert result["to_name"] in images


def test_the_docs_show_the_config_as_it_is():
    assert f"```xml\n{labelling_config()}```" in DOCS.read_text("utf-8")


def test_all_gives_a_task_per_image_and_names_a_question_only_where_it_stands_for_one(
    reader, tmp_path
):
    tasks, written = tasks_of(reader, tmp_path / "tasks.json", every=True)
    items = list(reader.items())
    assert [task["data"]["item"] for task in tasks] == [item.id for item in items]
    assert written.gone == 0
    opened = {question.representative: question.id for question in reader.questions()}
    assert [task["data"]["question"] for task in tasks] == [
        opened.get(item.place) for item in items
    ]
    versions = set()
    for task, item in zip(tasks, items, strict=True):
        names = [prediction["result"][0]["value"]["choices"] for prediction in task["predictions"]]
        assert names == ([] if item.name is None else [[item.name]])
        versions |= {prediction["model_version"] for prediction in task["predictions"]}
    assert {"told", "answer"} < versions
    assert {version.split()[0] for version in versions} == {"told", "answer", "model"}


def test_a_picture_that_is_gone_is_counted(folder, tmp_path):
    with Reader(folder) as reader:
        first, *others = reader.questions()
        change(folder, "UPDATE items SET picture = NULL WHERE place = ?", first.representative)
        tasks, written = tasks_of(reader, tmp_path / "tasks.json")
    assert written.gone == 1
    assert [task["data"]["question"] for task in tasks] == [question.id for question in others]


def test_a_folder_without_a_stream_has_no_question(fresh, tmp_path):
    with Reader(fresh) as reader:
        assert tasks_of(reader, tmp_path / "tasks.json")[0] == []
        assert len(tasks_of(reader, tmp_path / "all.json", every=True)[0]) == 90


def test_another_ending_is_refused(reader, tmp_path):
    with pytest.raises(InputError, match=r"must end in \.json"):
        write_tasks(reader, tmp_path / "tasks.jsonl")


def test_what_people_answer_there_comes_back_and_is_taken(folder, tmp_path):
    with Reader(folder) as reader:
        tasks, _ = tasks_of(reader, tmp_path / "tasks.json")
        questions = reader.questions()
    expected = []
    for number, (task, question) in enumerate(zip(tasks, questions, strict=True)):
        name = truth(question.representative)
        told = {
            "from_name": "class",
            "to_name": "image",
            "type": "choices",
            "value": {"choices": [name]},
        }
        typed = {
            "from_name": "new",
            "to_name": "image",
            "type": "textarea",
            "value": {"text": [name]},
        }
        task["annotations"] = [{"result": [told if number % 2 else typed], "was_cancelled": False}]
        expected.append(Named(question.id, name))
    (tmp_path / "export.json").write_text(json.dumps(tasks))
    answers = read_answers(tmp_path / "export.json")
    assert answers == expected
    assert {outcome.refusal for outcome in send(folder, answers)} == {None}
    with Reader(folder) as reader:
        assert reader.questions() == []
        for answer in answers:
            assert reader.question(answer.question_id).name == answer.name
