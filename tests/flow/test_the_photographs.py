"""The walk of the docs with photographs runs as written, on a smaller folder."""

import csv
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from walk import run_page

COLOURS = {"leek": (40, 160, 60), "beet": (150, 20, 70), "corn": (230, 200, 60)}
SIDES = (150, 200)  # pixels: photographs have different sizes


def photograph(kind, rng):
    """Draw stripes, rings or dots in the colour of the kind on a dark, noisy ground."""
    side = int(rng.integers(*SIDES))
    rows, columns = np.mgrid[:side, :side] / side
    phase = rng.random()
    shape = {
        "leek": np.sin(30 * (columns + phase)),
        "beet": np.sin(40 * np.hypot(rows - 0.5, columns - 0.5 + phase / 5)),
        "corn": np.sin(25 * (rows + phase)) * np.sin(25 * columns),
    }[kind]
    picture = rng.integers(0, 60, (side, side, 3))
    picture[shape > 0.2] += np.array(COLOURS[kind])
    return Image.fromarray(picture.clip(0, 255).astype(np.uint8))


def make_photographs():
    """Write the labelled folders, two days of photographs, and what they show."""
    rng = np.random.default_rng(0)
    for kind in ("leek", "beet"):
        folder = Path("photos", "known", kind)
        folder.mkdir(parents=True)
        for index in range(8):
            photograph(kind, rng).save(folder / f"{index}.jpg")
    with open("truth.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["item", "class"])
        for index in range(90):
            kind = str(rng.choice(list(COLOURS)))
            name = f"{index:04d}.jpg"
            folder = Path("photos", f"day-{1 + index // 45}")
            folder.mkdir(exist_ok=True)
            photograph(kind, rng).save(folder / name)
            writer.writerow([name, kind])


@pytest.mark.slow
@pytest.mark.long
def test_the_walk_with_photographs_does_what_it_says(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    make_photographs()
    said = run_page("photographs.md", least_blocks=7)
    assert "encoder lite0 at 224x224" in said["csim init shop --labelled photos/known"]
    labels = list(csv.DictReader(Path("labels.csv").read_text().splitlines()))
    truth = dict(csv.reader(Path("truth.csv").read_text().splitlines()[1:]))
    judged = [row for row in labels if row["item"] in truth]
    assert len(judged) == len(truth)
    assert {row["class"] for row in judged} >= {"corn"}, "the new kind was found and learned"
    assert np.mean([row["class"] == truth[row["item"]] for row in judged]) > 0.8
    assert Path("report.html").stat().st_size > 20_000
