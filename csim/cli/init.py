"""`csim init`: a new stream folder from labelled images."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from csim.cli.option_parsers import number_parser, parse_bytes, parse_settings, parse_share
from csim.errors import InputError
from csim.folder.layout import Config
from csim.folder.make import make
from csim.settings import Settings
from csim.sources.arrival import Decoded, Trouble
from csim.sources.common_shape import common_shape
from csim.sources.decode import decode
from csim.sources.image_folder import labelled_files

_LARGEST_SIDE = 64  # pixels, unless --size asks for more: small images train in seconds

Labelled = Annotated[
    Path,
    typer.Option(help="Labelled images: a subfolder per class, each with two images or more."),
]
Size = Annotated[
    str | None,
    typer.Option(
        show_default="their own size",
        help="Resize all images to this height and width: 48 or 48x64.",
    ),
]
Budget = Annotated[
    float | None,
    typer.Option(
        parser=parse_share,
        show_default="the preset's",
        help="Questions per image at most, as 0.02 or 20/1000.",
    ),
]
Preset = Annotated[str, typer.Option(help="default, or paper: the method as it was published.")]
Changes = Annotated[
    list[str] | None,
    typer.Option("--set", help="Change a setting: --set epochs=5. Repeat the option for more."),
]
RetrainLag = Annotated[
    int,
    typer.Option(
        parser=number_parser("--retrain-lag", int, least=0),
        help="Images from the start of a training to the change to the new model. "
        "Higher gives the training more time.",
    ),
]
PictureRoom = Annotated[
    int, typer.Option(parser=parse_bytes, help="Disk space for kept pictures: 500MB, 2GB.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the outcome as one JSON object.")]


def init(
    folder: Annotated[Path, typer.Argument(help="The stream folder to make.")],
    labelled: Labelled,
    size: Size = None,
    budget: Budget = None,
    preset: Preset = "default",
    change: Changes = None,
    retrain_lag: RetrainLag = 250,
    picture_room: PictureRoom = "2GB",  # type: ignore[assignment]
    keep: Annotated[str | None, typer.Option(hidden=True)] = None,
    as_json: AsJson = False,
) -> None:
    """Make a stream folder and train its first model.

    The labelled images show the classes you know today. csim resizes all images
    to one size. By default that is their own size if all are equally large and
    at most 64 pixels a side, otherwise 64x64. Ctrl-C leaves nothing behind.

    Example: csim init birds --labelled photos/known --budget 20/1000
    """
    if keep is not None:
        raise InputError(f"--keep has a new name; write --picture-room {keep} instead")
    settings = _settings(preset, budget, parse_settings(change or []))
    if folder.exists():
        raise InputError(
            f"{folder} must not exist yet, but it does; "
            f"choose a new name, or continue it with `csim run {folder}`"
        )
    console = Console(stderr=True, highlight=False)
    with console.status("reading images"):
        shape, images, names = _read(labelled, None if size is None else _pixels(size))
    config = Config(settings, shape, retrain_lag, picture_room)
    with _show_epochs(console, settings.epochs) as on_epoch:
        make(folder, config, images, names, on_epoch)
    _print_outcome(folder, shape, names, as_json)


def _settings(preset: str, budget: float | None, changes: dict[str, object]) -> Settings:
    if preset not in ("default", "paper"):
        raise InputError(f"--preset must be default or paper, got {preset!r}")
    base = Settings() if preset == "default" else Settings.paper()
    share = {} if budget is None else {"budget": budget}
    return Settings.from_dict(base.to_dict() | changes | share)


def _pixels(text: str) -> tuple[int, int]:
    height, _, width = text.partition("x")
    if not height.isdecimal() or not (width or height).isdecimal():
        raise InputError(f"--size must be pixels, as 48 or 48x64 (height x width); got {text!r}")
    return int(height), int(width or height)


def _read(
    root: Path, size: tuple[int, int] | None
) -> tuple[tuple[int, ...], list[Decoded], list[str]]:
    """Return the shape of the stream, the labelled images in that shape, and their class names."""
    files = list(labelled_files(root))
    shape = common_shape([arrival for arrival, _ in files], size, largest=_LARGEST_SIDE)
    images: list[Decoded] = []
    for arrival, _ in files:
        decoded = decode(arrival, shape)
        if isinstance(decoded, Trouble):
            path = root / decoded.id.removeprefix("labelled/")
            raise InputError(f"{path}: {decoded.reason}; repair or remove it")
        images.append(decoded)
    return shape, images, [name for _, name in files]


@contextmanager
def _show_epochs(console: Console, epochs: int) -> Iterator[Callable[[int, int, object], None]]:
    """Show how far the training is, on a terminal only."""
    columns = (
        TextColumn("training"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("epochs,"),
        TimeRemainingColumn(),
    )
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as bar:
        task = bar.add_task("", total=epochs)
        yield lambda epoch, total, _: bar.update(task, completed=epoch, total=total)


def _print_outcome(folder: Path, shape: tuple[int, ...], names: list[str], as_json: bool) -> None:
    classes = sorted(set(names))
    if as_json:
        values = {"folder": str(folder), "images": len(names), "classes": classes, "shape": shape}
        typer.echo(json.dumps(values))
        return
    kind = "grey" if len(shape) == 2 else "colour"
    typer.echo(
        f"{folder} knows {len(classes)} classes from {len(names):,} images, "
        f"{shape[0]}x{shape[1]} {kind}"
    )
    typer.echo(f"Next: csim run {folder} DIRECTORY --out predictions.jsonl")
