"""The page docs/cli.md, made from the help of all commands.

Run this after you change a help text:

    python -m csim.cli.reference > docs/cli.md
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import typer

from csim.cli.exit_codes import EXIT_CODES
from csim.cli.lazy_group import CommandEntry, GroupEntry
from csim.cli.main import COMMANDS

if TYPE_CHECKING:
    from typer._click import Command, Parameter  # typer's copy of click

_INTRODUCTION = """\
# Commands

This page lists all commands of `csim` with their arguments, options and defaults. Your terminal
shows the same with `csim COMMAND --help`. `csim --version` prints the version. With
`csim --install-completion` your shell completes commands and options.

Do not edit this page. Change the help text in `csim/cli/` and run
`python -m csim.cli.reference > docs/cli.md`.
"""
_EXAMPLE = "Example: "


def reference() -> str:
    """Return the page as Markdown."""
    commands = list(_walk(COMMANDS, "csim"))
    parts = [
        _INTRODUCTION,
        _contents(commands),
        _exit_codes(),
        *(_section(name, entry.load()) for name, entry in commands),
    ]
    return "\n".join(parts)


def _walk(
    entries: Sequence[CommandEntry | GroupEntry], parent: str
) -> Iterator[tuple[str, CommandEntry]]:
    for entry in entries:
        name = f"{parent} {entry.name}"
        if isinstance(entry, GroupEntry):
            yield from _walk(entry.entries, name)
        else:
            yield name, entry


def _contents(commands: Sequence[tuple[str, CommandEntry]]) -> str:
    rows = [
        [f"[`{name}`](#{name.replace(' ', '-')})", _plain(entry.help)] for name, entry in commands
    ]
    return _table(["command", "what it does"], rows)


def _exit_codes() -> str:
    """Return the section on exit codes."""
    rows = [[str(code), _plain(meaning)] for code, meaning in EXIT_CODES.items()]
    return f"## Exit codes\n\n{_table(['code', 'meaning'], rows)}"


def _section(name: str, command: Command) -> str:
    """Return a command's help, usage, arguments, options and examples."""
    paragraphs = [" ".join(text.split()) for text in (command.help or "").split("\n\n")]
    examples = [text.removeprefix(_EXAMPLE) for text in paragraphs if text.startswith(_EXAMPLE)]
    prose = [_plain(text) for text in paragraphs if not text.startswith(_EXAMPLE)]
    shown = [param for param in command.params if not getattr(param, "hidden", False)]
    arguments = [param for param in shown if param.param_type_name == "argument"]
    options = [param for param in shown if param.param_type_name == "option"]
    usage = " ".join([name, "[OPTIONS]", *map(_usage, arguments)])
    parts = [f"## {name}", *prose, f"```\n{usage}\n```"]
    if arguments:
        rows = [[f"`{_upper(param)}`", _help(param), _default(param)] for param in arguments]
        parts.append(_table(["argument", "meaning", "default"], rows))
    if options:
        rows = [[_flags(param), _help(param), _default(param)] for param in options]
        parts.append(_table(["option", "meaning", "default"], rows))
    parts.append("```sh\n" + "\n".join(examples) + "\n```\n")
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"


def _usage(param: Parameter) -> str:
    return _upper(param) if param.required else f"[{_upper(param)}]"


def _upper(param: Parameter) -> str:
    return param.metavar or (param.name or "").upper()


def _flags(param: Parameter) -> str:
    return ", ".join(f"`{flag}`" for flag in [*param.opts, *param.secondary_opts])


def _help(param: Parameter) -> str:
    return _plain(getattr(param, "help", None) or "")


def _default(param: Parameter) -> str:
    shown = getattr(param, "show_default", None)
    if isinstance(shown, str):
        return _plain(shown)
    if param.required:
        return "required"
    value = param.default
    if isinstance(value, bool):
        return f"`{param.opts[0]}`" if value else "off"
    if value is None or value == []:
        return ""
    values = value if isinstance(value, list | tuple) else [value]
    return ", ".join(f"`{each}`" for each in values)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _plain(text: str) -> str:
    """Return text that Markdown shows as it is, also in a table."""
    outside = text.split("`")
    outside[::2] = [re.sub(r"([|*_<>\[\]])", r"\\\1", part) for part in outside[::2]]
    return "`".join(outside)


if __name__ == "__main__":
    typer.echo(reference(), nl=False)
