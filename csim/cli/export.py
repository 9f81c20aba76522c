"""`csim export`: labels, pictures and the model for other tools."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from csim.cli.messages import in_one_line

if TYPE_CHECKING:
    from csim.folder.reader import Reader

export = typer.Typer(
    help="Write labels, pictures and the model for other tools.", no_args_is_help=True
)

Folder = Annotated[Path, typer.Argument(help="The stream folder; it may be running meanwhile.")]
Table = Annotated[Path, typer.Argument(help="The file to write; it ends in .csv or .jsonl.")]
Force = Annotated[bool, typer.Option("--force", help="Replace a file that is already there.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print what was written as one JSON object.")]


@export.command()
@in_one_line
def labels(
    folder: Folder,
    out: Table,
    warm_up: Annotated[
        bool, typer.Option("--warm-up", help="With the labelled images that the stream began with.")
    ] = False,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Write each image's class today, and who decided it.

    The columns are item, class, decided_by (told: a person saw this very image;
    answer: it was in the group of one; model; none), score at arrival, question
    and position. Values are written as they are: a spreadsheet takes a name that
    begins with = for a formula.

    Example: csim export labels birds labels.csv
    """
    from csim.export.labels import write_labels  # noqa: PLC0415  # slow to load: `csim --help` need not wait

    with (
        _reading(folder) as reader,
        _showing("images", reader.counts.images(warm_up=warm_up)) as follow,
    ):
        rows = write_labels(reader, out, warm_up=warm_up, overwrite=force, follow=follow)
    _tell({"file": str(out), "rows": rows}, f"{out} has {rows:,} images", as_json)


@export.command()
@in_one_line
def predictions(folder: Folder, out: Table, force: Force = False, as_json: AsJson = False) -> None:
    """Write what `csim run --out` writes, from the first image on.

    A line for each image at its arrival, and one whenever its class changed
    later.

    Example: csim export predictions birds predictions.jsonl
    """
    from csim.export.predictions import write_predictions  # noqa: PLC0415

    with _reading(folder) as reader, _showing("lines", reader.counts.lines()) as follow:
        rows = write_predictions(reader, out, overwrite=force, follow=follow)
    _tell({"file": str(out), "rows": rows}, f"{out} has {rows:,} lines", as_json)


@export.command()
@in_one_line
def images(
    folder: Folder,
    out: Annotated[Path, typer.Argument(help="The folder to make; there must be nothing yet.")],
    every: Annotated[
        bool, typer.Option("--all", help="Every image that has a class and whose picture is kept.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Copy pictures to OUT/class name/file, a layout that most tools take.

    By default those that a person has named, the labelled images that the
    stream began with included. Letters that no file name can hold become _;
    OUT.csv has every file's own item and class.

    Example: csim export images birds told-birds
    """
    from csim.export.image_folder import write_images  # noqa: PLC0415

    with _reading(folder) as reader:
        total = reader.counts.pictures(with_class=True, told_only=not every)
        with _showing("images", total) as follow:
            copied = write_images(reader, out, every=every, follow=follow)
    _tell(
        {"folder": str(out), **asdict(copied)},
        f"{out} has {copied.images:,} images of {copied.classes} classes",
        as_json,
    )
    if copied.gone and not as_json:
        typer.echo(f"{copied.gone:,} more have no picture any more", err=True)
    if copied.unnamed and not as_json:
        typer.echo(f"{copied.unnamed:,} more have no class", err=True)


@export.command("label-studio")
@in_one_line
def label_studio(
    folder: Folder,
    out: Annotated[Path, typer.Argument(help="The file to write; it ends in .json.")],
    every: Annotated[
        bool,
        typer.Option(
            "--all", help="A task per image whose picture is kept, not per open question."
        ),
    ] = False,
    config: Annotated[
        Path | None, typer.Option(help="Write the labelling config, XML, to this file too.")
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Write the open questions as tasks for Label Studio.

    The pictures are in the file. What people answer there comes back with
    `csim label FOLDER --from EXPORT.json`.

    Example: csim export label-studio birds tasks.json --config config.xml
    """
    from csim.export.atomic import atomic_output  # noqa: PLC0415
    from csim.export.label_studio import labelling_config, write_tasks  # noqa: PLC0415

    with _reading(folder) as reader:
        total = reader.counts.pictures() if every else reader.count("open")
        with _showing("tasks", total) as follow:
            written = write_tasks(reader, out, every=every, overwrite=force, follow=follow)
    if config is not None:
        with atomic_output(config, outside=folder, overwrite=force) as file:
            file.write_text(labelling_config(), encoding="utf-8")
    _tell({"file": str(out), **asdict(written)}, f"{out} has {written.tasks:,} tasks", as_json)
    if written.gone and not as_json:
        typer.echo(f"{written.gone:,} more have no picture any more", err=True)


@export.command()
@in_one_line
def model(
    folder: Folder,
    out: Annotated[
        Path, typer.Argument(help="The name of the two files, without or with .safetensors.")
    ],
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Write the model in use as plain arrays, with a card beside it.

    OUT.safetensors holds the arrays, OUT.json the classes, thresholds and
    settings, what it was trained on, and how to compute with it.

    Example: csim export model birds model
    """
    from csim.export.model import files_of, write_model  # noqa: PLC0415

    with _reading(folder) as reader:
        card = write_model(reader, out, overwrite=force)
    file, beside = files_of(out)
    values = {
        "file": str(file),
        "card": str(beside),
        "model": card["model"],
        "sha256": card["sha256"],
    }
    _tell(values, f"{file} is model {card['model']}, trained on {card['images']:,} images", as_json)


@contextmanager
def _reading(folder: Path) -> Iterator[Reader]:
    from csim.folder.reader import Reader  # noqa: PLC0415

    with Reader(folder) as reader:
        yield reader


@contextmanager
def _showing(what: str, total: int) -> Iterator[Callable[[int], None]]:
    """Show how far an export is, on a terminal only."""
    console = Console(stderr=True, highlight=False)
    columns = (
        TextColumn("writing"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn(f"{what},"),
        TimeRemainingColumn(),
    )
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as bar:
        task = bar.add_task("", total=total)
        yield lambda done: bar.update(task, completed=done)


def _tell(values: dict[str, object], words: str, as_json: bool) -> None:
    typer.echo(json.dumps(values, ensure_ascii=False) if as_json else words)
