"""The command `csim` and the table of all its commands.

To add a command, write its function in a module of this package and add an entry here.
"""

from __future__ import annotations

from typing import Any

import typer

from csim import __version__
from csim.cli.lazy_group import CommandEntry, GroupEntry, LazyGroup

CLASSES = (
    CommandEntry("list", "csim.cli.classes.list:list_classes", "List all classes."),
    CommandEntry(
        "add", "csim.cli.classes.edit:add", "Add a class by name before its first image comes."
    ),
    CommandEntry(
        "rename",
        "csim.cli.classes.edit:rename",
        "Give a class another name; its id stays the same.",
    ),
    CommandEntry("merge", "csim.cli.classes.edit:merge", "Merge one class into another."),
    CommandEntry(
        "remove",
        "csim.cli.classes.edit:remove",
        "Remove a class and its stored images; `csim classes restore` brings it back.",
    ),
    CommandEntry(
        "restore",
        "csim.cli.classes.edit:restore",
        "Bring a removed class back, with its id and its labels.",
    ),
)

EXPORT = (
    CommandEntry(
        "labels",
        "csim.cli.export:labels",
        "Write the current class of each image and who decided it.",
    ),
    CommandEntry(
        "predictions",
        "csim.cli.export:predictions",
        "Write all predictions from the first image on, as `csim run --out` does.",
    ),
    CommandEntry(
        "images",
        "csim.cli.export:images",
        "Copy pictures into a folder with a subfolder per class.",
    ),
    CommandEntry(
        "label-studio",
        "csim.cli.export:label_studio",
        "Write the open questions as tasks for Label Studio.",
    ),
    CommandEntry(
        "model",
        "csim.cli.export:model",
        "Write the model in use as plain arrays, with a model card.",
    ),
)

BENCH = (
    CommandEntry(
        "run", "csim.cli.bench.run:run", "Run a method on a stream of a data set, once per seed."
    ),
    CommandEntry(
        "stream",
        "csim.cli.bench.stream_tables:stream",
        "Compare accuracy and labels of methods on streams of four data sets.",
    ),
    CommandEntry(
        "novelty",
        "csim.cli.bench.stream_tables:novelty",
        "Compare how well methods notice new classes: M_new and F_new.",
    ),
    CommandEntry(
        "convolution",
        "csim.cli.bench.stream_tables:convolution",
        "Compare networks with 0, 1 and 2 convolution layers on Fashion-MNIST.",
    ),
    CommandEntry(
        "over-stream",
        "csim.cli.bench.stream_tables:over_stream",
        "Plot accuracy over the stream and mark where new classes appear.",
    ),
    CommandEntry(
        "sensitivity",
        "csim.cli.bench.stream_tables:sensitivity",
        "Vary the hidden units n and the margin γ of the paper's network.",
    ),
    CommandEntry(
        "label-curve",
        "csim.cli.bench.stream_tables:label_curve",
        "Plot accuracy and M_new against the share of labels.",
    ),
    CommandEntry(
        "metric",
        "csim.cli.bench.metric:metric",
        "Compare metric learners with csim's networks, all classes known.",
    ),
    CommandEntry(
        "embedding",
        "csim.cli.bench.embedding:embedding",
        "Plot t-SNE projections of pixels and of vectors.",
    ),
    CommandEntry(
        "cohesion",
        "csim.cli.bench.cohesion:cohesion",
        "Count images that are nearer to another class than to their own.",
    ),
    CommandEntry(
        "data-sets",
        "csim.cli.bench.data_sets:data_sets",
        "List the data sets with their sizes and streams, and draw some images.",
    ),
    CommandEntry(
        "ablation",
        "csim.cli.bench.stream_tables:ablation",
        "Remove the additions of the default preset one at a time.",
    ),
    CommandEntry(
        "reproduced",
        "csim.cli.bench.stream_tables:reproduced",
        "Compare the paper's own figures with those of its method here, on full streams.",
    ),
    CommandEntry(
        "tuning",
        "csim.cli.bench.stream_tables:tuning",
        "Compare readings of the paper on full streams of Fashion-MNIST.",
    ),
    CommandEntry(
        "photos",
        "csim.cli.bench.stream_tables:photos",
        "Compare encoders and methods on streams of photographs.",
    ),
    CommandEntry(
        "mining",
        "csim.cli.bench.mining:mining",
        'Compare three readings of the paper\'s "hard triplets".',
    ),
    CommandEntry(
        "beta",
        "csim.cli.bench.beta:beta",
        "Compare weights of the triplet loss on validation images.",
    ),
    CommandEntry(
        "closed-set",
        "csim.cli.bench.closed_set:closed_set",
        "Measure the accuracy with all classes known.",
    ),
    CommandEntry(
        "speed",
        "csim.cli.bench.speed:speed",
        "Measure how fast csim is, as ratios within one run.",
    ),
    CommandEntry(
        "photo-cost",
        "csim.cli.bench.photo_cost:photo_cost",
        "Measure what a stream of photographs costs beside its encoder.",
    ),
    CommandEntry(
        "durability",
        "csim.cli.bench.durability:durability",
        "Kill a running stream many times and measure what durability costs.",
    ),
    CommandEntry(
        "year",
        "csim.cli.bench.year:year",
        "Simulate a year of images and measure how large and slow the folder gets.",
    ),
    CommandEntry(
        "service",
        "csim.cli.bench.service:service",
        "Load the service, kill it many times, and measure pace and waits.",
    ),
    CommandEntry(
        "scaling",
        "csim.cli.bench.scaling:scaling",
        "Measure workers, the replacement of a node, and the coordinator alone.",
    ),
    CommandEntry(
        "page", "csim.cli.bench.page:page", "Measure how fast the labelling page is, in chromium."
    ),
    CommandEntry(
        "junk",
        "csim.cli.bench.junk:junk",
        "Compare skipping images of no interest with calling them junk.",
    ),
    CommandEntry(
        "report",
        "csim.cli.bench.report:report",
        "Join all tables and pictures of a folder into one HTML page.",
    ),
)

