"""Answers that people gave elsewhere, read from a file.

    .jsonl  an object per line: "question" with its number, and one of "name", "skip", "split", "undo", "correct"
    .csv    the columns question and name; others are passed over
    .json   an export of Label Studio

A file is checked as a whole: either all of it can be taken, or nothing is returned but the reason and the line.
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
from csim.records import Answer, Correct, ItemId, Named, Skip, Split, Undo

MOST_BYTES = 250 * 2**20  # as much as Label Studio takes in one file
_KINDS = ("name", "skip", "split", "undo", "correct")


def read_answers(path: Path) -> list[Answer]:
    """Return the answers of a file, in its order.

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
            f"answers must come in a file that ends in {', '.join(readers)}; got {path}"
        )
    text = _text(path)
    with within(f"{path}"):
        return read(text)


def _text(path: Path) -> str:
    try:
        if not path.is_file():
            raise InputError(f"{path} must be a file, there is none; check the path")
        if (size := path.stat().st_size) > MOST_BYTES:
            raise InputError(
                f"{path} may have {MOST_BYTES:,} bytes, it has {size:,}; give it in parts"
            )
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise InputError(
            f"{path} cannot be read ({error.strerror}); look at its permissions"
        ) from error
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path} must be UTF-8 text, byte {error.start} is not; save it anew as UTF-8"
        ) from error


def _json_lines(text: str) -> list[Answer]:
    answers: list[Answer] = []
    for number, line in enumerate(
        text.split("\n"), start=1
    ):  # a text in JSON may hold other ends of line
        if line.strip():
            with within(f"line {number}"):
                answers.append(_from_object(from_json(line)))
    return answers


def _from_object(value: Any) -> Answer:  # noqa: ANN401
    """Return what a JSON object says; keys that say nothing to us are passed over."""
    if not isinstance(value, dict):
        raise InputError(f"it must be a JSON object, got {type(value).__name__}")
    given = [kind for kind in _KINDS if kind in value]
    if len(given) != 1:
        raise InputError(
            f"it must have one of {', '.join(_KINDS)}; it has {', '.join(given) or 'none'}"
        )
    question, (kind,) = check_question(value.get("question")), given
    said = value[kind]
    if kind == "name":
        return Named(question, clean_name(said))
    if kind == "correct":
        return Correct(question, clean_name(said))
    if kind == "split" and isinstance(said, list):
        return Split(question, _parts(said))
    if said is not True:
        raise InputError(f"{kind} must be true, got {json.dumps(said)[:40]}")
    return (
        Skip(question) if kind == "skip" else Split(question) if kind == "split" else Undo(question)
    )


def _parts(said: list[Any]) -> tuple[tuple[ItemId, ...], ...]:
    if not said or not all(
        isinstance(part, list) and all(isinstance(item, str) for item in part) for part in said
    ):
        raise InputError("split must be true, or a list of parts, each a list of item ids")
    return tuple(tuple(part) for part in said)


def _csv(text: str) -> list[Answer]:
    number = 0

    def lines() -> Iterator[str]:
        nonlocal number
        for line in io.StringIO(text, newline=""):
            number += 1  # csv's own count stops before a line that it cannot read
            yield line

    answers: list[Answer] = []
    rows = csv.DictReader(lines(), strict=True)
    try:
        if not {"question", "name"} <= set(rows.fieldnames or ()):
            raise InputError(
                "line 1: the columns must be question and name, with a comma between them"
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
    is_number = number.isdecimal() and len(number) < 19  # more digits than any question has
    return Named(check_question(int(number) if is_number else number), clean_name(row["name"]))
