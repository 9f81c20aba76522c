"""`csim classes add`, `rename`, `merge` and `remove`: edits, which csim sends to the stream."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from csim.cli.send_message import send_and_print
from csim.errors import ClassError
from csim.folder.reader import Reader
from csim.records import AddClass, MergeClasses, RemoveClass, RenameClass

Folder = Annotated[Path, typer.Argument(help="The stream folder.")]
Which = Annotated[str, typer.Argument(help="A class, by its name or its id.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the outcome as one JSON object.")]


def add(
    folder: Folder,
    name: Annotated[str, typer.Argument(help="The name of the new class.")],
    as_json: AsJson = False,
) -> None:
    """Add a class by name before its first image comes.

    Example: csim classes add birds heron
    """
    send_and_print(folder, AddClass(name), f"added {name}", as_json)


def rename(
    folder: Folder,
    which: Which,
    name: Annotated[str, typer.Argument(help="The new name.")],
    as_json: AsJson = False,
) -> None:
    """Give a class another name; its id stays the same.

    Example: csim classes rename birds hern heron
    """
    send_and_print(
        folder, RenameClass(_find(folder, which), name), f"{which} is now {name}", as_json
    )


def merge(
    folder: Folder,
    which: Which,
    into: Annotated[str, typer.Argument(help="The class to merge it into, by its name or its id.")],
    as_json: AsJson = False,
) -> None:
    """Merge one class into another.

    Example: csim classes merge birds "grey heron" heron
    """
    edit = MergeClasses(_find(folder, which), _find(folder, into))
    send_and_print(folder, edit, f"{which} is merged into {into}", as_json)


def remove(folder: Folder, which: Which, as_json: AsJson = False) -> None:
    """Remove a class and its stored images.

    Example: csim classes remove birds smudge
    """
    send_and_print(folder, RemoveClass(_find(folder, which)), f"{which} is removed", as_json)


def _find(folder: Path, which: str) -> int:
    """Return a class's id; a name counts before an id that reads the same."""
    with Reader(folder) as reader:
        rows = reader.classes()
    by_name = [row.id for row in rows if row.name == which]
    by_id = [row.id for row in rows if str(row.id) == which]
    found = by_name or by_id
    if not found:
        names = ", ".join(row.name for row in rows)
        raise ClassError(f"no class is called {which!r}; choose one of: {names}")
    return found[0]
