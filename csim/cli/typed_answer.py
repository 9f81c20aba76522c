"""What a person means by a line that they type at a question. The keys are those of the page.

An exact class name always wins. `/` before a text makes it a name, and `#` a guess. Without such a
mark, the letters in `HELP` are commands, and a number is a guess. But if classes have numbers as
their names, a number is a name.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from csim.ask.catalogue import clean_name
from csim.errors import InputError

Command = Literal["name", "junk", "take out", "split", "skip", "undo", "help", "quit"]

HELP = """\
Enter   the first guess           1 to 9  a guess by its number
/name   a class by its name       e       junk: nothing of interest
x 1 3   take small pictures out   s       split the group
k       skip                      u       undo what you said last
?       this help                 q       quit
You may leave the / out unless the name is one of these keys. If classes have numbers as
their names, #1 is the first guess."""
_COMMANDS: dict[str, Command] = {
    "e": "junk",
    "s": "split",
    "k": "skip",
    "u": "undo",
    "?": "help",
    "q": "quit",
}


@dataclass(frozen=True, slots=True)
class TypedAnswer:
    """Hold what a line means: a command, and the class or the pictures that it is about."""

    command: Command
    name: str = ""
    meaning: str = ""  # of a name, to show to the person
    pictures: tuple[int, ...] = ()  # to take out, counted from 1


def understand(text: str, guesses: Sequence[str], classes: Collection[str]) -> TypedAnswer:
    """Return what a line means, or raise an `InputError` that says what to type.

    Parameters
    ----------
    text
        What the person typed.
    guesses
        The names of the guesses that are shown, best first.
    classes
        The names of all classes.

    Examples
    --------
    >>> understand("2", ["gull", "tern"], ["gull", "tern"]).name
    'tern'
    >>> understand("2", ["7", "1"], ["1", "2", "7"]).name
    '2'
    """
    if not text.strip():
        return _guess("1", guesses)
    name = clean_name(text)
    if name in classes:
        return TypedAnswer("name", name, f"the class {name}")
    mark, rest = name[0], name[1:]
    if mark == "/":
        return _named(clean_name(rest), classes)
    if mark == "#":
        return _guess(rest, guesses)
    if name in _COMMANDS:
        return TypedAnswer(_COMMANDS[name])
    if re.fullmatch(r"x( \d{1,3})*", name, re.ASCII):
        return _take_out(rest.split())
    has_numbers = any(other.isdecimal() for other in classes)
    if name.isdecimal() and not has_numbers and 1 <= int(name) <= len(guesses):
        return _guess(name, guesses)
    return _named(name, classes)


def _named(name: str, classes: Collection[str]) -> TypedAnswer:
    is_new = name not in classes
    return TypedAnswer("name", name, f"the {'new ' * is_new}class {name}")


def _guess(text: str, guesses: Sequence[str]) -> TypedAnswer:
    if not guesses:
        raise InputError("there is no guess to choose; type a name, or ? for help")
    if not text.isdecimal() or not 1 <= int(text) <= len(guesses):
        raise InputError(
            f"a guess is #1 to #{len(guesses)}, got {'#' + text!r}; for a class of that name type "
            f"/#{text}"
        )
    name = guesses[int(text) - 1]
    return TypedAnswer("name", name, f"guess {text}, the class {name}")


def _take_out(numbers: Sequence[str]) -> TypedAnswer:
    if not numbers:
        raise InputError(
            "x needs the numbers of small pictures; type x 1 3 to take the first and the third out"
        )
    return TypedAnswer("take out", pictures=tuple(int(number) for number in numbers))
