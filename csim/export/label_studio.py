"""Tasks for Label Studio, a free program in which several people label: the open questions, or all images.

A task holds its picture as a data URI, so that no file server is needed, and the class names to choose from, so that
the labelling config is the same for every stream and a class that appears later needs no change of the project. What
people answer comes back through `read_answers`.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from csim.errors import InputError
from csim.export.labels import decided_by
from csim.export.rows import Follow
from csim.export.whole import whole
from csim.folder.reader import ItemRow, Reader
from csim.sources.open_picture import format_of

CHOICE, TEXT = (
    "class",
    "new",
)  # the two controls of the config: a class there is, and one there is not
_CONFIG = f"""<View>
  <Image name="image" value="$image"/>
  <Choices name="{CHOICE}" toName="image" choice="single-radio" value="$classes"/>
  <TextArea name="{TEXT}" toName="image" maxSubmissions="1" placeholder="or a new class"/>
</View>
"""

Task = dict[str, Any]


@dataclass
class Tasks:
    """What was written, and what could not be."""

    tasks: int = 0
    gone: int = 0  # the picture is no longer kept


def labelling_config() -> str:
    """Return the XML that a project of such tasks is set up with."""
    return _CONFIG


def write_tasks(
    reader: Reader,
    path: Path,
    *,
    every: bool = False,
    overwrite: bool = False,
    follow: Follow = lambda _: None,
) -> Tasks:
    """Write one task per open question, in the order of asking.

    Parameters
    ----------
    reader
        Of a stream folder.
    path
        Ends in `.json`.
    every
        One task per image whose picture is still kept instead; those that stand for an open question name it.
    overwrite
        Whether a file may already be there.
    follow
        Called with the number of tasks written so far.
    """
    if path.suffix != ".json":
        raise InputError(f"tasks must go to a file that ends in .json, got {path}")
    written = Tasks()
    tasks = _of_images(reader, written) if every else _of_questions(reader, written)
    with (
        reader.transaction(),
        whole(path, outside=reader.layout.root, overwrite=overwrite) as beside,
        beside.open("x", encoding="utf-8") as file,
    ):
        file.write("[")
        for task in tasks:
            file.write(",\n" if written.tasks else "\n")
            json.dump(task, file, ensure_ascii=False)
            written.tasks += 1
            follow(written.tasks)
        file.write("\n]\n")
    return written


def _of_questions(reader: Reader, written: Tasks) -> Iterator[Task]:
    classes = _choices(reader)
    for question in reader.questions():
        item = reader.item(question.representative)
        task = _task(reader, item, question.id, classes)
        if task is None:
            written.gone += 1
            continue
        for name, score in question.guesses[:1]:
            version = reader.models.in_use(question.position)
            task["predictions"].append(_prediction(name, score, f"model {version}"))
        yield task


def _of_images(reader: Reader, written: Tasks) -> Iterator[Task]:
    classes = _choices(reader)
    opened = {question.representative: question.id for question in reader.questions()}
    for item in reader.items():
        task = _task(reader, item, opened.get(item.place), classes)
        if task is None:
            written.gone += 1
            continue
        if item.name is not None:
            by = decided_by(item)
            score, version = (item.score, f"model {item.model}") if by == "model" else (None, by)
            task["predictions"].append(_prediction(item.name, score, version))
        yield task


def _choices(reader: Reader) -> list[dict[str, str]]:
    # Label Studio takes $word in a value for a piece of the task; an alias, which it answers with, it leaves alone.
    return [{"value": own.name, "alias": own.name} for own in reader.classes()]


def _task(
    reader: Reader, item: ItemRow, question: int | None, classes: list[dict[str, str]]
) -> Task | None:
    """Return a task without predictions; None if there is no picture to show."""
    picture = reader.picture(item.place)
    if picture is None:
        return None
    kind = str(format_of(picture)).lower()
    image = f"data:image/{kind};base64,{base64.b64encode(picture).decode()}"
    data = {"image": image, "question": question, "item": item.id, "classes": classes}
    return {"data": data, "predictions": []}


def _prediction(name: str, score: float | None, version: str) -> dict[str, Any]:
    chosen = {
        "id": CHOICE,
        "from_name": CHOICE,
        "to_name": "image",
        "type": "choices",
        "value": {"choices": [name]},
    }
    return {"model_version": version, "score": score, "result": [chosen]}
