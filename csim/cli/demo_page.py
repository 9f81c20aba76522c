"""`csim demo --page`: the same digits as a live stream, and the labelling page for you."""

from __future__ import annotations

import io
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import typer
from PIL import Image

from csim.bench.scenario import Stream
from csim.cli.load_web import load_web
from csim.errors import InputError
from csim.folder.layout import Config, Layout
from csim.folder.make import make
from csim.records import Images
from csim.settings import Settings
from csim.sources.arrival import Arrival, Decoded
from csim.web.limits import Limits

_AT_ONCE = 100  # images that come at the start, so that there is something to answer
_IMAGES_PER_SECOND = 5  # as fast as a person answers what csim asks about them
_PAUSE_SECONDS = 0.25


class PacedSource:
    """Yield images like a camera: some at once, then some per second.

    Parameters
    ----------
    images
        In the order of arrival, (n, h, w) or (n, h, w, 3).
    """

    def __init__(self, images: Images) -> None:
        self._images = images

    def __iter__(self) -> Iterator[Arrival | None]:
        start = time.monotonic()
        for number, image in enumerate(self._images, start=1):
            while number > _AT_ONCE + (time.monotonic() - start) * _IMAGES_PER_SECOND:
                yield None
                time.sleep(_PAUSE_SECONDS)
            yield Arrival(f"digit {number}", image)


def serve_digits(stream: Stream, settings: Settings, out: Path, port: int) -> None:
    """Make a stream folder with the known digits, and serve it with the others as its source.

    Parameters
    ----------
    stream
        The digits: labelled ones, then those that arrive.
    settings
        Of the folder.
    out
        Where the folder goes; one that is there already is continued.
    port
        To listen on; 0 takes a free one.
    """
    launch = load_web("csim demo --page")
    folder = out / "stream"
    if not Layout(folder).database.exists():
        typer.echo("Training the first model on three digits …")
        try:
            out.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(
                f"{out} must be a folder that can be written to ({error.strerror}); "
                "choose another with --out"
            ) from error
        shape = stream.warm_up.shape[1:]
        make(folder, Config(settings, shape), _labelled(stream), stream.warm_up_names)
    launch.launch(
        folder,
        launch.Address(port=port),
        Limits(),
        source=PacedSource(np.asarray(stream.images, np.uint8)),
        on_start=_print_start,
    )
    typer.echo(f"\nYour answers are in {folder}. `csim demo --page` goes on where you stopped.")


def _labelled(stream: Stream) -> list[Decoded]:
    return [
        Decoded(f"known {number}", image, _png(image))
        for number, image in enumerate(np.asarray(stream.warm_up, np.uint8), start=1)
    ]


def _png(image: Images) -> bytes:
    file = io.BytesIO()
    Image.fromarray(image).save(file, "PNG")
    return file.getvalue()


def _print_start(url: str) -> None:
    typer.echo(f"Open {url} in your browser and answer. Press Ctrl-C here to stop.")
