"""`csim export`: labels, pictures and the model for other tools."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from csim.cli.download import download, download_model, folder_and_out, only_out
from csim.cli.service_options import TokenFile, Url
from csim.errors import InputError
from csim.export.destination import atomic_output
from csim.export.image_folder import write_images
from csim.export.label_studio import labelling_config, write_tasks
from csim.export.labels import write_labels
from csim.export.model import files_of, write_model
from csim.export.onnx_model import write_onnx
from csim.export.predictions import write_predictions
from csim.folder.reader import Reader

Folder = Annotated[Path, typer.Argument(help="The stream folder. It may be running.")]
FolderAndTable = Annotated[
    list[Path],
    typer.Argument(
        metavar="[FOLDER] OUT",
        help="The stream folder, which may be running, and the .csv or .jsonl file to write. "
        "With --url, the file alone.",
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Replace an existing file.")]
SourceFilter = Annotated[
    str | None, typer.Option(metavar="NAME", help="Only images of this source, a camera's name.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the outcome as one JSON object.")]


def labels(
    paths: FolderAndTable,
    warm_up: Annotated[
        bool, typer.Option("--warm-up", help="Include the labelled images given to `csim init`.")
    ] = False,
    source: SourceFilter = None,
    force: Force = False,
    as_json: AsJson = False,
    url: Url = None,
    token_file: TokenFile = None,
) -> None:
    """Write the current class of each image and who decided it.

    The columns are item, class, decided_by, score, question, position, time and
    answered. The score and the time (UTC) are those at arrival; answered is
    when the answer was given. decided_by is told (a person saw this
    image), answer (it was in an answered group), model or none. Take care with
    spreadsheets: they read a name that begins with = as a formula.

    Example: csim export labels birds labels.csv

    Example: csim export labels labels.csv --url http://127.0.0.1:8000
    """
    if url is not None:
        if warm_up:
            raise InputError("--warm-up needs a stream folder, and --url names a service")
        download(f"labels{only_out(paths).suffix}", only_out(paths), url, token_file, force=force)
        _print_outcome({"file": str(paths[0])}, f"{paths[0]} has the labels", as_json)
        return
    folder, out = folder_and_out(paths)
    with Reader(folder) as reader:
        total = reader.counts.images(warm_up=warm_up)
        with _show_progress("images", total) as follow:
            rows = write_labels(
                reader, out, warm_up=warm_up, source=source, overwrite=force, follow=follow
            )
    _print_outcome({"file": str(out), "rows": rows}, f"{out} has {rows:,} images", as_json)


def predictions(
    paths: FolderAndTable,
    force: Force = False,
    as_json: AsJson = False,
    url: Url = None,
    token_file: TokenFile = None,
) -> None:
    """Write all predictions from the first image on, as `csim run --out` does.

    There is a line for each image at its arrival, and one more whenever its
    class changed later.

    Example: csim export predictions birds predictions.jsonl

    Example: csim export predictions predictions.csv --url http://127.0.0.1:8000
    """
    if url is not None:
        out = only_out(paths)
        download(f"predictions{out.suffix}", out, url, token_file, force=force)
        _print_outcome({"file": str(out)}, f"{out} has the predictions", as_json)
        return
    folder, out = folder_and_out(paths)
    with Reader(folder) as reader, _show_progress("lines", reader.counts.lines()) as follow:
        rows = write_predictions(reader, out, overwrite=force, follow=follow)
    _print_outcome({"file": str(out), "rows": rows}, f"{out} has {rows:,} lines", as_json)


def images(
    folder: Folder,
    out: Annotated[Path, typer.Argument(help="The folder to make. It must not exist yet.")],
    every: Annotated[
        bool, typer.Option("--all", help="Copy every image that has a class and a kept picture.")
    ] = False,
    source: SourceFilter = None,
    as_json: AsJson = False,
) -> None:
    """Copy pictures into a folder with a subfolder per class.

    Most tools read this layout. By default csim copies the images that a person
    labelled, including those given to `csim init`. Characters that a file name
    cannot hold become _. OUT.csv lists the item and the class of every file.

    Example: csim export images birds told-birds
    """
    with Reader(folder) as reader:
        total = reader.counts.pictures(with_class=True, told_only=not every)
        with _show_progress("images", total) as follow:
            copied = write_images(reader, out, every=every, source=source, follow=follow)
    _print_outcome(
        {"folder": str(out), **asdict(copied)},
        f"{out} has {copied.images:,} images of {copied.classes} classes",
        as_json,
    )
    if copied.gone and not as_json:
        typer.echo(f"{copied.gone:,} more have no kept picture", err=True)
    if copied.unnamed and not as_json:
        typer.echo(f"{copied.unnamed:,} more have no class", err=True)
    if copied.junk and not as_json:
        typer.echo(f"{copied.junk:,} more are junk", err=True)


def label_studio(
    folder: Folder,
    out: Annotated[Path, typer.Argument(help="The .json file to write.")],
    every: Annotated[
        bool,
        typer.Option(
            "--all", help="Write a task per image with a kept picture, not per open question."
        ),
    ] = False,
    config: Annotated[
        Path | None, typer.Option(help="Write the labelling configuration (XML) to this file.")
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Write the open questions as tasks for Label Studio.

    The file contains the pictures. When people have answered in Label Studio,
    import the answers with `csim label FOLDER --from EXPORT.json`.

    Example: csim export label-studio birds tasks.json --config config.xml
    """
    with Reader(folder) as reader:
        total = reader.counts.pictures() if every else reader.count("open")
        with _show_progress("tasks", total) as follow:
            written = write_tasks(reader, out, every=every, overwrite=force, follow=follow)
    if config is not None:
        with atomic_output(config, outside=folder, overwrite=force) as file:
            file.write_text(labelling_config(), encoding="utf-8")
    _print_outcome(
        {"file": str(out), **asdict(written)}, f"{out} has {written.tasks:,} tasks", as_json
    )
    if written.gone and not as_json:
        typer.echo(f"{written.gone:,} more have no kept picture", err=True)


