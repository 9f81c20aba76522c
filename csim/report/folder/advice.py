"""What to do about a poor figure: one line per figure, with the command or the section to go to."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from html import escape

from csim.folder.layout import Config
from csim.metrics.accuracy import accuracy
from csim.report.folder.facts import Facts
from csim.report.folder.truth import Judged
from csim.report.frame import percent
from csim.sources.common_shape import LARGEST_SIDE

_POOR_ACCURACY = 85.0  # percent of right labels: below, most people would not use them unseen
_MANY_CORRECTED = 10.0  # percent of labels that became right after arrival: worth waiting for
_POOR_CLASS = 50.0  # percent of right labels of a class: below, most of its images are wrong
_FEWEST_IMAGES = 20  # of a class: the share of fewer says little
_MOST_CLASSES = 3  # poor classes to name, those with the most wrong images
_MANY_WAITING = 20.0  # percent of images without a class


def section(facts: Facts, judged: Judged | None, config: Config) -> str:
    """Return the section of the page; empty if no figure is poor."""
    lines = [
        *_about_accuracy(facts, judged),
        *_about_arrival(facts, judged),
        *_about_classes(facts, judged),
        *_about_encoder(config),
        *_about_candidates(facts),
        *_about_files(facts),
    ]
    return f"<ul>{''.join(f'<li>{line}</li>' for line in lines)}</ul>" if lines else ""


def _about_accuracy(facts: Facts, judged: Judged | None) -> Iterator[str]:
    audit = facts.status.audit
    if judged is not None:
        share = accuracy(judged.today, judged.truth)
    elif audit is not None:
        share = audit.today.share
    else:
        return
    if share >= _POOR_ACCURACY:
        return
    opened = facts.status.questions.get("open", 0)
    answer = "Answer the open questions first. " if opened else ""
    yield (
        f"Only {percent(share)} of the labels are right. {answer}Look for classes below whose "
        "pictures are mixed: merge two that are the same, and correct wrong answers "
        "(<code>csim classes merge</code>, <code>csim undo</code>). If there are none, csim needs "
        "more answers: make the next stream with a higher <code>--budget</code>."
    )


def _about_arrival(facts: Facts, judged: Judged | None) -> Iterator[str]:
    audit = facts.status.audit
    if judged is not None:
        at_arrival = accuracy(judged.at_arrival, judged.truth)
        today = accuracy(judged.today, judged.truth)
    elif audit is not None:
        at_arrival, today = audit.at_arrival.share, audit.today.share
    else:
        return
    if at_arrival < _POOR_ACCURACY and today - at_arrival >= _MANY_CORRECTED:
        yield (
            f"Only {percent(at_arrival)} of the images were right at arrival, {percent(today)} are "
            "right today. csim corrects labels after each new model: if you can wait, use those "
            "of <code>csim export labels</code>. To be right sooner, answer questions as soon as "
            "csim asks them: an image of a new class is wrong until csim has learned the class."
        )


def _about_classes(facts: Facts, judged: Judged | None) -> Iterator[str]:
    """Yield a line for each of the poorest classes, if the truth is known."""
    if judged is None:
        return
    given: defaultdict[str, Counter[str | None]] = defaultdict(Counter)
    for item_id, name in judged.truth.items():
        given[name][judged.today[item_id]] += 1
    poor = [
        (labels.total() - labels[name], name)
        for name, labels in given.items()
        if labels.total() >= _FEWEST_IMAGES and 100 * labels[name] / labels.total() < _POOR_CLASS
    ]
    known = {row.course.name for row in facts.classes}
    for _, name in sorted(poor, key=lambda entry: -entry[0])[:_MOST_CLASSES]:
        yield _about_class(name, given[name], is_known=name in known)


def _about_class(name: str, labels: Counter[str | None], *, is_known: bool) -> str:
    share = 100 * labels[name] / labels.total()
    text = (
        f"Only {percent(share)} of the {labels.total():,} images of the class {escape(name)} are "
        "right. "
    )
    if not is_known:
        return text + (
            "No class of the stream has this name. If csim knows the class under another name, "
            "rename it (<code>csim classes rename</code>) or change your file. If not, nobody has "
            "named it yet: answer the open questions."
        )
    mistake = next(other for other, _ in labels.most_common() if other != name)
    if mistake is None:
        return text + "Most of the others have no class: answer the open questions."
    return text + (
        f"csim takes the others most often for {escape(mistake)}: compare the pictures of both "
        "classes below. If an answer was wrong, take it back (<code>csim undo</code>). If both "
        "are one class to you, merge them (<code>csim classes merge</code>). Otherwise csim needs "
        "more answers: make the next stream with a higher <code>--budget</code>."
    )


def _about_encoder(config: Config) -> Iterator[str]:
    shape = config.image_shape
    may_be_photographs = len(shape) == 3 and max(shape[:2]) >= LARGEST_SIDE
    if config.settings.encoder == "own" and may_be_photographs:
        yield (
            f"csim trains its own small network on these colour pictures, at {shape[0]}×{shape[1]}."
            f" If your files are photographs of more than {LARGEST_SIDE} pixels a side, a "
            "pretrained encoder is usually far better: make the next stream with "
            "<code>csim init --encoder lite0</code>."
        )


def _about_candidates(facts: Facts) -> Iterator[str]:
    share = 100 * float(facts.waiting.sum()) / max(facts.images, 1)
    if share > _MANY_WAITING:
        yield (
            f"{percent(share)} of the images have no class. They wait until csim has asked about "
            "images like them: answer the open questions, or ask for more with a higher "
            "<code>--budget</code>."
        )


def _about_files(facts: Facts) -> Iterator[str]:
    counts = facts.status.troubles
    if counts:
        kinds = ", ".join(f"{count:,} {escape(kind)}" for kind, count in counts.items())
        yield f"csim skipped files that it could not read: {kinds}. The reasons are below."
