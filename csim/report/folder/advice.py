"""What to do about a poor figure: one line per figure, with the command or the section to go to."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from csim.folder.layout import Config
from csim.metrics.accuracy import accuracy
from csim.report.folder.facts import Facts
from csim.report.folder.truth import Judged
from csim.report.frame import percent

_POOR_ACCURACY = 85.0  # percent of right labels: below, most people would not use them unseen
_MANY_WAITING = 20.0  # percent of images without a class
_PHOTOGRAPH_SIDE = 48  # pixels: smaller colour pictures gain little from a pretrained encoder


def section(facts: Facts, judged: Judged | None, config: Config) -> str:
    """Return the section of the page; empty if no figure is poor."""
    lines = [
        *_about_accuracy(facts, judged),
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


def _about_encoder(config: Config) -> Iterator[str]:
    shape = config.image_shape
    is_photograph = len(shape) == 3 and min(shape[:2]) >= _PHOTOGRAPH_SIDE
    if config.settings.encoder == "own" and is_photograph:
        yield (
            "These are colour pictures, and csim trains its own small network on them. For "
            "photographs a pretrained encoder is usually far better: make the next stream with "
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
