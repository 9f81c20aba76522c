"""`csim init`: a new stream folder from labelled images."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from csim.ask.catalogue import clean_labels
from csim.build import open_frozen
from csim.cli.choose_encoder import (
    choose_encoder,
    describe,
    with_absolute_path,
    with_fastest_device,
)
from csim.cli.dark_files import DarkFilesWarning
from csim.cli.option_parsers import (
    number_parser,
    parse_bytes,
    parse_history,
    parse_settings,
    parse_share,
    parse_size,
)
from csim.errors import InputError
from csim.folder.layout import Config
from csim.folder.make import make
from csim.settings import Settings
from csim.sources.arrival import Arrival, Decoded, Trouble
from csim.sources.common_shape import LARGEST_SIDE, Survey, common_shape, survey
from csim.sources.image_folder import labelled_files
from csim.sources.prefetch import decoded as decode_ahead

_AUDIT = 0.1  # of the budget; the presets have none, because the published results are without

Labelled = Annotated[
    Path,
    typer.Option(help="Labelled images: a subfolder per class, each with two images or more."),
]
Size = Annotated[
    str | None,
    typer.Option(
        show_default="their own size",
        help="Resize all images to this height and width: 48 or 48x64. For the encoder own: "
        "higher shows finer detail but takes longer. Others have a size of their own.",
    ),
]
EncoderName = Annotated[
    str | None,
    typer.Option(
        "--encoder",
        show_default="chosen by your images",
        help="What turns images into vectors: own, lite0, lite1, lite2, hf:NAME, hf:DIRECTORY or "
        "onnx:FILE. See docs/encoders.md.",
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
Audit = Annotated[
    float | None,
    typer.Option(
        parser=parse_share,
        show_default="0.1; 0 with --preset paper",
        help="Share of the budget for images drawn at random, to estimate the accuracy.",
    ),
]
Preset = Annotated[str, typer.Option(help="default, or paper: the method as it was published.")]
Changes = Annotated[
    list[str] | None,
    typer.Option("--set", help="Change a setting: --set epochs=5. Repeat the option for more."),
]
Rate = Annotated[
    float | None,
    typer.Option(
        "--images-per-second",
        parser=number_parser("--images-per-second", float),
        show_default="a slow stream",
        help="Search for questions less often than the default, so that csim keeps up.",
    ),
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
Bits = Annotated[
    int,
    typer.Option(
        parser=number_parser("--bits", int, least=9),
        help="Bits that 16-bit files use, as 10 or 12, unless the file says so itself.",
    ),
]
History = Annotated[
    Any,
    typer.Option(
        parser=parse_history,
        metavar="TIME",
        help="How long to list every image: 90d, 12h, a number of images, or all. "
        "Older images become counts; what people said stays.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the outcome as one JSON object.")]


def init(
    folder: Annotated[Path, typer.Argument(help="The stream folder to make.")],
    labelled: Labelled,
    encoder: EncoderName = None,
    size: Size = None,
    budget: Budget = None,
    audit: Audit = None,
    preset: Preset = "default",
    change: Changes = None,
    rate: Rate = None,
    retrain_lag: RetrainLag = 250,
    picture_room: PictureRoom = "2GB",  # type: ignore[assignment]
    bits: Bits = 16,
    history: History = "all",
    keep: Annotated[str | None, typer.Option(hidden=True)] = None,
    as_json: AsJson = False,
) -> None:
    """Make a stream folder and train its first model.

    The labelled images show the classes you know today. csim looks at them and
    chooses an encoder: lite0 for colour photographs, if it is installed, and
    its own network for small or grey images. It resizes all images to the size
    of the encoder. For its own network that is their own size if all are
    equally large and at most 64 pixels a side, otherwise 64x64. ONNX Runtime
    runs that network on a CPU, if it is installed; --set device=cpu takes torch.
    For photographs and your own network, --set flip=true mirrors training images
    too; do not mirror letters. Ctrl-C leaves nothing behind.

    Example: csim init birds --labelled photos/known --budget 20/1000
    """
    if keep is not None:
        raise InputError(f"--keep has a new name; write --picture-room {keep} instead")
    given = {"budget": budget, "audit": audit}
    changes = parse_settings(change or []) | ({} if encoder is None else {"encoder": encoder})
    _settings(preset, changes, given)  # raises an error now, not after the images are read
    if folder.exists():
        raise InputError(
            f"{folder} must not exist yet, but it does; "
            f"choose a new name, or continue it with `csim run {folder}`"
        )
    pixels = None if size is None else parse_size(size)
    console = Console(stderr=True, highlight=False)
    with console.status("reading images"):
        files = list(labelled_files(labelled))
        names = clean_labels(name for _, name in files)
        found = survey(arrival for arrival, _ in files)
    reason = "you chose it"
    if "encoder" not in changes:
        choice = choose_encoder(found, is_paper=preset == "paper", has_size=size is not None)
        changes["encoder"] = choice.name
        reason = choice.reason
        if choice.advice:
            typer.echo(choice.advice, err=True)
    settings = _settings(preset, changes, given).for_rate(rate or 0)
    shape = _shape(settings, found, pixels)
    with console.status("decoding images"):
        images = _decode(labelled, [arrival for arrival, _ in files], shape, bits)
    DarkFilesWarning(bits).give(max((image.used_bits or 0 for image in images), default=0))
    config = Config(settings, shape, retrain_lag, picture_room, bits, history)
    with _show_epochs(console, settings.epochs) as on_epoch:
        make(folder, config, images, names, on_epoch)
    _print_outcome(folder, config, names, describe(settings, shape, reason), as_json)


def _settings(
    preset: str, changes: dict[str, object], options: dict[str, float | None]
) -> Settings:
    if preset not in ("default", "paper"):
        raise InputError(f"--preset must be default or paper, got {preset!r}")
    changed = changes | {name: value for name, value in options.items() if value is not None}
    if isinstance(encoder := changed.get("encoder"), str):
        changed["encoder"] = with_absolute_path(encoder)
    if preset == "paper":
        base = Settings.paper()
    elif changed.get("encoder", "own") == "own":
        base = Settings(audit=_AUDIT)
    else:
        base = Settings.photographs(audit=_AUDIT, budget=changed.get("budget", Settings().budget))
    settings = Settings.from_dict(base.to_dict() | changed)
    return settings if preset == "paper" else with_fastest_device(settings)  # torch runs the paper


def _shape(settings: Settings, found: Survey, size: tuple[int, int] | None) -> tuple[int, ...]:
    """Return the shape of the stream's images, which is the encoder's if it has one."""
    frozen = open_frozen(settings)
    if frozen is None:
        return common_shape(found, size, largest=LARGEST_SIDE)
    assert frozen.image_shape is not None
    if size is not None:
        raise InputError(
            f"--size must be left out, because the encoder {settings.encoder} takes images of "
            f"{frozen.image_shape[0]}x{frozen.image_shape[1]} pixels; or use --encoder own"
        )
    return frozen.image_shape


def _decode(
    root: Path, arrivals: list[Arrival], shape: tuple[int, ...], bits: int
) -> list[Decoded]:
    """Return the labelled images in the stream's shape."""
    images: list[Decoded] = []
    for decoded in decode_ahead(arrivals, shape, bits=bits):
        if isinstance(decoded, Trouble):
            path = root / decoded.id.removeprefix("labelled/")
            raise InputError(f"{path}: {decoded.reason}; repair or remove it")
        if decoded is not None:
            images.append(decoded)
    return images


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


def _print_outcome(
    folder: Path, config: Config, names: list[str], eyes: str, as_json: bool
) -> None:
    classes = sorted(set(names))
    shape = config.image_shape
    if as_json:
        values = {"folder": str(folder), "images": len(names), "classes": classes, "shape": shape}
        typer.echo(json.dumps(values | {"encoder": config.settings.encoder, "why": eyes}))
        return
    kind = "grey" if len(shape) == 2 else "colour"
    typer.echo(
        f"{folder} knows {len(classes)} classes from {len(names):,} images, "
        f"{shape[0]}x{shape[1]} {kind}"
    )
    typer.echo(eyes)
    typer.echo(f"Next: csim run {folder} DIRECTORY --out predictions.jsonl")