def model(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="[FOLDER] OUT",
            help="The stream folder, which may be running, and the path of the two files, with or "
            "without .safetensors. With --url, the path alone.",
        ),
    ],
    onnx: Annotated[
        bool, typer.Option("--onnx", help="Write one ONNX graph to OUT instead: pixels to class.")
    ] = False,
    force: Force = False,
    as_json: AsJson = False,
    url: Url = None,
    token_file: TokenFile = None,
) -> None:
    """Write the model in use as plain arrays, with a model card.

    OUT.safetensors holds the arrays. OUT.json holds the classes, the thresholds,
    the settings, the training images, and how to compute with the arrays. With
    --onnx, OUT is one graph for any ONNX runtime: uint8 images in; vectors,
    probabilities, the best class, and accept or reject out.

    Example: csim export model birds model

    Example: csim export model birds model.onnx --onnx

    Example: csim export model model --url http://127.0.0.1:8000
    """
    if onnx:
        _write_graph(paths, url, force=force, as_json=as_json)
        return
    if url is None:
        folder, out = folder_and_out(paths)
        with Reader(folder) as reader:
            card = write_model(reader, out, overwrite=force)
    else:
        out = only_out(paths)
        card = download_model(out, url, token_file, force=force)
    file, beside = files_of(out)
    values: dict[str, object] = {
        "file": str(file),
        "card": str(beside),
        "model": card["model"],
        "sha256": card["sha256"],
    }
    _print_outcome(
        values, f"{file} is model {card['model']}, trained on {card['images']:,} images", as_json
    )


def _write_graph(paths: list[Path], url: str | None, *, force: bool, as_json: bool) -> None:
    if url is not None:
        raise InputError("--onnx needs a stream folder, and --url names a service")
    folder, out = folder_and_out(paths)
    with Reader(folder) as reader:
        card = write_onnx(reader, out, overwrite=force)
    values: dict[str, object] = {"file": str(out), "model": card["model"]}
    _print_outcome(values, f"{out} is model {card['model']} as an ONNX graph", as_json)


@contextmanager
def _show_progress(what: str, total: int) -> Iterator[Callable[[int], None]]:
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


def _print_outcome(values: dict[str, object], text: str, as_json: bool) -> None:
    typer.echo(json.dumps(values, ensure_ascii=False) if as_json else text)
