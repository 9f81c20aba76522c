"""A warning that 16-bit files never use their upper bits: csim sees such files nearly black."""

from __future__ import annotations

import typer


class DarkFilesWarning:
    """Warn once.

    Parameters
    ----------
    bits
        Bits that 16-bit files of the stream should use. Higher warns sooner.
    """

    def __init__(self, bits: int) -> None:
        self._bits = bits
        self._is_given = False

    def give(self, used: int) -> None:
        """Warn if `used`, the most bits that a file uses, is too low; 0 says that there is none."""
        is_dark = 0 < used < self._bits - 1  # a dark picture may well leave one bit unused
        if self._is_given or not is_dark:
            return
        self._is_given = True
        typer.echo(
            f"the 16-bit files use only {used} of {self._bits} bits, so csim sees them dark; "
            f"if that is their depth, make the folder again with --bits {max(9, used)}",
            err=True,
        )
