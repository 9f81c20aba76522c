"""Read answers from an export of Label Studio, of tasks that `label_studio` wrote.

Of several annotations of a task, the latest counts. A skipped task is a skipped question, unless
somebody else named it. A task without annotations gives no answer. A typed name takes precedence
over a chosen one: Label Studio may have copied the choice from the model's prediction.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from csim.ask.catalogue import clean_name
from csim.errors import InputError
from csim.export.checks import check_question, from_json, within
from csim.export.label_studio import CHOICE, TEXT
from csim.messages import Answer, Named, Skip


def read_annotations(text: str) -> list[Answer]:
    """Return an answer for each annotated task, in the order of the tasks."""
    tasks = from_json(text)
    if not isinstance(tasks, list):
        raise InputError(
            f"it must be a list of tasks, got {type(tasks).__name__}; "
            "export from Label Studio as JSON"
        )
    answers: list[Answer] = []
    for number, task in enumerate(tasks, start=1):
        with within(f"task {number}"):
            answers += _answers(task)
    return answers


def _answers(task: Any) -> list[Answer]:  # noqa: ANN401
    if not isinstance(task, dict) or not isinstance(task.get("data"), dict):
        raise InputError(
            "it must have data and annotations; export from Label Studio as JSON, not as JSON-MIN"
        )
    data = task["data"]
    annotations = _objects(task.get("annotations"), "annotations")
    if "question" not in data:
        raise InputError(
            "its data must name a question; use tasks that `csim export label-studio` wrote"
        )
    given = [annotation for annotation in annotations if not annotation.get("was_cancelled")]
    if data["question"] is None:
        if given:
            raise InputError(
                "its image must belong to an open question to be annotated, it does not; "
                "remove its annotations"
            )
        return []
    question = check_question(data["question"])
    if given:
        return [Named(question, clean_name(_name(max(given, key=_time))))]
    return [Skip(question)] if annotations else []


def _objects(value: Any, what: str) -> list[dict[str, Any]]:  # noqa: ANN401
    if not isinstance(value, list) or not all(isinstance(entry, dict) for entry in value):
        raise InputError(
            f"it must have a list of {what}; export from Label Studio as JSON, not as JSON-MIN"
        )
    return value


def _time(annotation: dict[str, Any]) -> datetime:
    text = annotation.get("updated_at") or annotation.get("created_at") or "0001-01-01"
    try:
        time = datetime.fromisoformat(text)
    except (ValueError, TypeError) as error:
        raise InputError(
            f"the time of an annotation must look like 2026-11-16T09:30:00Z, got {text!r}"
        ) from error
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _name(annotation: dict[str, Any]) -> Any:  # noqa: ANN401
    """Return the one name that an annotation gives."""
    results = _objects(annotation.get("result"), "results")
    names = _values(results, TEXT, "text") or _values(results, CHOICE, "choices")
    if len(names) != 1:
        raise InputError(
            f"its annotation must name one class, it names {len(names)}; correct or skip it"
        )
    return names[0]


def _values(results: list[dict[str, Any]], control: str, key: str) -> list[Any]:
    """Return the values that people entered in one control of the labelling config."""
    found: list[Any] = []
    for result in results:
        value = result.get("value")
        if result.get("from_name") == control and isinstance(value, dict):
            entered = value.get(key) or []
            found += entered if isinstance(entered, list) else [entered]
    return found
