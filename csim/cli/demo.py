"""`csim demo`: a stream of scikit-learn's digits, from three known classes to ten."""

from __future__ import annotations

import dataclasses
import json
import platform
import tempfile
import time
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich import box
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from csim import __version__
from csim.bench.datasets.digits import digits
from csim.bench.methods import open_with
from csim.bench.run import Run, run
from csim.bench.scenario import Stream, paper_stream
from csim.classifier import StreamClassifier
from csim.cli.demo_page import serve_digits
from csim.cli.pipe_console import PipeConsole
from csim.errors import InputError
from csim.metrics.figures import Summary, milestones, summarise
from csim.records import Asked, ClassAdded, ClassId, Event, Floats, Ints, Retrained
from csim.report.charts import Panel, project
from csim.report.page import Embedding, ReportContent, render
from csim.settings import Settings
from csim.threads import one_thread

_SAMPLE_SIZE = 600  # images in the pictures of the embedding
_LIBRARIES = ("torch", "numpy", "scikit-learn", "matplotlib")

EXAMPLE = """\
import csim
classifier = csim.StreamClassifier().fit("known")  # a subfolder of images per class
classifier.observe("stream")                       # a folder of new images
classifier.ask_now()                               # or observe more of them first
classifier.tell({question.id: input("name? ") for question in classifier.questions()})
"""

Seed = Annotated[
    int,
    typer.Option(min=0, help="Seed of the known digits, of the order and of the first weights."),
]
Out = Annotated[
    Path,
    typer.Option(help="Folder for report.html, or with --page for the stream. csim makes it."),
]
AsJson = Annotated[
    bool, typer.Option("--json", help="Print the figures as one JSON object on the last line.")
]

OnPage = Annotated[
    bool, typer.Option("--page", help="Answer the questions yourself, in the browser.")
]
Port = Annotated[int, typer.Option(min=0, max=65535, help="Port of the page; 0 takes a free one.")]


def demo(
    seed: Seed = 0,
    out: Out = Path("csim-demo"),
    page: OnPage = False,
    port: Port = 8000,
    as_json: AsJson = False,
) -> None:
    """Watch csim discover seven of ten handwritten digits.

    csim knows three classes at the start. The others appear in a stream of about
    1,500 images, and a simulated person answers the questions. At the end csim
    writes a report, one HTML file. The demo needs no network and usually takes
    less than two minutes.

    With --page you answer yourself: csim serves the labelling page, and the
    images come at about the pace at which you can answer.

    Example: csim demo --seed 1 --out my-demo

    Example: csim demo --page
    """
    if page:
        _serve(seed, out, port)
        return
    start = time.perf_counter()
    console = PipeConsole(highlight=False, markup=False)
    chosen = settings(seed)
    report = _reserve(out)
    stream = paper_stream(digits(), known_share=0.3, seed=seed)
    # Images this small need one thread. Two threads wait for each other on a busy machine, and
    # they round sums differently: with one, a seed gives the same figures on every machine.
    with one_thread(), Narrator(console, stream.names) as narrator:
        sample = Sample(stream, seed)
        narrator.greet(stream)
        done = run(stream, open_with(chosen), on_events=narrator.tell, on_model=sample.take)
    with console.status("drawing the report"):
        _write(report, _page(done, chosen, sample))
    seconds = time.perf_counter() - start
    summary = summarise(done.events, done.truth)
    console.print(_table(summary, len(set(stream.names)), seconds, chosen.keep))
    _print_next_steps(console, report, seed)
    if as_json:
        found = sum(m.asked is not None for m in milestones(done.events, done.truth))
        more = {
            "seed": seed,
            "new_classes_found": found,
            "report": str(report),
            "seconds": round(seconds, 2),
        }
        typer.echo(json.dumps(dataclasses.asdict(summary) | more))


def _serve(seed: int, out: Path, port: int) -> None:
    stream = paper_stream(digits(), known_share=0.3, seed=seed)
    serve_digits(stream, settings(seed), out, port)


def settings(seed: int) -> Settings:
    """Return the demo's settings, which were chosen on seeds 100 to 102.

    The stream is short, so csim searches it more often and retrains after fewer answers.
    """
    return Settings(ask_every=25, update_labels=5, update_steps=60, seed=seed)


