"""`csim demo`: the main job on scikit-learn's digits, from three known classes to ten, with a report at the end."""

from __future__ import annotations

import dataclasses
import json
import platform
import tempfile
import time
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import typer
from rich import box
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from csim import __version__
from csim.errors import InputError
from csim.metrics.figures import Summary, milestones, summarise
from csim.records import Asked, ClassAdded, ClassId, Event, Retrained
from csim.settings import Settings
from csim.threads import one_thread

if TYPE_CHECKING:
    from csim.bench.run import Run
    from csim.bench.scenario import Stream
    from csim.classifier import StreamClassifier
    from csim.records import Floats, Ints

_SAMPLE = 600  # images in the pictures of the embedding
_LIBRARIES = ("torch", "numpy", "scikit-learn", "matplotlib")

EXAMPLE = """\
import csim
classifier = csim.StreamClassifier().fit("known")  # a subfolder of images per class
classifier.observe("stream")                       # a folder of images to come
classifier.ask_now()                               # or wait for more of them
classifier.tell({question.id: input("name? ") for question in classifier.questions()})
"""


def demo(
    seed: int = typer.Option(
        0, min=0, help="Draws which digits are known, the order, and the first weights."
    ),
    out: Path = typer.Option(
        Path("csim-demo"), help="The folder for report.html; made if it is not there."
    ),
    as_json: bool = typer.Option(
        False, "--json", help="Print the figures as one JSON object on the last line."
    ),
) -> None:
    """Watch csim discover seven of ten handwritten digits.

    Three classes are known. The others appear over a stream of some 1,500
    images, a simulated labeller answers the questions, and a report is left
    as one HTML file. It needs no network and takes less than two minutes.

    Example: csim demo --seed 1 --out my-demo
    """
    start = time.perf_counter()
    console = Console(highlight=False, markup=False)
    own, report = settings(seed), _reserve(out)
    with console.status("loading"):
        # Imported here and not above, so that `csim --help` need not wait for torch.
        from csim.bench.datasets.digits import digits  # noqa: PLC0415
        from csim.bench.methods import open_with  # noqa: PLC0415
        from csim.bench.run import run  # noqa: PLC0415
        from csim.bench.scenario import paper_stream  # noqa: PLC0415
    stream = paper_stream(digits(), known_share=0.3, seed=seed)
    # One thread is enough for images this small. Two wait for each other on a busy machine, ten times as long, and
    # round sums differently: with one, a seed gives the same figures whatever the number of cores.
    with one_thread(), Narrator(console, stream.names) as narrator:
        sample = Sample(stream, seed)
        narrator.greet(stream)
        done = run(stream, open_with(own), on_events=narrator.tell, on_model=sample.take)
    with console.status("drawing the report"):
        _write(report, _page(done, own, sample))
    seconds = time.perf_counter() - start
    summary = summarise(done.events, done.truth)
    console.print(_table(summary, len(set(stream.names)), seconds, own.keep))
    _show_the_way(console, report, seed)
    if as_json:
        found = sum(m.asked is not None for m in milestones(done.events, done.truth))
        more = {
            "seed": seed,
            "new_classes_found": found,
            "report": str(report),
            "seconds": round(seconds, 2),
        }
        typer.echo(json.dumps(dataclasses.asdict(summary) | more))


def settings(seed: int) -> Settings:
    """Return the demo's settings, chosen on seeds 100 to 102.

    The stream is short, so it is looked at more often, and learned from after fewer answers.
    """
    return Settings(ask_every=25, update_labels=5, update_steps=60, seed=seed)


class Narrator:
    """Tells on the terminal what happens in the stream: a bar, and a line for every discovery.

    Parameters
    ----------
    console
        Where to; without a terminal the bar is left out.
    names
        The true class of each image in order of arrival.
    """

    def __init__(self, console: Console, names: Sequence[str]) -> None:
        self._console, self._names = console, names
        self._met: set[str] = set()
        self._learned: set[ClassId] = set()
        self._class_names: dict[ClassId, str] = {}
        self._questions = 0
        words = TextColumn("{task.description}")
        columns = (
            words,
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("images,"),
            TimeRemainingColumn(compact=True),
        )
        self._bar = Progress(
            *columns, console=console, disable=not console.is_terminal, transient=True
        )
        self._task = self._bar.add_task("warming up", total=len(names))

    def __enter__(self) -> Narrator:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def greet(self, stream: Stream) -> None:
        """Say what is known at the start and what is to come."""
        known = sorted(set(stream.warm_up_names))
        self._met |= set(known)
        new = len(set(stream.names) - self._met)
        self._console.print(
            f"Known: {', '.join(known)}, from {len(stream.warm_up_names)} labelled images. "
            f"{new} other classes appear among the next {len(stream.names):,}.\n",
            soft_wrap=True,
        )

    def tell(self, events: list[Event], position: int) -> None:
        """Take in what happened up to a position."""
        for event in events:
            if isinstance(event, ClassAdded):
                self._class_names[event.class_id] = event.name
            elif isinstance(event, Asked):
                self._questions += 1
                self._tell_of_question(event)
            elif isinstance(event, Retrained):
                for class_id in event.class_ids:
                    self._tell_of_class(class_id, event.position)
        words = f"questions {self._questions}, new classes learned {len(self._learned)}"
        self._bar.update(self._task, completed=position, description=words)

    def _tell_of_question(self, event: Asked) -> None:
        name = self._names[event.question.representative.position - 1]
        if name not in self._met:
            self._met.add(name)
            own, size = self._passed(name, event.position), len(event.question.members)
            self._say(event.position, name, f"found after {own} of its images, question {self._questions}, "
                      f"group of {size}", "yellow")  # fmt: skip

    def _tell_of_class(self, class_id: ClassId, position: int) -> None:
        # Classes of the warm-up got their id before the stream began.
        if class_id in self._class_names and class_id not in self._learned:
            self._learned.add(class_id)
            name = self._class_names[class_id]
            self._say(
                position,
                name,
                f"learned after {self._passed(name, position)} of its images",
                "green",
            )

    def _passed(self, name: str, position: int) -> int:
        return self._names[:position].count(name)

    def _say(self, position: int, name: str, words: str, style: str) -> None:
        line = Text.assemble(
            (f"  image {position:>5,}   ", "dim"), (name, "bold"), "  ", (words, style)
        )
        self._console.print(line, soft_wrap=True)


