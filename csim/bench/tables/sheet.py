"""A sheet: a table with the picture that shows it, as files side by side."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from csim.bench.tables.table import Table
from csim.report.charts import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILLION

INK = "#202124"
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
    "svg.fonttype": "none",
    "svg.hashsalt": "csim",  # without it the ids change from run to run
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
        """Write NAME.md and NAME.csv, and NAME.svg and NAME.png; return what was written."""
        paths = self.table.write(folder)
        if self.picture:
            with drawing():
                self.picture.draw_without_rendering()
                self.picture.set_layout_engine(
                    "none"
                )  # laid out once: each time again would move things a little
                for ending in ("svg", "png"):
                    path = folder / f"{self.table.name}.{ending}"
                    stamp = {"metadata": {"Date": None}} if ending == "svg" else {"dpi": 150}
                    self.picture.savefig(path, **stamp)
                    paths.append(path)
        return paths


@contextmanager
def drawing() -> Iterator[None]:
    """Draw inside the block with the bench's look: a figure must be made and saved in it."""
    with mpl.rc_context(_LOOK):
        yield
