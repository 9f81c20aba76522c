"""Read answers that people gave elsewhere from a file.

    .jsonl  an object per line: "question" with its number,
            and one of "name", "junk", "skip", "split", "undo", "correct"
    .csv    the columns question and name; others are ignored
    .json   an export of Label Studio

Either all answers of a file are returned, or an error that names the line and the reason.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from csim.ask.catalogue import clean_name
from csim.errors import InputError
from csim.export.annotations import read_annotations
from csim.export.checks import check_question, from_json, within
from csim.messages import Answer, Correct, Junk, Named, Skip, Split, Undo
from csim.records import (
    ItemId,
)

MOST_BYTES = 250 * 2**20  # the most that Label Studio imports in one file
_KINDS = ("name", "junk", "skip", "split", "undo", "correct")


def read_answers(path: Path) -> list[Answer]:
    """Return the answers in a file, in order.

    Parameters
    ----------
    path
        Ends in `.jsonl`, `.csv` or `.json`; UTF-8, at most 250 MiB.
    """
    readers: dict[str, Callable[[str], list[Answer]]] = {
        ".jsonl": _json_lines,
        ".csv": _csv,
        ".json": read_annotations,
    }
    read = readers.get(path.suffix.lower())
    if read is None:
        raise InputError(
            f"the name of an answers file must end in {', '.join(readers)}; got {path}"
        )
    text = _text(path)
    with within(f"{path}"):
        return read(text)


def _text(path: Path) -> str:
    try:
        if not path.is_file():
            raise InputError(f"{path} must be a file, it is not; check the path")
        if (size := path.stat().st_size) > MOST_BYTES:
            raise InputError(
                f"{path} must have at most {MOST_BYTES:,} bytes, it has {size:,}; divide it"
            )
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise InputError(
            f"{path} cannot be read ({error.strerror}); check its permissions"
        ) from error
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path} must be UTF-8 text, byte {error.start} is not; save it again as UTF-8"
        ) from error


def _json_lines(text: str) -> list[Answer]:
    answers: list[Answer] = []
    # Not splitlines(): a JSON string may contain other line separators.
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            with within(f"line {number}"):
                answers.append(_from_object(from_json(line)))
    return answers


def _from_object(value: Any) -> Answer:  # noqa: ANN401
    """Return the answer in a JSON object; unknown keys are ignored."""
    if not isinstance(value, dict):
        raise InputError(f"it must be a JSON object, got {type(value).__name__}")
    given = [kind for kind in _KINDS if kind in value]
    if len(given) != 1:
        raise InputError(
            f"it must have one of {', '.join(_KINDS)}; it has {', '.join(given) or 'none'}"
        )
    question = check_question(value.get("question"))
    (kind,) = given
    content = value[kind]
    if kind == "name":
        return Named(question, clean_name(content))
    if kind == "correct":
        return Correct(question, None if content is None else clean_name(content))
    if kind == "split" and isinstance(content, list):
        return Split(question, _parts(content))
    if content is not True:
        raise InputError(f"{kind} must be true, got {json.dumps(content)[:40]}")
    without_content: dict[str, Answer] = {
        "junk": Junk(question),
        "skip": Skip(question),
        "split": Split(question),
        "undo": Undo(question),
    }
    return without_content[kind]


def _parts(parts: list[Any]) -> tuple[tuple[ItemId, ...], ...]:
    if not parts or not all(
        isinstance(part, list) and all(isinstance(item, str) for item in part) for part in parts
    ):
        raise InputError("split must be true, or a list of parts, each a list of item ids")
    return tuple(tuple(part) for part in parts)


def _csv(text: str) -> list[Answer]:
    number = 0

    def lines() -> Iterator[str]:
        nonlocal number
        for line in io.StringIO(text, newline=""):
            number += 1  # the reader's line_num stops before a line that it cannot read
            yield line

    answers: list[Answer] = []
    rows = csv.DictReader(lines(), strict=True)
    try:
        if not {"question", "name"} <= set(rows.fieldnames or ()):
            raise InputError(
                "line 1: it must name the columns question and name, with a comma between them"
            )
        for row in rows:
            with within(f"line {number}"):
                answers.append(_from_row(row))
    except csv.Error as error:
        raise InputError(f"line {number}: it must be CSV, it is not ({error})") from error
    return answers


def _from_row(row: dict[str | Any, Any]) -> Named:
    if None in row or None in row.values():
        raise InputError(
            "it must have as many values as the first line; a name with a comma needs quotes"
        )
    number = row["question"].strip()
    is_number = number.isdecimal() and len(number) < 19  # no question has more digits
    return Named(check_question(int(number) if is_number else number), clean_name(row["name"]))
