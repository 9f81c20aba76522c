"""The report of a stream folder, which may be running meanwhile.

`render` reads everything at one moment. The database computes the sums and the page shows only
some pictures, so a long stream makes a page as small as a short one.
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
from csim.report.folder import accuracy, advice, class_cards
from csim.report.folder.facts import Facts, gather
from csim.report.folder.groups import open_cards, settled_cards
from csim.report.folder.projection import NO_CLASS, project_items
from csim.report.folder.truth import Judged, judge
from csim.report.frame import (
    Figure,
    assemble,
    captioned,
    count_of,
    figure_table,
    origin_table,
    percent,
    table,
)
from csim.report.gallery import brief, groups
from csim.report.timeline import classes_chart, cost_chart
from csim.utc import duration

_MOST_OPEN = 12  # open questions shown
_MOST_SETTLED = 24  # other questions shown
_MOST_MODELS = 24  # rows of the table


def render(root: Path, truth: Truth | None = None, origin: Mapping[str, str] | None = None) -> str:
    """Return the page of a stream folder.

    Parameters
    ----------
    root
        The folder; it is only read.
    truth
        The true class of images, as far as you know it; None if you do not.
    origin
        How the report was made, a table row per entry: command, versions.
    """
    with Reader(root) as reader, reader.transaction():
        facts = gather(reader)
        judged = None if truth is None else judge(reader, truth)
        rows = figures(facts, judged)
        sections = {
            "What to do": advice.section(facts, judged, reader.config),
            "Open questions": _open(reader, facts, root),
            "Accuracy": "" if judged is None else accuracy.section(judged, facts),
            "Classes over time": _over_time(facts),
            "Labelling cost": _cost(facts),
            "Classes": class_cards.section(reader, facts),
            "Groups and their answers": _groups(reader, facts, judged),
            "Embedding": _embedding(reader, facts),
            "Models": _models(facts.models),
            "Unreadable files": _troubles(facts),
            "All figures": figure_table(rows),
            "How this report was made": origin_table(
                reader.config.settings, _origin(reader, facts, origin or {})
            ),
        }
    return assemble(root.resolve().name, lead(facts), rows, sections)


def lead(facts: Facts) -> str:
    """Return the stream in two or three sentences."""
    if not facts.images:
        return f"No image has arrived yet. The first model knows {facts.first:,} classes."
    opened = facts.status.questions.get("open", 0)
    text = f"{facts.images:,} images have arrived. "
    if facts.learned == facts.first:
        text += f"csim knew {facts.first:,} classes at the start and knows the same number today. "
    else:
        text += (
            f"csim knew {facts.first:,} classes at the start and knows {facts.learned:,} today. "
        )
    text += f"It asked {count_of(len(facts.asked), 'question')}"
    if opened:
        return f"{text}, of which {opened:,} {'wait' if opened > 1 else 'waits'} for an answer."
    return f"{text}."


def figures(facts: Facts, judged: Judged | None) -> list[Figure]:
    """Return all figures; those that need the truth only if `judged` is given."""
    images = facts.images
    spent = len(facts.spent)
    unreadable = sum(facts.status.troubles.values())
    return [
        *([] if judged is None else accuracy.figures(judged)),
        *accuracy.estimates(facts.status.audit),
        Figure(
            "images",
            f"{images:,}",
            "Images of the stream. The labelled images at its start are not counted.",
            "images seen",
        ),
        Figure(
            "classes",
            f"{facts.first:,} → {facts.learned:,}",
            "Classes that the first model knew, and classes that the last model knows.",
            "classes known, at the start and now",
        ),
        Figure(
            "questions",
            f"{len(facts.asked):,}",
            "How many questions csim asked. One answer labels a group of images.",
            f"questions asked; {_allowance(facts)}",
        ),
        Figure(
            "labels spent",
            f"{spent:,}",
            "Everything that people told csim: names, splits and corrections.",
            f"labels spent, {percent(100 * spent / max(images, 1))} of the images",
        ),
        Figure(
            "images per label",
            f"{facts.named / max(spent, 1):.1f}",
            "Images that have their class from an answer today, per label spent.",
        ),
        Figure(
            "without a class",
            f"{int(facts.waiting.sum()):,}",
            "Images of the stream that fit no class, or whose class was removed.",
        ),
        *_junk(facts.status.junk),
        *_times(facts),
        Figure(
            "unreadable files",
            f"{unreadable:,}",
            "Files that csim skipped because it could not read them.",
            "files could not be read",
        ),
    ]


def _junk(images: int) -> list[Figure]:
    text = "Images of the stream that people call junk, or that look like it. They have no class."
    return [Figure("junk", f"{images:,}", text)] if images else []


def _times(facts: Facts) -> list[Figure]:
    """Return how fast the stream goes and people answer, as far as it is known."""
    rate = facts.status.images_per_second
    wait = facts.status.seconds_to_answer
    found = []
    if rate is not None:
        text = f"Images per second in the minute before the last one, {facts.status.last_image}."
        found.append(Figure("images per second", f"{rate:,.3g}", text))
    if wait is not None:
        text = "Median time between a question and its answer, of the newest 100 answers."
        found.append(Figure("answered in", duration(wait), text))
    return found


def _allowance(facts: Facts) -> str:
    budget = facts.status.budget
    if budget >= 1:
        return "no limit is set"
    # 0.29 * 100 is just below 29.
    return f"the budget allows {int(budget * facts.images + 1e-9):,} by now"


def _open(reader: Reader, facts: Facts, root: Path) -> str:
    opened = facts.status.questions.get("open", 0)
    if not opened:
        return ""
    shown = f" The {_MOST_OPEN} oldest are shown." if opened > _MOST_OPEN else ""
    command = escape(f"csim label {shlex.quote(str(root))}")
    return (
        f"<p>{count_of(opened, 'question')} {'wait' if opened > 1 else 'waits'} for an answer. "
        f"To answer, run <code>{command}</code>. "
        "Name what you see on the large image: csim gives your answer to the whole group."
        f"{shown}</p>{groups(open_cards(reader, _MOST_OPEN))}"
    )


def _over_time(facts: Facts) -> str:
    if not facts.images or not facts.classes:
        return ""
    text = (
        "One row per class, in the order in which csim found them. Classes known from the start "
        "come last. The height shows how many images of that part of the stream have the class "
        "today; each row has its own scale. The number on the right is their total. A row turns "
        "from grey to green where the model learned the class."
    )
    if len(facts.classes) > MOST_LANES:
        text += f" {MOST_LANES} of {len(facts.classes):,} classes are drawn."
    return captioned(classes_chart([row.course for row in facts.classes], facts.images), text)


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
    text = "Questions and labels so far, along the stream."
    if facts.rejected.any() or facts.waiting.any():
        text = (
            f"Top: {text[0].lower()}{text[1:]} Bottom: the share of images that csim rejected at "
            "arrival, and the share that has no class today. Both rise when something new "
            "appears, and fall when csim has learned it."
        )
    else:
        text += " csim gave every image a class at arrival."
    return captioned(chart, text)


def _groups(reader: Reader, facts: Facts, judged: Judged | None) -> str:
    settled = len(facts.asked) - facts.status.questions.get("open", 0)
    if not settled:
        return ""
    kinds = ", ".join(f"{count:,} {status}" for status, count in facts.status.questions.items())
    text = (
        f"{count_of(len(facts.asked), 'question')}: {kinds}. You see the first group of each "
        "class, the newest and the largest groups. A person saw the large image; csim gave the "
        "answer to the whole group."
    )
    if judged is None:
        cards = settled_cards(reader, {}, None, _MOST_SETTLED)
    else:
        text += " An orange frame marks an image whose true class is another one."
        cards = settled_cards(reader, judged.strangers, judged.truth, _MOST_SETTLED)
    return f"<p>{text}</p>{groups(cards)}"


def _embedding(reader: Reader, facts: Facts) -> str:
    try:
        embedding = project_items(reader, facts.status.model)
    except CheckpointError as error:  # the engine may have replaced the model since
        return f"<p>This chart could not be drawn: {escape(str(error))}.</p>"
    if embedding is None:
        return ""
    text = (
        f"A t-SNE projection of {len(embedding.names):,} images by the network of model "
        f"{facts.status.model}. They are images whose pictures are kept, equally many of each "
        "class if possible. Colour and marker show the class of today. Points that are close "
        "together are similar images. The distance between two groups means little."
    )
    if NO_CLASS in embedding.names:
        text += f" Images under “{NO_CLASS}” wait for one."
    return captioned(embedding_chart(embedding.panels, embedding.names), text)


def _models(models: Sequence[ModelRow]) -> str:
    seconds = [model.seconds for model in models if model.seconds is not None]
    text = count_of(len(models), "model")
    if seconds:
        text += (
            f". Training took {sum(seconds):,.0f} seconds in total,"
            f" {max(seconds):,.1f} seconds for the slowest one"
        )
    shown = [models[0], *models[1:][1 - _MOST_MODELS :]] if len(models) > _MOST_MODELS else models
    if len(shown) < len(models):
        text += f". The first and the last {len(shown) - 1} are listed"
    rows = [
        (
            f"{model.version}",
            f"{model.due_at:,}",
            "not yet" if model.installed_at is None else f"{model.installed_at:,}",
            f"{model.images:,}",
            "" if model.class_ids is None else f"{len(model.class_ids):,}",
            "not known" if model.seconds is None else f"{model.seconds:,.1f}",
        )
        for model in shown
    ]
    head = ("model", "due at image", "in use from", "training images", "classes", "seconds")
    return f"<p>{text}.</p>{table(head, rows)}"


def _troubles(facts: Facts) -> str:
    if not facts.troubles:
        return ""
    counts = facts.status.troubles
    kinds = table(("kind", "files"), [(kind, f"{count:,}") for kind, count in counts.items()])
    rows = [(brief(trouble.id), trouble.kind, trouble.reason) for trouble in facts.troubles]
    heading = "The latest" if sum(counts.values()) > len(rows) else "All of them"
    return f"{kinds}<h3>{heading}</h3>{table(('file', 'kind', 'reason'), rows)}"


def _origin(reader: Reader, facts: Facts, origin: Mapping[str, str]) -> dict[str, str]:
    status = facts.status
    shape = reader.config.image_shape
    size = "×".join(map(str, shape[:2])) + (" colour" if len(shape) == 3 else " grey")
    running = "not running" if status.engine is None else "running while this was written"
    training = "" if status.training is None else f", model {status.training} is in training"
    if status.due is not None:
        training = f", model {status.due} is trained by the next run"
    refused = f", {len(status.refusals):,} were refused" if status.refusals else ""
    pictures = f"{status.picture_bytes / 1e6:,.1f} MB of it pictures"
    return {
        **origin,
        "stream": f"{running}{training}",
        "images": f"resized to {size} for the network",
        "messages": f"{status.messages:,} waiting{refused}",
        "on disk": f"{status.bytes / 1e6:,.1f} MB, {pictures}",
    }
