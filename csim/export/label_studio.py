"""Write tasks for Label Studio, a free labelling tool: the open questions, or all images.

A task holds its picture as a data URI, so that you need no file server. It also holds the class
names to choose from, so that the labelling config is the same for every stream and new classes
need no change of the project. `read_answers` reads what people answer.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from csim.errors import InputError
from csim.export.destination import atomic_output
from csim.export.labels import decided_by
from csim.export.rows import Follow
from csim.folder.reader import ItemRow, Reader
from csim.sources.open_picture import format_of

CHOICE = "class"  # the control of the config for a known class
TEXT = "new"  # the control of the config for a new class
_CONFIG = f"""<View>
  <Image name="image" value="$image"/>
  <Choices name="{CHOICE}" toName="image" choice="single-radio" value="$classes"/>
  <TextArea name="{TEXT}" toName="image" maxSubmissions="1" placeholder="or a new class"/>
</View>
"""

Task = dict[str, Any]


@dataclass
class Tasks:
    """Count what was written, and what could not be."""

    tasks: int = 0
    gone: int = 0  # images whose picture is no longer kept


def labelling_config() -> str:
    """Return the XML to set up a Label Studio project with."""
    return _CONFIG


def write_tasks(
    reader: Reader,
    path: Path,
    *,
    every: bool = False,
    overwrite: bool = False,
    follow: Follow = lambda _: None,
) -> Tasks:
    """Write one task per open question, oldest first.

    Parameters
    ----------
    reader
        Of a stream folder.
    path
        Ends in `.json`.
    every
        Write one task per image whose picture is kept instead. The representative of an open
        question names that question.
    overwrite
        Whether to replace an existing file.
    follow
        Called with the number of tasks written so far.
    """
    if path.suffix != ".json":
        raise InputError(f"the name of a tasks file must end in .json, got {path}")
    written = Tasks()
    tasks = _of_images(reader, written) if every else _of_questions(reader, written)
    with (
        reader.transaction(),
        atomic_output(path, outside=reader.layout.root, overwrite=overwrite) as temporary,
        temporary.open("x", encoding="utf-8") as file,
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
    # Label Studio replaces $word in a value by a field of the task. It does not change the alias,
    # which is what its export contains.
    return [{"value": row.name, "alias": row.name} for row in reader.classes()]


def _task(
    reader: Reader, item: ItemRow, question: int | None, classes: list[dict[str, str]]
) -> Task | None:
    """Return a task without predictions, or None if its picture is no longer kept."""
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
