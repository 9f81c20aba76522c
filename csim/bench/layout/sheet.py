"""A sheet: a table and the picture that shows it, as files of the same name."""

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
_COLOURS = 64  # of a picture: enough for ten methods and smooth letters
# Every method has one style everywhere: a colour of Okabe and Ito, and a line and a marker that
# tell it apart in grey, too.
STYLES: dict[str, dict[str, Any]] = {
    "default": {"color": BLUE, "linestyle": "-", "marker": "o"},
    "paper": {"color": VERMILLION, "linestyle": "--", "marker": "s"},
    "least-sure": {"color": GREEN, "linestyle": "-.", "marker": "^"},
    "random": {"color": GREY, "linestyle": ":", "marker": "x"},
    "ecsminer": {"color": PURPLE, "linestyle": (0, (5, 1)), "marker": "D"},
    "echo-d": {"color": ORANGE, "linestyle": (0, (3, 1, 1, 1)), "marker": "v"},
    "senc-mas": {"color": SKY, "linestyle": (0, (1, 1)), "marker": ">"},
    "logistic": {"color": INK, "linestyle": (0, (3, 2)), "marker": "P"},
}
# A baseline on csim's vectors has the style of the baseline, with a hollow marker.
_BASELINES = ("ecsminer", "echo-d", "senc-mas")
STYLES |= {f"{name}-vectors": STYLES[name] | {"markerfacecolor": "white"} for name in _BASELINES}
_STYLE: dict[Any, Any] = {
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
    """Hold a table and its picture, if there is one."""

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
    figure.set_layout_engine("none")  # a second layout would move things a little
    with Image.open(buffer) as image:
        reduced = image.convert("RGB").quantize(_COLOURS, dither=Image.Dither.NONE)
    smaller = io.BytesIO()
    reduced.save(smaller, format="png", optimize=True)
    return smaller.getvalue()


@contextmanager
def drawing() -> Iterator[None]:
    """Set the bench's style for the block; make and save a figure inside it."""
    with mpl.rc_context(_STYLE):
        yield
