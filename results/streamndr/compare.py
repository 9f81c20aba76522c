"""Print what both programs said of the same stream, as a table."""

import json
import sys
from pathlib import Path

import numpy as np


def main(work: Path) -> None:
    """Print Markdown."""
    names = [str(name) for name in np.load(work / "stream.npz")["names"]]
    print("# ECSMiner: ours and StreamNDR's\n")  # noqa: T201
    print(
        "| program | known right at arrival % | known rejected % | novel rejected at arrival % | same class where neither rejects % |"
    )  # noqa: T201
    print("| --- | --- | --- | --- | --- |")  # noqa: T201
    both = {who: json.loads((work / f"{who}.json").read_text())["said"] for who in ("ours", "theirs")}
    pairs = [(mine[0], theirs[0]) for mine, theirs in zip(both["ours"], both["theirs"], strict=True)]
    same = 100 * np.mean([mine == theirs for mine, theirs in pairs if None not in (mine, theirs)])
    for who, said in both.items():
        known = [(answer, name) for (answer, classes), name in zip(said, names, strict=True) if name in classes]
        novel = [answer for (answer, classes), name in zip(said, names, strict=True) if name not in classes]
        right, rejected = (np.mean([answer == name for answer, name in known]), np.mean([a is None for a, _ in known]))
        declared = np.mean([answer is None for answer in novel])
        print(f"| {who} | {100 * right:.1f} | {100 * rejected:.1f} | {100 * declared:.1f} | {same:.1f} |")  # noqa: T201
    setting = json.loads((work / "ours.json").read_text())["setting"]
    words = ", ".join(f"{name} = {value}" for name, value in setting.items())
    print(f"\n- scikit-learn's digits, three known, seed 0; {words}; known: in some model at that moment")  # noqa: T201
    print("- command: `sh results/streamndr/check.sh`; StreamNDR 0.2.0")  # noqa: T201


main(Path(sys.argv[1]))
