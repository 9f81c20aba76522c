"""Charts as SVG paths, drawn on the server: no script, and colours from the stylesheet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count

from markupsafe import Markup

WIDTH = 600
HEIGHT = 120


def line(values: Sequence[float], most: float) -> Markup:
    """Return the path of a line through values.

    Parameters
    ----------
    values
        From left to right.
    most
        The value at the top. Higher makes the line flatter.

    Examples
    --------
    >>> str(line([0, 5, 10], most=10))
    'M0,120 L300,60 L600,0'
    """
    return Markup("M" + " L".join(_points(values, most)))  # noqa: S704 - numbers only


def area(values: Sequence[float], most: float) -> Markup:
    """Return the path of the area below a line through values; `most` is the value at the top.

    >>> str(area([0, 10], most=10))
    'M0,120 L0,120 L600,0 L600,120 Z'
    """
    inside = " L".join(_points(values, most))
    return Markup(f"M0,{HEIGHT} L{inside} L{WIDTH},{HEIGHT} Z")  # noqa: S704


def ceiling(values: Sequence[float]) -> float:
    """Return a round number that is at least as high as all values: the top of a chart.

    >>> ceiling([3, 7]), ceiling([130]), ceiling([]), ceiling([0.2])
    (10, 200, 1, 1)
    """
    highest = max([*values, 0.0])
    tops: Iterator[int] = (factor * 10**power for power in count() for factor in (1, 2, 5))
    return next(top for top in tops if top >= highest)


def _points(values: Sequence[float], most: float) -> list[str]:
    step = WIDTH / max(1, len(values) - 1)
    scale = HEIGHT / max(most, 1e-9)
    return [
        f"{index * step:.4g},{HEIGHT - min(value, most) * scale:.4g}"
        for index, value in enumerate(values)
    ]
