"""`csim classes add`, `rename`, `merge`, `remove` and `restore` send edits to the stream."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from csim.ask.catalogue import clean_name
from csim.cli.send_message import send_and_print
from csim.errors import ClassError
from csim.folder.reader import Reader
from csim.messages import AddClass, MergeClasses, RemoveClass, RenameClass, RestoreClass
from csim.records import (
    ClassId,
)

Folder = Annotated[Path, typer.Argument(help="The stream folder.")]
Which = Annotated[str, typer.Argument(help="A class, by its name or as id:3 by its id.")]
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
    found = _find(folder, which)
    send_and_print(folder, RenameClass(found.id, name), f"{found.name} is now {name}", as_json)


def merge(
    folder: Folder,
    which: Which,
    into: Annotated[
        str, typer.Argument(help="The class to merge it into, by its name or as id:3 by its id.")
    ],
    as_json: AsJson = False,
) -> None:
    """Merge one class into another.

    Example: csim classes merge birds "grey heron" heron
    """
    source = _find(folder, which)
    target = _find(folder, into)
    edit = MergeClasses(source.id, target.id)
    send_and_print(folder, edit, f"{source.name} is merged into {target.name}", as_json)


def remove(folder: Folder, which: Which, as_json: AsJson = False) -> None:
    """Remove a class and its stored images; `csim classes restore` brings it back.

    Example: csim classes remove birds smudge
    """
    found = _find(folder, which)
    done_text = (
        f"{found.name} is removed; to bring it back: csim classes restore {folder} id:{found.id}"
    )
    send_and_print(folder, RemoveClass(found.id), done_text, as_json)


def restore(
    folder: Folder,
    which: Annotated[
        str, typer.Argument(help="A removed class, by its name or as id:3 by its id.")
    ],
    as_json: AsJson = False,
) -> None:
    """Bring a removed class back, with its id and its labels.

    csim keeps the stored images of the last ten classes that you removed. An
    older one comes back with its labels, and learns from new images.

    Example: csim classes restore birds smudge
    """
    with Reader(folder) as reader:
        removed = [NamedClass(*row) for row in reader.history.removed_classes().items()]
    found = _choose(removed, which, "removed class")
    send_and_print(folder, RestoreClass(found.id), f"{found.name} is back", as_json)


class NamedClass(NamedTuple):
    """Hold the id and the name of a class."""

    id: ClassId
    name: str


def _find(folder: Path, which: str) -> NamedClass:
    with Reader(folder) as reader:
        return _choose([NamedClass(row.id, row.name) for row in reader.classes()], which, "class")


def _choose(classes: Sequence[NamedClass], which: str, kind: str) -> NamedClass:
    """Return the last class with a name, or with an id written as id:3; a name comes first."""
    name = clean_name(which)
    by_name = [row for row in classes if row.name == name]
    by_id = [row for row in classes if name == f"id:{row.id}"]
    if found := by_name or by_id:
        return found[-1]
    meant = next((row for row in classes if name == str(row.id)), None)
    if meant is not None:
        raise ClassError(
            f"no {kind} is called {which!r}; "
            f"the one with the id {meant.id} is called {meant.name!r}: write id:{meant.id} for it"
        )
    names = ", ".join(row.name for row in classes) or "none"
    raise ClassError(f"no {kind} is called {which!r}; choose one of: {names}")
