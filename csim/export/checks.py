"""Check answers from a file, and say where in the file something is wrong."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from csim.errors import InputError
from csim.records import QuestionId


@contextmanager
def within(location: str) -> Iterator[None]:
    """Put a location in front of the message of an InputError.

    >>> with within("line 3"):
    ...     check_question("three")
    Traceback (most recent call last):
        ...
    csim.errors.InputError: line 3: question must be a whole number from 1 up; got 'three'
    """
    try:
        yield
    except InputError as error:
        raise InputError(f"{location}: {error}") from error


def check_question(value: object) -> QuestionId:
    """Return a question's number; raise InputError if it is not one."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise InputError(f"question must be a whole number from 1 up; got {str(value)[:40]!r}")
    return value


def from_json(text: str) -> Any:  # noqa: ANN401
    """Return the value of a JSON text; raise InputError if it is not JSON."""
    try:
        return json.loads(text)
    except (
        ValueError,
        RecursionError,
    ) as error:  # ValueError also for a number with too many digits
        raise InputError(f"it must be JSON, it is not ({error})") from error
