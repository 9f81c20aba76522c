"""The report of a stream folder, in the same frame as the one of a log; the folder may be running meanwhile.

Everything is read at one moment. Sums come from the database and pictures are few, so that a long stream makes the
same page as a short one.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

from csim.errors import CheckpointError
from csim.folder.models import ModelRow
from csim.folder.reader import Reader
from csim.metrics.truth import Truth
from csim.report.charts import MOST_LANES, embedding_chart
from csim.report.folder import accuracy
from csim.report.folder.facts import ClassFacts, Facts, gather
from csim.report.folder.groups import Examples, examples, open_cards, settled_cards
from csim.report.folder.projection import NO_CLASS, project_items
from csim.report.folder.truth import Judged, judge
from csim.report.frame import Figure, captioned, listed, making, percent, table, whole
from csim.report.gallery import brief, groups, thumbnail
from csim.report.timeline import classes_chart, cost_chart

_MOST_OPEN = 12  # open questions shown
_MOST_SETTLED = 24
_MOST_CLASSES = 40  # shown with examples
_MOST_MODELS = 24  # rows of the table


def render(root: Path, truth: Truth | None = None, origin: Mapping[str, str] | None = None) -> str:
    """Return the page of a stream folder.

    Parameters
    ----------
    root
        The folder; it is only read.
    truth
        The true class of images, as far as it is known; None if it is not.
    origin
        How the report came about, row by row: command, versions.
    """
    with Reader(root) as reader, reader.transaction():
        facts = gather(reader)
        judged = None if truth is None else judge(reader, truth)
        rows = figures(facts, judged)
        sections = {
            "Questions that wait": _open(reader, facts, root),
            "How right it is": "" if judged is None else accuracy.section(judged, facts),
            "Classes over time": _over_time(facts),
            "What it cost": _cost(facts),
            "The classes": _classes(reader, facts),
            "Groups and their answers": _groups(reader, facts, judged),
            "What the network sees": _vectors(reader, facts),
            "Models": _models(facts.models),
            "Files that could not be taken": _troubles(facts),
            "Every figure": listed(rows),
            "How this was made": making(
                reader.config.settings, _origin(reader, facts, origin or {})
            ),
        }
    return whole(root.resolve().name, lead(facts), rows, sections)


def lead(facts: Facts) -> str:
    """Return the stream in two or three sentences."""
    if not facts.images:
        return f"No image has come yet. The first model knows {facts.first:,} classes."
    opened = facts.status.questions.get("open", 0)
    told = f"{facts.images:,} images have come by. "
    if facts.learned == facts.first:
        told += f"The program knew {facts.first:,} classes at the start, and knows as many today. "
    else:
        told += f"The program knew {facts.first:,} classes at the start and knows {facts.learned:,} today. "
    told += f"It asked {_count(len(facts.asked), 'question')}"
    return told + (
        f", of which {opened:,} {'wait' if opened > 1 else 'waits'} for an answer."
        if opened
        else "."
    )


def figures(facts: Facts, judged: Judged | None) -> list[Figure]:
    """Return every figure that can be had."""
    status, images = facts.status, facts.images
    allowed = "no limit is set"
    if status.budget < 1:
        allowed = f"the budget allows {int(status.budget * images + 1e-9):,} by now"  # 0.29 * 100 is just below 29
    unreadable, waiting = sum(status.troubles.values()), int(facts.waiting.sum())
    share = percent(100 * len(facts.spent) / max(images, 1))
    return [
        *([] if judged is None else accuracy.figures(judged)),
        Figure("images", f"{images:,}", "The length of the stream; the labelled images at its start are not counted.",
               "images seen"),
        Figure("classes", f"{facts.first:,} → {facts.learned:,}", "Classes that the first model knew, and the last.",
               "classes known, at the start and now"),
        Figure("questions", f"{len(facts.asked):,}", "How often a person was asked; each answer names a whole group.",
               f"questions asked; {allowed}"),
        Figure("labels spent", f"{len(facts.spent):,}", "All that people told: names, splits, corrections.",
               f"labels spent, {share} of the images"),
        Figure("images per label", f"{facts.named / max(len(facts.spent), 1):.1f}",
               "Images that have their class from an answer today, per label spent."),
        Figure("without a class", f"{waiting:,}", "Images of the stream that fit no class, or whose class is gone."),
        Figure("unreadable files", f"{unreadable:,}", "Files that were passed over because they could not be taken.",
               "files could not be read"),
    ]  # fmt: skip


def _open(reader: Reader, facts: Facts, root: Path) -> str:
    opened = facts.status.questions.get("open", 0)
    if not opened:
        return ""
    shown = f" The {_MOST_OPEN} oldest are shown." if opened > _MOST_OPEN else ""
    command = escape(f"csim label {shlex.quote(str(root))}")
    return (
        f"<p>{_count(opened, 'question')} {'wait' if opened > 1 else 'waits'} for an answer. Answer with "
        f"<code>{command}</code>: what is on the large image? The answer is given to its whole group.{shown}</p>"
        f"{groups(open_cards(reader, _MOST_OPEN))}"
    )


def _over_time(facts: Facts) -> str:
    if not facts.images or not facts.classes:
        return ""
    words = (
        "A row for each class, in the order in which they were found; those known from the start come last. The height "
        "shows how many images of that part of the stream have the class today, each row on a scale of its own; their "
        "number stands at the right. Grey turns to green where the model has learned the class."
    )
    if len(facts.classes) > MOST_LANES:
        words += f" Of {len(facts.classes):,} classes {MOST_LANES} are drawn."
    return captioned(classes_chart([own.course for own in facts.classes], facts.images), words)


def _cost(facts: Facts) -> str:
    if not facts.images:
        return ""
    chart = cost_chart(
        facts.asked.tolist(),
        facts.spent.tolist(),
        budget=facts.status.budget,
        rejected=100 * facts.rejected / facts.arrived.clip(1),
        waiting=100 * facts.waiting / facts.arrived.clip(1),
        images=facts.images,
    )
    if facts.rejected.any() or facts.waiting.any():
        words = (
            "Above: questions and labels, summed up along the stream. Below: the share of images that fitted no class "
            "when they came, and of those that have none today. It rises where something new appears, and falls once "
            "it is learned."
        )
    else:
        words = "Questions and labels, summed up along the stream. Every image was given a class when it came."
    return captioned(chart, words)


def _classes(reader: Reader, facts: Facts) -> str:
    shown = facts.classes[:_MOST_CLASSES]
    pictures = examples(reader, [own.id for own in shown])
    cards = "".join(_class(own, pictures[own.id]) for own in shown)
    words = (
        "The newest images of each class: those that a person has named, and those that the program has. A wrong one "
        "among the latter is worth a look: hold the pointer over it for its name."
    )
    if len(facts.classes) > len(shown):
        words += f" {len(facts.classes) - len(shown):,} more classes are not shown."
    return (
        f'<p>{words}</p><div class="groups">{cards}</div>' if cards else "<p>There is no class.</p>"
    )


def _class(own: ClassFacts, pictures: Examples) -> str:
    course = own.course
    if course.learned == 0:
        when = "known from the start"
    else:
        asked = "" if course.asked is None else f"first asked about at image {course.asked:,}, "
        when = asked + (
            "not yet learned" if course.learned is None else f"learned at {course.learned:,}"
        )
    labelled = f"; {own.labelled:,} labelled at the start" if own.labelled else ""
    none = '<span class="gone">no picture</span>'
    told = "".join(thumbnail(item, role="named by a person") for item in pictures.told)
    given = "".join(thumbnail(item, role="named by the program") for item in pictures.given)
    return (
        f'<article class="group"><h3>{escape(course.name)}</h3>'
        f"<p>{_count(own.images, 'image')} of the stream, {own.told:,} named by people{labelled}</p><p>{when}</p>"
        f'<p class="row">named by people</p><div class="members">{told or none}</div>'
        f'<p class="row">named by the program</p><div class="members">{given or none}</div></article>'
    )


def _groups(reader: Reader, facts: Facts, judged: Judged | None) -> str:
    settled = len(facts.asked) - facts.status.questions.get("open", 0)
    if not settled:
        return ""
    kinds = ", ".join(f"{count:,} {status}" for status, count in facts.status.questions.items())
    words = (
        f"{_count(len(facts.asked), 'question')}: {kinds}. Shown are the first group of each class, the newest and the "
        "largest. The large image is the one that a person saw; the answer was given to all."
    )
    if judged is not None:
        words += " An orange frame marks an image that is truly of another class."
    strangers, truth = ({}, None) if judged is None else (judged.strangers, judged.truth)
    return f"<p>{words}</p>{groups(settled_cards(reader, strangers, truth, _MOST_SETTLED))}"


def _vectors(reader: Reader, facts: Facts) -> str:
    try:
        embedding = project_items(reader, facts.status.model)
    except CheckpointError as error:  # a newer model may have taken its place since
        return f"<p>There is no picture this time: {escape(str(error))}.</p>"
    if embedding is None:
        return ""
    words = (
        f"{len(embedding.names):,} images whose pictures are kept, as many of each class as can be, each where the "
        f"network of model {facts.status.model} puts it, laid flat by t-SNE. Colour and marker give the class of "
        "today. Near means alike; how far apart two groups lie means little."
    )
    if NO_CLASS in embedding.names:
        words += f" “{NO_CLASS}” are those that wait."
    return captioned(embedding_chart(embedding.panels, embedding.names), words)


def _models(models: Sequence[ModelRow]) -> str:
    seconds = [own.seconds for own in models if own.seconds is not None]
    words = f"{_count(len(models), 'model')}"
    if seconds:
        words += (
            f", {sum(seconds):,.0f} seconds of training in all, {max(seconds):,.1f} for the longest"
        )
    shown = [models[0], *models[1:][1 - _MOST_MODELS :]] if len(models) > _MOST_MODELS else models
    if len(shown) < len(models):
        words += f". The first and the last {len(shown) - 1} are listed"
    rows = [
        (
            f"{own.version}",
            f"{own.due_at:,}",
            "not yet" if own.installed_at is None else f"{own.installed_at:,}",
            f"{own.images:,}",
            "" if own.class_ids is None else f"{len(own.class_ids):,}",
            "not known" if own.seconds is None else f"{own.seconds:,.1f}",
        )
        for own in shown
    ]
    head = ("model", "due at image", "in use from", "images learned from", "classes", "seconds")
    return f"<p>{words}.</p>{table(head, rows)}"


def _troubles(facts: Facts) -> str:
    if not facts.troubles:
        return ""
    kinds = table(
        ("kind", "files"), [(kind, f"{count:,}") for kind, count in facts.status.troubles.items()]
    )
    latest = table(
        ("file", "kind", "why"),
        [(brief(found.id), found.kind, found.reason) for found in facts.troubles],
    )
    more = (
        "The latest:"
        if sum(facts.status.troubles.values()) > len(facts.troubles)
        else "All of them:"
    )
    return f"{kinds}<h3>{more}</h3>{latest}"


def _origin(reader: Reader, facts: Facts, origin: Mapping[str, str]) -> dict[str, str]:
    status, config = facts.status, reader.config
    shape = "×".join(map(str, config.image_shape[:2])) + (
        " colour" if len(config.image_shape) == 3 else " grey"
    )
    running = "not running" if status.engine is None else "running meanwhile"
    training = "" if status.training is None else f", model {status.training} is being trained"
    refused = f", {len(status.refusals):,} were refused" if status.refusals else ""
    return {
        **origin,
        "stream": f"{running}{training}",
        "images": f"brought to {shape} for the network",
        "messages": f"{status.messages:,} wait{refused}",
        "on disk": f"{status.bytes / 1e6:,.1f} MB, {status.picture_bytes / 1e6:,.1f} MB of it pictures",
    }


def _count(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
