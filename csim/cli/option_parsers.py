"""Parsers of option values. A value they cannot read ends the command with one line and code 2."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import NoReturn, TypeVar

import typer

from csim.errors import InputError, SettingsError
from csim.folder.folding import KeptHistory
from csim.sources.arrays import MIN_SIDE

_FEWEST_IMAGES = 10_000  # of history: a file of predictions may be some batches behind

Number = TypeVar("Number", int, float)


def number_parser(
    option: str, kind: type[Number], *, least: int | None = None
) -> Callable[[str], Number]:
    """Return a parser of a number.

    Parameters
    ----------
    option
        The name of the option, for the error message.
    kind
        int or float.
    least
        The smallest number allowed. Higher refuses more.
    """

    def parse(text: str) -> Number:
        try:
            value = kind(text)
        except ValueError:
            value = None
        if value is not None and (least is None or value >= least):
            return value
        wanted = "a whole number" if kind is int else "a number"
        bound = "" if least is None else f", {least} or more"
        _refuse(f"{option} must be {wanted}{bound}; got {text!r}")

    parse.__name__ = kind.__name__  # the help shows it as the type
    return parse


def parse_share(text: str) -> float:
    """Read a share of the stream: 0.02, or 20/1000 for 20 per 1,000 images."""
    count, _, images = text.partition("/")
    try:
        value = float(count) / float(images or 1)
    except (ValueError, ZeroDivisionError):
        value = -1.0
    if 0 <= value <= 1:
        return value
    _refuse(f"--budget must lie between 0 and 1, as 0.02 or 20/1000; got {text!r}")


def parse_settings(assignments: list[str]) -> dict[str, object]:
    """Read settings such as epochs=5: numbers, true and false as in JSON, the rest as text."""
    settings: dict[str, object] = {}
    for assignment in assignments:
        name, equals, text = assignment.partition("=")
        if not equals:
            raise InputError(
                f"--set must have the form name=value, for example epochs=5; got {assignment!r}"
            )
        try:
            settings[name] = json.loads(text)
        except ValueError:
            settings[name] = text
    return settings


def parse_bytes(text: str) -> int:
    """Read a size on disk: 500MB, 2GB, or a plain number of bytes."""
    units = {"": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
    digits = text.rstrip("KMGTBkmgtb ")
    unit = text[len(digits) :].strip().upper()
    if digits.isdecimal() and unit in units:
        return int(digits) * units[unit]
    _refuse(f"a size must be a number of bytes, as 500MB or 2GB; got {text!r}")


def parse_history(text: str) -> KeptHistory:
    """Read how long a folder lists every image: 90d, 12h, a number of images, or all."""
    try:
        history = KeptHistory.from_text(text)
    except SettingsError as error:
        _refuse(f"--{error}")
    if (history.images or _FEWEST_IMAGES) >= _FEWEST_IMAGES:
        return history
    _refuse(f"--history must be {_FEWEST_IMAGES:,} images or more, got {text!r}")


def _refuse(reason: str) -> NoReturn:
    typer.echo(f"csim: {reason}", err=True)
    raise typer.Exit(2)


def parse_size(text: str) -> tuple[int, int]:
    """Return the height and width of a text such as 48 or 48x64."""
    height, separator, width = text.partition("x")
    sides = (height, width if separator else height)
    if not all(side.isdecimal() and int(side) >= MIN_SIDE for side in sides):
        raise InputError(
            f"--size must be pixels, as 48 or 48x64 (height x width), at least "
            f"{MIN_SIDE}×{MIN_SIDE}; got {text!r}"
        )
    return int(sides[0]), int(sides[1])