class Narrator:
    """Print a progress bar and a line for every discovery.

    Parameters
    ----------
    console
        Where to print. The bar appears on a terminal only.
    names
        The true class of each image in order of arrival.
    """

    def __init__(self, console: Console, names: Sequence[str]) -> None:
        self._console = console
        self._names = names
        self._seen: set[str] = set()
        self._learned: set[ClassId] = set()
        self._class_names: dict[ClassId, str] = {}
        self._questions = 0
        columns = (
            TextColumn("{task.description}"),
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
        """Print which classes are known and how many others will appear."""
        known = sorted(set(stream.warm_up_names))
        self._seen |= set(known)
        new = len(set(stream.names) - self._seen)
        self._console.print(
            f"Known: {', '.join(known)}, from {len(stream.warm_up_names)} labelled images. "
            f"{new} other classes appear among the next {len(stream.names):,}.\n",
            soft_wrap=True,
        )

    def tell(self, events: list[Event], position: int) -> None:
        """Print the discoveries among these events and move the bar to the position."""
        for event in events:
            if isinstance(event, ClassAdded):
                self._class_names[event.class_id] = event.name
            elif isinstance(event, Asked):
                self._questions += 1
                self._print_question(event)
            elif isinstance(event, Retrained):
                for class_id in event.class_ids:
                    self._print_class(class_id, event.position)
        description = f"questions {self._questions}, new classes learned {len(self._learned)}"
        self._bar.update(self._task, completed=position, description=description)

    def _print_question(self, event: Asked) -> None:
        name = self._names[event.question.representative.position - 1]
        if name not in self._seen:
            self._seen.add(name)
            images = self._count(name, event.position)
            size = len(event.question.members)
            text = (
                f"found after {images} of its images, question {self._questions}, group of {size}"
            )
            self._print(event.position, name, text, "yellow")

    def _print_class(self, class_id: ClassId, position: int) -> None:
        # The classes of the warm-up are not in _class_names.
        if class_id in self._class_names and class_id not in self._learned:
            self._learned.add(class_id)
            name = self._class_names[class_id]
            text = f"learned after {self._count(name, position)} of its images"
            self._print(position, name, text, "green")

    def _count(self, name: str, position: int) -> int:
        """Return how many images of a class have come."""
        return self._names[:position].count(name)

    def _print(self, position: int, name: str, text: str, style: str) -> None:
        line = Text.assemble(
            (f"  image {position:>5,}   ", "dim"), (name, "bold"), "  ", (text, style)
        )
        self._console.print(line, soft_wrap=True)


class Sample:
    """Keep the vectors of the same images of the stream under each model."""

    def __init__(self, stream: Stream, seed: int) -> None:
        rng = np.random.default_rng(seed)
        count = min(_SAMPLE_SIZE, len(stream.images))
        self.indices: Ints = np.sort(rng.choice(len(stream.images), count, replace=False))
        self.names = [stream.names[index] for index in self.indices]
        self.vectors: list[Floats] = []  # per model, (n, d)
        self.known: list[list[str]] = []  # per model, the class names
        self._images = stream.images[self.indices]

    def take(self, classifier: StreamClassifier) -> None:
        """Add the vectors of the model in use."""
        self.vectors.append(classifier.transform(self._images))
        self.known.append([str(name) for name in classifier.classes_])


def _page(done: Run, chosen: Settings, sample: Sample) -> str:
    before, after = sample.known
    titles = (
        f"before: the first model knows {', '.join(before)}",
        f"after: the last model knows {len(after)} classes",
    )
    panels = [
        Panel(title, project(vectors, chosen.seed))
        for title, vectors in zip(titles, sample.vectors, strict=True)
    ]
    versions = ", ".join(f"{library} {version(library)}" for library in _LIBRARIES)
    return render(
        ReportContent(
            title=f"From {len(before)} known digits to {len(after)}",
            lead=f"csim knew only {', '.join(before[:-1])} and {before[-1]}. It saw "
            f"{len(done.truth):,} handwritten digits, noticed new ones, asked about them, and "
            "learned them.",
            events=done.events,
            settings=chosen,
            truth=done.truth,
            embedding=Embedding(panels, sample.names),
            origin={
                "command": f"csim demo --seed {chosen.seed}",
                "images": "the handwritten digits that come with scikit-learn, 8×8 pixels",
                "labeller": "simulated: it gives the true name of the image it is shown",
                "time": f"{done.seconds:.1f} s for the stream, "
                f"{done.seconds_training:.1f} s of them for training",
                "versions": f"csim {__version__}, Python {platform.python_version()}, {versions}",
            },
        )
    )


def _reserve(folder: Path) -> Path:
    """Make the folder and return the report's path; raise now rather than after the run."""
    report = folder / "report.html"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise InputError(_refusal(folder, error)) from error
    if report.is_dir():
        raise InputError(
            f"{report} must be a file, but it is a folder; choose another folder with --out"
        )
    return report


def _write(report: Path, page: str) -> None:
    try:
        report.write_text(page, encoding="utf-8")
    except OSError as error:
        raise InputError(_refusal(report.parent, error)) from error


def _refusal(folder: Path, error: OSError) -> str:
    return (
        f"{folder} must be a folder that can be written to ({error.strerror}); "
        "choose another with --out"
    )


def _table(summary: Summary, classes: int, seconds: float, keep: float) -> Table:
    table = Table(box=box.SIMPLE, show_header=False)
    table.add_column(style="bold")
    table.add_column(justify="right")
    table.add_column(style="dim")
    for row in (
        ("accuracy", f"{summary.accuracy:.1f} %", "images with the right class at the end"),
        (
            "accuracy at arrival",
            f"{summary.accuracy_at_arrival:.1f} %",
            "right at once; rejected counts as wrong",
        ),
        ("labels spent", f"{summary.labels_percent:.1f} %", "images that a person labelled"),
        ("M_new", f"{summary.m_new:.1f} %", "images of new classes taken for known ones"),
        ("F_new", f"{summary.f_new:.1f} %", "images of known classes taken for new ones"),
        ("purity", f"{summary.purity:.1f} %", "images in a group of their own class"),
        (
            "known rejected",
            f"{summary.rejected_known:.1f} %",
            f"target: about {100 * (1 - keep):g} % at most",
        ),
        ("classes learned", f"{summary.classes_learned} of {classes}", ""),
        ("seconds", f"{seconds:.1f}", "including the report"),
    ):
        table.add_row(*row)
    return table


def _print_next_steps(console: Console, report: Path, seed: int) -> None:
    console.print("What to do next\n", style="bold")
    for step, text in (
        ("Open the report:", str(report.resolve())),
        ("Try another stream:", f"csim demo --seed {seed + 1}"),
        ("Classify your images:", "csim init birds --labelled known"),
        ("", "csim run birds stream"),
        ("", "csim label birds"),
    ):
        console.print(f"  {step:<22}{text}", soft_wrap=True)
    console.print("\n  Or in Python:\n")
    for line in EXAMPLE.splitlines():
        console.print(f"      {line}", style="cyan", soft_wrap=True)