class Sample:
    """The same images of the stream, as seen by one model after another."""

    def __init__(self, stream: Stream, seed: int) -> None:
        rng = np.random.default_rng(seed)
        count = min(_SAMPLE, len(stream.images))
        self.places: Ints = np.sort(rng.choice(len(stream.images), count, replace=False))
        self.names = [stream.names[place] for place in self.places]
        self.vectors: list[Floats] = []  # a model each, (n, d)
        self.known: list[list[str]] = []
        self._images = stream.images[self.places]

    def take(self, classifier: StreamClassifier) -> None:
        """Look at the images with the model in use."""
        self.vectors.append(classifier.transform(self._images))
        self.known.append([str(name) for name in classifier.classes_])


def _page(done: Run, own: Settings, sample: Sample) -> str:
    # For the reason given above: matplotlib is slow to load.
    from csim.report.charts import Panel, project  # noqa: PLC0415
    from csim.report.page import Embedding, ReportContent, render  # noqa: PLC0415

    seed, (before, after) = own.seed, sample.known
    titles = (
        f"before: the first model knows {', '.join(before)}",
        f"after: the last model knows {len(after)} classes",
    )
    panels = [
        Panel(title, project(own, seed)) for title, own in zip(titles, sample.vectors, strict=True)
    ]
    versions = ", ".join(f"{library} {version(library)}" for library in _LIBRARIES)
    return render(
        ReportContent(
            title=f"From {len(before)} known digits to {len(after)}",
            lead=f"A program that knew only {', '.join(before[:-1])} and {before[-1]} watched {len(done.truth):,} "
            "handwritten digits go by, noticed what was new, asked about it, and learned it.",
            events=done.events,
            settings=own,
            truth=done.truth,
            embedding=Embedding(panels, sample.names),
            origin={
                "command": f"csim demo --seed {seed}",
                "images": "the handwritten digits that come with scikit-learn, 8×8 pixels",
                "labeller": "simulated: it names the image it is shown, truthfully, and sees no other",
                "time": f"{done.seconds:.1f} s for the stream, {done.seconds_training:.1f} s of them training",
                "versions": f"csim {__version__}, Python {platform.python_version()}, {versions}",
            },
        )
    )


def _reserve(folder: Path) -> Path:
    """Make the folder and return where the report will be; fail now rather than after the run."""
    report = folder / "report.html"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise InputError(_refusal(folder, error)) from error
    if report.is_dir():
        raise InputError(
            f"{report} must be a file, it is a folder; choose another folder with --out"
        )
    return report


def _write(report: Path, page: str) -> None:
    try:
        report.write_text(page, encoding="utf-8")
    except OSError as error:
        raise InputError(_refusal(report.parent, error)) from error


def _refusal(folder: Path, error: OSError) -> str:
    return f"{folder} must be a folder that can be written to ({error.strerror}); choose another with --out"


def _table(summary: Summary, classes: int, seconds: float, keep: float) -> Table:
    table = Table(box=box.SIMPLE, show_header=False)
    table.add_column(style="bold")
    table.add_column(justify="right")
    table.add_column(style="dim")
    for row in (
        ("accuracy", f"{summary.accuracy:.1f} %", "labels that are right at the end"),
        (
            "accuracy at arrival",
            f"{summary.accuracy_at_arrival:.1f} %",
            "right at once; put aside counts as wrong",
        ),
        ("labels spent", f"{summary.labels_percent:.1f} %", "images shown to the labeller"),
        ("M_new", f"{summary.m_new:.1f} %", "new ones taken for known ones"),
        ("F_new", f"{summary.f_new:.1f} %", "known ones taken for new ones"),
        ("purity", f"{summary.purity:.1f} %", "grouped images that belong together"),
        (
            "known put aside",
            f"{summary.rejected_known:.1f} %",
            f"promised: about {100 * (1 - keep):g} % at most",
        ),
        ("classes learned", f"{summary.classes_learned} of {classes}", ""),
        ("seconds", f"{seconds:.1f}", "the report included"),
    ):
        table.add_row(*row)
    return table


def _show_the_way(console: Console, report: Path, seed: int) -> None:
    console.print("How to go on\n", style="bold")
    console.print(f"  Look at the report:   {report.resolve()}", soft_wrap=True)
    console.print(f"  Another stream:       csim demo --seed {seed + 1}")
    console.print("  Your own images (more in the README):\n")
    for line in EXAMPLE.splitlines():
        console.print(f"      {line}", style="cyan", soft_wrap=True)
