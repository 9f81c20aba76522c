"""What is asked of every answer that comes from a file, and where in the file it is that something is wrong."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from csim.errors import InputError
from csim.records import QuestionId


@contextmanager
def within(place: str) -> Iterator[None]:
    """Put a place before the reason for a refusal.

    >>> with within("line 3"):
    ...     check_question("three")
    Traceback (most recent call last):
        ...
    csim.errors.InputError: line 3: question must be the number of one, from 1 up; got 'three'
    """
    try:
        yield
    except InputError as error:
        raise InputError(f"{place}: {error}") from error


def check_question(value: object) -> QuestionId:
    """Return a question's number, or refuse what is none."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise InputError(f"question must be the number of one, from 1 up; got {str(value)[:40]!r}")
    return value


def from_json(text: str) -> Any:  # noqa: ANN401
    """Return what JSON says, or refuse it."""
    try:
        return json.loads(text)
    except (
        ValueError,
        RecursionError,
    ) as error:  # ValueError: also a number of thousands of digits
        raise InputError(f"it must be JSON, it is not ({error})") from error
