"""Measure the prose of Markdown pages: `python tests/prose.py [FILES]`.

Prints one row per page and one for all: words, sentences, the median sentence length in words,
"you" and "your" per 1,000 words, and the banned phrases that were found. Without FILES it
measures README.md, CONTRIBUTING.md and docs/*.md. A reference page that a command writes,
docs/cli.md, is left out.

Code blocks, tables, headings and addresses are no prose. Inline code counts as one word, a link
counts by its text. A list item is a paragraph of its own.
"""

import re
import statistics
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]

BANNED = (
    r"so-manieth",
    r"(?:go|goes|going|gone|went) up in",
    r"(?:let|lets|letting) go",
    r"(?:let|lets|letting) pass",
    r"(?:speak|speaks|spoke|spoken) for",
    r"laid flat",
    r"(?:put|puts|putting) aside",
    r"last words?",
    r"anew",
    r"(?:come|comes|came) of it",
    r"(?:stand|stands|stood) behind",
    r"in the eyes of",
    r"(?:an|no) eye for",
    r"fellows",
    r"seers?",
)
_BANNED = re.compile(rf"\b(?:{'|'.join(BANNED)})\b", re.IGNORECASE)
_ADDRESSED = re.compile(r"\b(?:you|your|yours|yourself)\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+(?:['’.,/×-]?[^\W_]+)*")
_ABBREVIATIONS = re.compile(r"\b(e\.g|i\.e|etc|vs|et al|cf|Fig|Eq|No)\.")
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"')*]*\s+(?=[\"'(*]*[^\W_])")
_LEAST_WORDS = 3  # anything shorter is a label, not a sentence


@dataclass(frozen=True)
class Prose:
    """What was measured on one text."""

    words: int
    lengths: tuple[int, ...]  # words of each sentence
    addressed: int
    banned: tuple[str, ...]

    @property
    def median(self) -> float:
        """Return the median sentence length in words."""
        return statistics.median(self.lengths) if self.lengths else 0.0

    @property
    def addressed_per_1000(self) -> float:
        """Return how often the reader is addressed per 1,000 words."""
        return 1000 * self.addressed / self.words if self.words else 0.0


def pages() -> list[Path]:
    """Return the pages that people write by hand."""
    written = sorted((ROOT / "docs").glob("*.md"))
    return [
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        *(page for page in written if page.name != "cli.md"),
    ]


def measure(markdown: str) -> Prose:
    """Measure one page."""
    blocks = list(paragraphs(markdown))
    found = [sentence for block in blocks for sentence in sentences(block)]
    lengths = [len(_WORD.findall(sentence)) for sentence in found]
    return Prose(
        words=sum(len(_WORD.findall(block)) for block in blocks),
        lengths=tuple(length for length in lengths if length >= _LEAST_WORDS),
        addressed=sum(len(_ADDRESSED.findall(block)) for block in blocks),
        banned=banned(markdown),
    )


def together(measured: Iterable[Prose]) -> Prose:
    """Return the measurements of several pages as if they were one."""
    every = list(measured)
    return Prose(
        words=sum(prose.words for prose in every),
        lengths=tuple(length for prose in every for length in prose.lengths),
        addressed=sum(prose.addressed for prose in every),
        banned=tuple(phrase for prose in every for phrase in prose.banned),
    )


def banned(text: str) -> tuple[str, ...]:
    """Return the banned phrases of a text, code included, also where a line break divides one."""
    return tuple(_BANNED.findall(re.sub(r"\s+(?:#\s+)?", " ", text)))


def paragraphs(markdown: str) -> Iterable[str]:
    """Give the paragraphs and list items of a page as plain text."""
    text = re.sub(r"^(```|~~~).*?^\1\s*$", "\n", markdown, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    block: list[str] = []
    is_after_blank = True
    for line in [*text.splitlines(), ""]:
        stripped = line.strip()
        is_code = is_after_blank and line.startswith("    ")
        is_item = re.match(r"(?:[-*+]|\d+[.)])\s", stripped)
        ends = not stripped or is_code or is_item or stripped.startswith(("|", "#", ">", "<"))
        if ends and block:
            yield _plain(" ".join(block))
            block = []
        if stripped and not is_code and not stripped.startswith(("|", "#", "<")):
            block.append(re.sub(r"^(?:[-*+>]|\d+[.)])\s+", "", stripped))
        is_after_blank = not stripped or is_code


def sentences(paragraph: str) -> list[str]:
    """Divide a paragraph of plain text into sentences."""
    return _SENTENCE_END.split(_ABBREVIATIONS.sub(lambda found: found[1], paragraph))


def _plain(markdown: str) -> str:
    text = re.sub(r"!\[[^\]]*\]\([^)]*\)", "", markdown)
    text = re.sub(r"`[^`]+`", "code", text)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"<?https?://\S+>?", "address", text)
    return text.replace("**", "").replace("*", "")


def main(arguments: list[str]) -> None:
    """Print the table."""
    say = sys.stdout.write
    files = [Path(argument) for argument in arguments] or pages()
    measured = {file.name: measure(file.read_text(encoding="utf-8")) for file in files}
    say(f"{'page':24} {'words':>7} {'sentences':>10} {'median':>7} {'you/1000':>9}  banned\n")
    for name, prose in {**measured, "all": together(measured.values())}.items():
        say(
            f"{name:24} {prose.words:7} {len(prose.lengths):10} {prose.median:7.1f} "
            f"{prose.addressed_per_1000:9.1f}  {', '.join(prose.banned)}\n"
        )


if __name__ == "__main__":
    main(sys.argv[1:])
