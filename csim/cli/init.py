"""`csim init`: a new stream folder from labelled images."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from csim.cli.values import changes_of, number, share, size_in_bytes
from csim.errors import InputError
from csim.settings import Settings

if TYPE_CHECKING:
    from csim.sources.arrival import Decoded

_LARGEST = 64  # pixels a side, unless asked for: a network on small images learns in seconds


def init(
    folder: Annotated[Path, typer.Argument(help="The stream folder to make.")],
    labelled: Annotated[
        Path, typer.Option(help="Labelled images: a subfolder per class, two images each or more.")
    ],
    size: Annotated[
        str | None,
        typer.Option(
            help="Height and width that all images are brought to, as 48 or 48x64. [default: their own]"
        ),
    ] = None,
    budget: Annotated[
        float | None,
        typer.Option(parser=share, help="Questions per image, at every moment: 0.02, or 20/1000."),
    ] = None,
    preset: Annotated[
        str, typer.Option(help="default, or paper: the method as it was published.")
    ] = "default",
    change: Annotated[
        list[str] | None,
        typer.Option("--set", help="Change a setting: --set epochs=5; give it again for more."),
    ] = None,
    retrain_lag: Annotated[
        int,
        typer.Option(
            parser=number("--retrain-lag", int, least=0),
            help="Images between the moment when a new model is due and the one when it takes over.",
        ),
    ] = 250,
    picture_room: Annotated[
        int, typer.Option(parser=size_in_bytes, help="Disk space for kept pictures: 500MB, 2GB.")
    ] = "2GB",  # type: ignore[assignment]
    keep: Annotated[str | None, typer.Option(hidden=True)] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print what was made as one JSON object.")
    ] = False,
) -> None:
    """Make a stream folder and train its first model.

    The labelled images are the classes you know today. Images are brought to
    one size, by default their own if they are all alike and at most 64 pixels
    a side, otherwise 64x64. Ctrl-C leaves nothing behind.

    Example: csim init birds --labelled photos/known --budget 20/1000
    """
    if keep is not None:
        raise InputError(f"--keep has a new name; write --picture-room {keep} instead")
    settings = _settings(preset, budget, changes_of(change or []))
    from csim.folder.layout import Config  # noqa: PLC0415  # torch is slow to load: `csim --help` need not wait
    from csim.folder.make import make  # noqa: PLC0415

    console = Console(stderr=True, highlight=False)
    if folder.exists():
        raise InputError(
            f"{folder} must not exist yet, it does; give a new name, or go on with `csim run {folder}`"
        )
    with console.status("reading images"):
        shape, images, names = _read(labelled, None if size is None else _pixels(size))
    config = Config(settings, shape, retrain_lag, picture_room)
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
        task = bar.add_task("", total=settings.epochs)
        make(
            folder,
            config,
            images,
            names,
            lambda epoch, epochs, _: bar.update(task, completed=epoch, total=epochs),
        )
    classes = sorted(set(names))
    if as_json:
        typer.echo(
            json.dumps(
                {"folder": str(folder), "images": len(names), "classes": classes, "shape": shape}
            )
        )
        return
    kind = "grey" if len(shape) == 2 else "colour"
    typer.echo(
        f"{folder} knows {len(classes)} classes from {len(names):,} images, {shape[0]}x{shape[1]} {kind}"
    )
    typer.echo(f"Go on: csim run {folder} DIRECTORY --out predictions.jsonl")


def _settings(preset: str, budget: float | None, changes: dict[str, object]) -> Settings:
    if preset not in ("default", "paper"):
        raise InputError(f"--preset must be default or paper, got {preset!r}")
    plain = Settings() if preset == "default" else Settings.paper()
    share = {} if budget is None else {"budget": budget}
    return Settings.from_dict(plain.to_dict() | changes | share)


def _pixels(text: str) -> tuple[int, int]:
    height, _, width = text.partition("x")
    if not height.isdecimal() or not (width or height).isdecimal():
        raise InputError(f"--size must be pixels, as 48 or 48x64 (height x width); got {text!r}")
    return int(height), int(width or height)


def _read(
    root: Path, size: tuple[int, int] | None
) -> tuple[tuple[int, ...], list[Decoded], list[str]]:
    """Return the stream's shape, and the labelled images in it with their class names."""
    from csim.sources.arrival import Trouble  # noqa: PLC0415
    from csim.sources.common_shape import common_shape  # noqa: PLC0415
    from csim.sources.decode import decode  # noqa: PLC0415
    from csim.sources.image_folder import labelled_files  # noqa: PLC0415

    files = list(labelled_files(root))
    shape = common_shape([arrival for arrival, _ in files], size, largest=_LARGEST)
    images: list[Decoded] = []
    for arrival, _ in files:
        seen = decode(arrival, shape)
        if isinstance(seen, Trouble):
            raise InputError(
                f"{root / seen.id.removeprefix('labelled/')}: {seen.reason}; mend or remove it"
            )
        images.append(seen)
    return shape, images, [name for _, name in files]
