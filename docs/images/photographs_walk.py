"""Make the walk of docs/photographs.md on the groceries, and print how many labels are right.

Run it with `python docs/images/photographs_walk.py FOLDER SEED` (a minute; `CSIM_DATA` names the
folder of the data sets). A draw chooses 12 kinds with 25 labelled photographs each, and 1,500
photographs of all kinds in five days. A list of the truth answers csim's questions. FOLDER must be
new; it then holds the photographs, the stream folder and report.html, from which the pictures of
the page are cut.
"""

import csv
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np

KNOWN = 12
LABELLED = 25  # photographs of each known kind
DAYS = 5
PER_DAY = 300


def main() -> None:
    """Draw the photographs, run the commands, and print the accuracy."""
    folder, seed = Path(sys.argv[1]), int(sys.argv[2])
    source = Path(os.environ["CSIM_DATA"]) / "photos" / "groceries"
    folder.mkdir()
    truth = draw(source.resolve(), folder, np.random.default_rng(seed))
    csim(folder, "init", "shop", "--labelled", "photos/known")
    for day in range(1, DAYS + 1):
        csim(folder, "run", "shop", f"photos/day-{day}", "--out", "predictions.jsonl")
        questions = json.loads(csim(folder, "label", "shop", "--json"))
        answers = [(each["question"], truth[each["representative"]]) for each in questions]
        write(folder / "answers.csv", [("question", "name"), *answers])
        csim(folder, "label", "shop", "--from", "answers.csv")
        csim(folder, "run", "shop", "--out", "predictions.jsonl")
    csim(folder, "report", "shop", "--truth", "truth.csv", "--out", "report.html")
    csim(folder, "export", "labels", "shop", "labels.csv")
    with (folder / "labels.csv").open(newline="") as file:
        right = [truth[row["item"]] == row["class"] for row in csv.DictReader(file)]
    sys.stdout.write(
        f"seed {seed}: {100 * np.mean(right):.1f} % of {len(right)} labels are right\n"
    )


def draw(source: Path, folder: Path, rng: np.random.Generator) -> dict[str, str]:
    """Copy the photographs; return the kind of each one in the stream, by file name."""
    kinds = {kind.name: sorted(kind.iterdir()) for kind in sorted(source.iterdir())}
    large = [name for name, files in kinds.items() if len(files) > LABELLED]
    known = {large[index] for index in rng.permutation(len(large))[:KNOWN]}
    others: list[tuple[str, Path]] = []
    for name, files in kinds.items():
        mixed = [files[index] for index in rng.permutation(len(files))]
        count = LABELLED if name in known else 0
        for number, file in enumerate(mixed[:count]):
            copy(file, folder / "photos" / "known" / name, number)
        others += [(name, file) for file in mixed[count:]]
    truth = {}
    for number, index in enumerate(rng.permutation(len(others))[: DAYS * PER_DAY]):
        name, file = others[index]
        day = folder / "photos" / f"day-{number // PER_DAY + 1}"
        truth[copy(file, day, number).name] = name
    write(folder / "truth.csv", [("item", "class"), *truth.items()])
    return truth


def copy(file: Path, folder: Path, number: int) -> Path:
    """Copy a photograph under a number, and return the copy."""
    folder.mkdir(parents=True, exist_ok=True)
    return Path(shutil.copy(file, folder / f"{number:04d}{file.suffix}"))


def write(path: Path, rows: list[tuple[object, ...]]) -> None:
    """Write rows to a CSV file."""
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(rows)


def csim(folder: Path, *words: str) -> str:
    """Run a command of csim in a folder, and return what it prints."""
    command = [str(Path(sys.executable).with_name("csim")), *words]
    done = subprocess.run(command, cwd=folder, check=True, stdout=subprocess.PIPE, text=True)  # noqa: S603
    return done.stdout


if __name__ == "__main__":
    main()