COMMANDS = (
    CommandEntry(
        "demo", "csim.cli.demo:demo", "Watch csim discover seven of ten handwritten digits."
    ),
    CommandEntry("init", "csim.cli.init:init", "Make a stream folder and train its first model."),
    CommandEntry(
        "run", "csim.cli.run:run", "Classify images and continue where the last run stopped."
    ),
    CommandEntry(
        "push",
        "csim.cli.push:push",
        "Send images to a Redis stream, from which `csim run` takes them.",
    ),
    CommandEntry(
        "worker",
        "csim.cli.worker:worker",
        "Decode and embed the images of a Redis stream for a `csim run` elsewhere.",
    ),
    CommandEntry(
        "serve",
        "csim.cli.serve:serve",
        "Serve a stream folder over HTTP: the labelling page, and an API for programs.",
    ),
    CommandEntry("label", "csim.cli.label:label", "Answer the open questions of a stream."),
    CommandEntry(
        "status", "csim.cli.status:status", "Show the state of a stream, even while it runs."
    ),
    GroupEntry("classes", "List, add, rename, merge, remove and restore classes.", CLASSES),
    CommandEntry(
        "undo", "csim.cli.undo:undo", "Take back an answer so that you can give another one."
    ),
    GroupEntry("export", "Write labels, pictures and the model for other tools.", EXPORT),
    CommandEntry(
        "report",
        "csim.cli.report:report",
        "Write one HTML page about a stream, even while it runs.",
    ),
    CommandEntry("backup", "csim.cli.backup:backup", "Copy a stream folder, even while it runs."),
    CommandEntry("restore", "csim.cli.restore:restore", "Restore a stream folder from a backup."),
    GroupEntry("bench", "Measure methods on streams and make the published tables.", BENCH),
)


class RootGroup(LazyGroup):
    """Hold all commands of `csim`; typer makes the group and passes it its attributes."""

    def __init__(self, **attributes: Any) -> None:  # noqa: ANN401
        super().__init__(COMMANDS, **attributes)


app = typer.Typer(cls=RootGroup, no_args_is_help=True, pretty_exceptions_enable=False)


def _print_version(is_wanted: bool) -> None:
    if is_wanted:
        typer.echo(f"csim {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: bool = typer.Option(
        False, "--version", callback=_print_version, is_eager=True, help="Print the version."
    ),
) -> None:
    """Classify an endless stream of images in which new kinds of things keep appearing."""
