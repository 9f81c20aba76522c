"""The command that adds a message to a Redis stream, and the number that the message gets."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain

from csim.distributed.broker import Command

Number = tuple[int, int]  # of a message: milliseconds and a counter, or what csim chose
Value = str | bytes | int
Fields = Mapping[str, Value] | Mapping[bytes, Value]


def add_command(
    stream: str, fields: Fields, *, number: Number | None = None, most: int | None = None
) -> Command:
    """Return the command that adds a message.

    Parameters
    ----------
    stream
        The key of the stream.
    fields
        What the message holds.
    number
        Of the message; None lets the server choose.
    most
        Messages that stay in the stream, about; None keeps all. Higher uses more memory.
    """
    limit = () if most is None else ("MAXLEN", "~", most)
    entry_id = "*" if number is None else f"{number[0]}-{number[1]}"
    return ("XADD", stream, *limit, entry_id, *chain.from_iterable(fields.items()))


def parse_number(text: str | bytes) -> Number:
    """Return the number of a message as a pair that can be compared.

    >>> parse_number(b"1526919030474-55")
    (1526919030474, 55)
    """
    first, _, second = (text.decode() if isinstance(text, bytes) else text).partition("-")
    return int(first), int(second or 0)
