"""Values of options: read from words, or refused in one line."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TypeVar

import typer

from csim.errors import InputError

Number = TypeVar("Number", int, float)


def number(option: str, kind: type[Number], *, least: int | None = None) -> Callable[[str], Number]:
    """Return what reads the number of an option; anything else is refused in one line, as all that csim refuses."""

    def read(text: str) -> Number:
        try:
            value = kind(text)
        except ValueError:
            value = None
        if value is not None and (least is None or value >= least):
            return value
        wanted = "a whole number" if kind is int else "a number"
        bound = "" if least is None else f", {least} or more"
        typer.echo(f"csim: {option} must be {wanted}{bound}; got {text!r}", err=True)
        raise typer.Exit(2)

    read.__name__ = kind.__name__  # what the help shows
    return read


def share(text: str) -> float:
    """Read a share of the stream: 0.02, or 20/1000 for so many per so many images."""
    count, _, images = text.partition("/")
    try:
        value = float(count) / float(images or 1)
    except (ValueError, ZeroDivisionError):
        value = -1.0
    if 0 <= value <= 1:
        return value
    typer.echo(
        f"csim: --budget must lie between 0 and 1, as 0.02 or 20/1000; got {text!r}", err=True
    )
    raise typer.Exit(2)


def changes_of(words: list[str]) -> dict[str, object]:
    """Read settings from words like epochs=5; numbers and true/false as JSON has them, all else is text."""
    changes: dict[str, object] = {}
    for word in words:
        name, equals, text = word.partition("=")
        if not equals:
            raise InputError(
                f"a setting is changed by name=value, for example epochs=5; got {word!r}"
            )
        try:
            changes[name] = json.loads(text)
        except ValueError:
            changes[name] = text
    return changes


def size_in_bytes(text: str) -> int:
    """Read a size: 500MB, 2GB, or a plain number of bytes."""
    units = {"": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
    digits = text.rstrip("KMGTBkmgtb ")
    unit = text[len(digits) :].strip().upper()
    if digits.isdecimal() and unit in units:
        return int(digits) * units[unit]
    typer.echo(f"csim: a size must be a number of bytes, as 500MB or 2GB; got {text!r}", err=True)
    raise typer.Exit(2)
