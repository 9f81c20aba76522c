"""Print the decisions of both programs on the same stream as a table."""

import json
import sys
from pathlib import Path

import numpy as np

HEAD = (
    "program",
    "known right at arrival %",
    "known rejected %",
    "novel rejected at arrival %",
    "same class %",
)


def main(work: Path) -> None:
    """Print the table as Markdown."""
    names = [str(name) for name in np.load(work / "stream.npz")["names"]]
    both = {
        program: json.loads((work / f"{program}.json").read_text())["decisions"]
        for program in ("ours", "theirs")
    }
    pairs = [
        (mine[0], theirs[0]) for mine, theirs in zip(both["ours"], both["theirs"], strict=True)
    ]
    same = np.mean([mine == theirs for mine, theirs in pairs if None not in (mine, theirs)])
    setting = json.loads((work / "ours.json").read_text())["setting"]
    lines = ["# ECSMiner: ours and StreamNDR's", "", _row(HEAD), _row(["---"] * len(HEAD))]
    for program, decisions in both.items():
        known = [
            (answer, name)
            for (answer, classes), name in zip(decisions, names, strict=True)
            if name in classes
        ]
        novel = [
            answer is None
            for (answer, classes), name in zip(decisions, names, strict=True)
            if name not in classes
        ]
        right = [answer == name for answer, name in known]
        rejected = [answer is None for answer, _ in known]
        shares = (np.mean(right), np.mean(rejected), np.mean(novel), same)
        lines.append(_row([program, *(f"{100 * share:.1f}" for share in shares)]))
    words = ", ".join(f"{name} = {value}" for name, value in setting.items())
    lines += [
        "",
        f"- scikit-learn's digits, three known classes, seed 0; {words}; known: in some model then",
    ]
    lines += [
        "- same class: of the images that neither rejects",
        "- command: `sh results/streamndr/check.sh`",
    ]
    print("\n".join([*lines, "- StreamNDR 0.2.0"]))  # noqa: T201


def _row(cells: object) -> str:
    return f"| {' | '.join(cells)} |"


main(Path(sys.argv[1]))
