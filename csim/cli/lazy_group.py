"""Groups of commands that import a command only when you run it or ask for its help.

Importing all commands would import torch, matplotlib and scikit-learn. A group therefore knows its
commands from a table of names, import paths and one-line helps. That is enough for the list of
commands, for suggestions and for shell completion.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperCommand, TyperGroup

from csim.cli.exit_codes import report_errors

if TYPE_CHECKING:
    from typer._click import Command, Context  # typer's copy of click


@dataclass(frozen=True, slots=True)
class CommandEntry:
    """Say where a command is and what the list of commands shows.

    Parameters
    ----------
    name
        What the user types.
    target
        The function that runs the command, as "module:function".
    help
        The first line of the function's docstring.
    """

    name: str
    target: str
    help: str

    def load(self) -> Command:
        """Import the function and return the command it defines."""
        module, _, function = self.target.partition(":")
        app = typer.Typer(add_completion=False)
        app.command(self.name)(report_errors(getattr(import_module(module), function)))
        return typer.main.get_command(app)


@dataclass(frozen=True, slots=True)
class GroupEntry:
    """Say which commands a group holds.

    Parameters
    ----------
    name
        What the user types.
    help
        What the list of commands shows.
    entries
        The commands of the group, in the order of its help.
    """

    name: str
    help: str
    entries: tuple[CommandEntry, ...]

    def load(self) -> LazyGroup:
        """Return the group; this imports none of its commands."""
        return LazyGroup(self.entries, name=self.name, help=self.help, no_args_is_help=True)


class LazyGroup(TyperGroup):
    """List commands from a table and import a command only when the user names it.

    Parameters
    ----------
    entries
        The commands and groups, in the order of the help.
    attributes
        What `TyperGroup` takes.
    """

    def __init__(
        self,
        entries: Sequence[CommandEntry | GroupEntry],
        **attributes: Any,  # noqa: ANN401
    ) -> None:
        super().__init__(**attributes)
        self._entries = {entry.name: entry for entry in entries}
        # Listing, suggestions and completion read these; resolve_command() replaces the chosen one.
        self.commands = {entry.name: TyperCommand(entry.name, help=entry.help) for entry in entries}

    def load(self, name: str) -> Command:
        """Return a command with its options; this imports its module."""
        return self._entries[name].load()

    def resolve_command(
        self, ctx: Context, args: list[str]
    ) -> tuple[str | None, Command | None, list[str]]:
        """Return the name, the loaded command and the arguments that follow it."""
        name, _, rest = super().resolve_command(ctx, args)
        return name, None if name is None else self.load(name), rest
