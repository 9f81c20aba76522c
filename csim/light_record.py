"""A dataclass for what csim makes of every image.

Type checkers treat it as frozen. At run time it is not: a frozen one takes four times as long to
make, and a stream makes two for each image.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def light_record(kind: type[T]) -> type[T]:
    """Return a class as a dataclass with slots, equality and a hash.

    >>> @light_record
    ... class Point:
    ...     x: int
    >>> Point(3), Point(3) == Point(3)
    (Point(x=3), True)
    """
    return dataclass(slots=True, unsafe_hash=True)(kind)
