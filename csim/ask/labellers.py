"""Labellers answer questions.

`TruthLabeller` looks answers up in a table, for simulations. `CallbackLabeller` calls a function of
yours. `TerminalLabeller` shows the image as text blocks and reads a line.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Mapping
from typing import Protocol, TextIO

from csim.errors import InputError
from csim.messages import Answer, Junk, Named, Skip, Split
from csim.records import (
    ClassId,
    Images,
    ItemId,
    Question,
)


class Labeller(Protocol):
    """Answer questions."""

    def answer(self, question: Question) -> Answer:
        """Return the answer to a question about its representative."""
        ...


class TruthLabeller:
    """Answer from a table of true names; skip images that are not in it.

    Parameters
    ----------
    names
        The true name of each image.
    junk
        The names that it calls junk.
    """

    def __init__(self, names: Mapping[ItemId, str], junk: Collection[str] = ()) -> None:
        self._names = names
        self._junk = junk

    def answer(self, question: Question) -> Answer:
        """Return the true name of the representative; the other members are not looked up."""
        name = self._names.get(question.representative.id)
        if name in self._junk:
            return Junk(question.id)
        return Skip(question.id) if name is None else Named(question.id, name)


class CallbackLabeller:
    """Answer by calling a function that returns a name, or None to skip."""

    def __init__(self, ask: Callable[[Question], str | None]) -> None:
        self._ask = ask

    def answer(self, question: Question) -> Answer:
        """Return what the function says."""
        name = self._ask(question)
        if name is not None and not isinstance(name, str):
            raise InputError(
                f"the callback must return a name (text) or None, it returned {type(name).__name__}"
            )
        return Skip(question.id) if name is None else Named(question.id, name)


class TerminalLabeller:
    """Show the representative in the terminal and read a name.

    An empty line takes the best guess, `#2` the second, `?` skips, `/` splits the group. A bare
    number is a name, because many classes have a number as their name.

    Parameters
    ----------
    names
        Returns the class names by id, to show guesses by name; called for every question.
    reader, writer
        Streams to read lines from and write text to; the terminal if not given.
    """

    def __init__(
        self,
        names: Callable[[], Mapping[ClassId, str]],
        reader: TextIO | None = None,
        writer: TextIO | None = None,
    ) -> None:
        self._names = names
        self._reader = reader or sys.stdin
        self._writer = writer or sys.stdout

    def answer(self, question: Question) -> Answer:
        """Show the question and read lines until one is an answer; the end of input skips."""
        known = self._names()
        guesses = [(known[c], score) for c, score in question.guesses if c in known]
        self._writer.write(f"{draw(question.representative.image)}\n")
        self._writer.write(
            f"question {question.id}: {len(question.members)} images like this one\n"
        )
        for number, (name, score) in enumerate(guesses, start=1):
            self._writer.write(f"  #{number}  {name}  ({score:.0%})\n")
        while True:
            self._writer.write("name, Enter for #1, ? to skip, / to split: ")
            self._writer.flush()
            line = self._reader.readline()
            if (answer := self._read(line, question, [name for name, _ in guesses])) is not None:
                return answer

    def _read(self, line: str, question: Question, guesses: list[str]) -> Answer | None:
        text = line.strip()
        if not line or text == "?":
            return Skip(question.id)
        if text == "/":
            return Split(question.id) if len(question.members) > 1 else None
        by_mark = {f"#{number}": name for number, name in enumerate(guesses, start=1)}
        name = by_mark.get(text or "#1", text)
        return Named(question.id, name) if name else None


def draw(image: Images, width: int = 32) -> str:
    """Return an image as lines of text blocks, two characters per pixel.

    At most `width` pixels are drawn in a row. Higher shows finer detail.

    >>> import numpy as np
    >>> draw(np.array([[0, 255], [255, 0]], np.uint8)).splitlines()
    ['  ██', '██  ']
    """
    grey = image.astype(float).mean(axis=2) if image.ndim == 3 else image.astype(float)
    step = max(1, -(-grey.shape[1] // width))
    small = grey[::step, ::step]
    low = small.min()
    high = small.max()
    shades = ((small - low) / max(high - low, 1.0) * 4).round().astype(int)
    return "\n".join("".join(" ░▒▓█"[shade] * 2 for shade in row) for row in shades)
