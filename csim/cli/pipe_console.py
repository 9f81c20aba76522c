"""A console that tells when the program that read standard output has ended."""

from __future__ import annotations

from typing import NoReturn

from rich.console import Console


class PipeConsole(Console):
    """Print to standard output; raise BrokenPipeError, where rich would end with code 1."""

    def on_broken_pipe(self) -> NoReturn:
        """Raise the error, so that the command ends as `csim.cli.exit_codes` says."""
        raise BrokenPipeError
