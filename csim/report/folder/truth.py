"""The true classes of images, read from a CSV file and compared with a stream folder's labels."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

import numpy as np

from csim.ask.catalogue import clean_name
from csim.errors import InputError
from csim.folder.reader import Reader
from csim.metrics.truth import Truth
from csim.records import Ints, ItemId, QuestionId

_COLUMNS = ("item", "class")


@dataclass(frozen=True)
class Judged:
    """Compare labels with the truth, for images whose true class is known, in order of arrival.

    Parameters
    ----------
    truth
        Their true classes.
    places
        Their positions, (n,).
    at_arrival
        The labels that they got at arrival; None if rejected.
    today
        The labels that they have today; None if none.
    told
        The images that a person labelled.
    strangers
        By question, how many images of its group have another class than its representative. Only
        questions whose images are all known are in it.
    grouped
        How many images the groups of these questions have.
    """

    truth: Truth
    places: Ints
    at_arrival: Mapping[ItemId, str | None]
    today: Mapping[ItemId, str | None]
    told: frozenset[ItemId]
    strangers: Mapping[QuestionId, int]
    grouped: int


def read_truth(path: Path) -> dict[ItemId, str]:
    """Return the true class of each image in a CSV file with the columns `item` and `class`.

    Rows without a class and other columns are ignored.
    """
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            return _classes(path, file)
    except OSError as error:
        raise InputError(
            f"{path} must be a readable CSV file, it is not ({error.strerror}); "
            "check the path and its permissions"
        ) from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(
            f"{path} must be a CSV file in UTF-8, it is not ({error}); save it again as UTF-8"
        ) from error


def _classes(path: Path, file: TextIO) -> dict[ItemId, str]:
    rows = csv.DictReader(file)
    if missing := [name for name in _COLUMNS if name not in (rows.fieldnames or ())]:
        raise InputError(
            f"{path} must have the columns item and class; {missing[0]} is missing. "
            "Add it to the first line"
        )
    truth: dict[ItemId, str] = {}
    for row in rows:
        item_id = row["item"]
        text = (row["class"] or "").strip()
        if not item_id or not text:
            continue
        try:
            name = clean_name(text)
        except InputError as error:
            raise InputError(f"{path}, line {rows.line_num}: {error}") from None
        if truth.setdefault(item_id, name) != name:
            raise InputError(
                f"{path} must give each image one class, {item_id!r} has two: "
                f"{truth[item_id]!r} and {name!r}; remove one"
            )
    return truth


def judge(reader: Reader, truth: Truth) -> Judged:
    """Return the folder's labels of the images whose true class is known."""
    known: dict[ItemId, str] = {}
    places: list[int] = []
    at_arrival: dict[ItemId, str | None] = {}
    today: dict[ItemId, str | None] = {}
    told: set[ItemId] = set()
    for label in reader.samples.labels():
        if label.item_id in truth:
            known[label.item_id] = truth[label.item_id]
            places.append(label.place)
            at_arrival[label.item_id] = label.at_arrival
            today[label.item_id] = label.today
            if label.is_told:
                told.add(label.item_id)
    if not known:
        raise InputError(
            f"the truth must name images of the stream by their ids; none of its {len(truth):,} "
            "ids is in the stream. Compare with the ids in the predictions of `csim run`"
        )
    strangers, grouped = _strangers(reader, known)
    return Judged(
        known, np.array(places, np.int64), at_arrival, today, frozenset(told), strangers, grouped
    )


def _strangers(reader: Reader, truth: Truth) -> tuple[dict[QuestionId, int], int]:
    sizes: dict[QuestionId, int] = {}
    strangers: dict[QuestionId, int] = {}
    unknown: set[QuestionId] = set()
    for member in reader.samples.group_members():
        question_id = member.question_id
        if member.representative in truth and member.item_id in truth:
            is_stranger = truth[member.representative] != truth[member.item_id]
            sizes[question_id] = sizes.get(question_id, 0) + 1
            strangers[question_id] = strangers.get(question_id, 0) + is_stranger
        else:
            unknown.add(question_id)
    known = {
        question_id: count for question_id, count in strangers.items() if question_id not in unknown
    }
    return known, sum(sizes[question_id] for question_id in known)
