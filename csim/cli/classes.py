"""`csim classes`: list, add, rename, merge and remove classes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from csim.cli.messages import in_one_line
from csim.cli.outcomes import tell
from csim.errors import ClassError
from csim.records import AddClass, MergeClasses, RemoveClass, RenameClass

if TYPE_CHECKING:
    from csim.folder.reader import ClassRow

classes = typer.Typer(help="List, add, rename, merge and remove classes.", no_args_is_help=True)

Folder = Annotated[Path, typer.Argument(help="The stream folder.")]
Which = Annotated[str, typer.Argument(help="A class, by its name or its id.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the outcome as one JSON object.")]


@classes.command("list")
@in_one_line
def list_classes(
    folder: Folder,
    as_json: Annotated[bool, typer.Option("--json", help="Print them as JSON.")] = False,
) -> None:
    """List all classes.

    Example: csim classes list birds
    """
    found = _rows(folder)
    if as_json:
        rows = [
            {
                "id": c.id,
                "name": c.name,
                "images": c.images,
                "told": c.told,
                "learned": c.is_learned,
            }
            for c in found
        ]
        typer.echo(json.dumps(rows, ensure_ascii=False))
        return
    table = Table("id", "class", "images", "told", "learned", box=box.SIMPLE)
    for own in found:
        table.add_row(
            str(own.id),
            own.name,
            f"{own.images:,}",
            f"{own.told:,}",
            "yes" if own.is_learned else "not yet",
        )
    Console(highlight=False, markup=False).print(table)


@classes.command()
@in_one_line
def add(
    folder: Folder, name: Annotated[str, typer.Argument(help="Its name.")], as_json: AsJson = False
) -> None:
    """Make a class known by name before its first image.

    Example: csim classes add birds heron
    """
    tell(folder, AddClass(name), f"added {name}", as_json)


@classes.command()
@in_one_line
def rename(
    folder: Folder,
    which: Which,
    name: Annotated[str, typer.Argument(help="The new name.")],
    as_json: AsJson = False,
) -> None:
    """Give a class another name; its id stays.

    Example: csim classes rename birds hern heron
    """
    tell(folder, RenameClass(_find(folder, which), name), f"{which} is now {name}", as_json)


@classes.command()
@in_one_line
def merge(
    folder: Folder,
    which: Which,
    into: Annotated[str, typer.Argument(help="The class that it goes up in.")],
    as_json: AsJson = False,
) -> None:
    """Make one class of two.

    Example: csim classes merge birds "grey heron" heron
    """
    tell(
        folder,
        MergeClasses(_find(folder, which), _find(folder, into)),
        f"{which} went up in {into}",
        as_json,
    )


@classes.command()
@in_one_line
def remove(folder: Folder, which: Which, as_json: AsJson = False) -> None:
    """Forget a class and its stored images.

    Example: csim classes remove birds smudge
    """
    tell(folder, RemoveClass(_find(folder, which)), f"{which} is removed", as_json)


def _find(folder: Path, which: str) -> int:
    """Return a class's id; a name goes before an id that reads the same."""
    rows = _rows(folder)
    found = [own.id for own in rows if own.name == which] or [
        own.id for own in rows if str(own.id) == which
    ]
    if not found:
        raise ClassError(
            f"no class is called {which!r}; there are {', '.join(own.name for own in rows)}"
        )
    return found[0]


def _rows(folder: Path) -> list[ClassRow]:
    from csim.folder.reader import Reader  # noqa: PLC0415  # slow to load: `csim --help` need not wait

    with Reader(folder) as reader:
        return reader.classes()
