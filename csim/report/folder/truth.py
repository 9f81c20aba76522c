"""What the images of a stream folder truly are, if somebody knows: a CSV file, and the folder's labels beside it."""

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
    """The images of a stream whose class is known, in order of arrival.

    Parameters
    ----------
    truth
        What they are.
    places
        Their positions, (n,).
    at_arrival, today
        The label they were given at once, and the one they have; None if none.
    told
        Those that a person has named.
    strangers
        For each question whose images are all known: how many are of another class than its representative.
    grouped
        How many images these questions have in all.
    """

    truth: Truth
    places: Ints
    at_arrival: Mapping[ItemId, str | None]
    today: Mapping[ItemId, str | None]
    told: frozenset[ItemId]
    strangers: Mapping[QuestionId, int]
    grouped: int


def read_truth(path: Path) -> dict[ItemId, str]:
    """Return the true class of each image that a CSV file names; it has the columns `item` and `class`.

    A row without a class says nothing; other columns are passed over.
    """
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            return _classes(path, file)
    except OSError as error:
        raise InputError(
            f"{path} must be a CSV file that can be read ({error.strerror}); give another"
        ) from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(
            f"{path} must be a CSV file in UTF-8, it is not ({error}); save it as such"
        ) from error


def _classes(path: Path, file: TextIO) -> dict[ItemId, str]:
    rows = csv.DictReader(file)
    if missing := [name for name in _COLUMNS if name not in (rows.fieldnames or ())]:
        raise InputError(
            f"{path} must have the columns item and class in its first line; there is no {missing[0]}"
        )
    truth: dict[ItemId, str] = {}
    for row in rows:
        item_id, words = row["item"], (row["class"] or "").strip()
        if not item_id or not words:
            continue
        try:
            name = clean_name(words)
        except InputError as error:
            raise InputError(f"{path}, line {rows.line_num}: {error}") from None
        if truth.setdefault(item_id, name) != name:
            raise InputError(
                f"{path} must give an image one class, {item_id!r} has two: {truth[item_id]!r}, {name!r}"
            )
    return truth


def judge(reader: Reader, truth: Truth) -> Judged:
    """Return what the folder says of the images whose class is known."""
    known: dict[ItemId, str] = {}
    places: list[int] = []
    at_arrival: dict[ItemId, str | None] = {}
    today: dict[ItemId, str | None] = {}
    named: set[ItemId] = set()
    for label in reader.samples.labels():
        if label.item_id in truth:
            known[label.item_id] = truth[label.item_id]
            places.append(label.place)
            at_arrival[label.item_id] = label.at_arrival
            today[label.item_id] = label.today
            if label.is_told:
                named.add(label.item_id)
    if not known:
        raise InputError(
            f"the truth must name images of the stream by their ids; none of its {len(truth):,} has come. Ids stand in "
            "the predictions of `csim run`"
        )
    strangers, grouped = _strangers(reader, known)
    return Judged(
        known, np.array(places, np.int64), at_arrival, today, frozenset(named), strangers, grouped
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
    whole = {
        question_id: count for question_id, count in strangers.items() if question_id not in unknown
    }
    return whole, sum(sizes[question_id] for question_id in whole)
