"""A sheet: a table with the picture that shows it, as files side by side."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure
from PIL import Image

from csim.bench.layout.table import Table
from csim.report.charts import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILLION

INK = "#202124"
DPI = 110  # pixels of a picture per inch
_COLOURS = 64  # of a picture: enough for ten methods and the edges of letters
# One look per method everywhere: colours of Okabe and Ito, and a line and a marker that say the same in grey.
STYLES: dict[str, dict[str, Any]] = {
    "default": {"color": BLUE, "linestyle": "-", "marker": "o"},
    "paper": {"color": VERMILLION, "linestyle": "--", "marker": "s"},
    "least-sure": {"color": GREEN, "linestyle": "-.", "marker": "^"},
    "random": {"color": GREY, "linestyle": ":", "marker": "x"},
    "ecsminer": {"color": PURPLE, "linestyle": (0, (5, 1)), "marker": "D"},
    "echo-d": {"color": ORANGE, "linestyle": (0, (3, 1, 1, 1)), "marker": "v"},
    "senc-mas": {"color": SKY, "linestyle": (0, (1, 1)), "marker": ">"},
}
# The same method on our network's vectors: the same look, with a hollow marker.
_BASELINES = ("ecsminer", "echo-d", "senc-mas")
STYLES |= {f"{name}-vectors": STYLES[name] | {"markerfacecolor": "white"} for name in _BASELINES}
_LOOK: dict[Any, Any] = {
    "font.size": 9,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": GREY,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.titlesize": 10,
    "grid.color": GREY,
    "grid.alpha": 0.25,
    "xtick.color": INK,
    "ytick.color": INK,
    "legend.frameon": False,
    "lines.linewidth": 1.6,
    "lines.markersize": 5,
}


@dataclass(frozen=True)
class Sheet:
    """A table and its picture, if there is one."""

    table: Table
    picture: Figure | None = None

    def write(self, folder: Path) -> list[Path]:
        """Write NAME.md and NAME.csv, and the picture as NAME.png; return what was written."""
        paths = self.table.write(folder)
        if self.picture:
            path = folder / f"{self.table.name}.png"
            with drawing():
                path.write_bytes(png(self.picture))
            paths.append(path)
        return paths


def png(figure: Figure) -> bytes:
    """Return a figure as a PNG file of few colours, a third as large as one of all colours."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=DPI)
    figure.set_layout_engine("none")  # laid out once: a second time would move things a little
    with Image.open(buffer) as image:
        reduced = image.convert("RGB").quantize(_COLOURS, dither=Image.Dither.NONE)
    smaller = io.BytesIO()
    reduced.save(smaller, format="png", optimize=True)
    return smaller.getvalue()


@contextmanager
def drawing() -> Iterator[None]:
    """Draw inside the block with the bench's look: a figure must be made and saved in it."""
    with mpl.rc_context(_LOOK):
        yield
