"""Results without runs: figures are drawn from the name of a case, so that all differ."""

import io
import random

import numpy as np
from matplotlib.figure import Figure

from csim.bench.case import Case
from csim.bench.plans.plan import Plan
from csim.bench.results import Result

SHARES = (
    *(
        "accuracy",
        "accuracy_at_arrival",
        "accuracy_unasked",
        "accuracy_last_quarter",
        "accuracy_declared",
    ),
    *("m_new", "f_new", "m_new_at_arrival", "m_new_for_ever", "f_new_for_ever", "first_500_missed"),
    *("rejected_known", "rejected_novel", "purity", "forgetting"),
)
SMALL = Plan(
    data=("mnist", "digits"), methods=("paper", "default"), seeds=(3, 4)
)  # digits: the paper has none


def hand_result(case: Case, **figures: float | None) -> Result:
    """Return a result of a case, with some figures given."""
    chance = random.Random(case.name)  # noqa: S311
    drawn = {name: round(chance.uniform(20, 80), 4) for name in SHARES}
    drawn |= {
        "labels_percent": round(100 * case.budget if case.budget else chance.uniform(5, 30), 4),
        "classes_learned": chance.randint(4, 10),
        "images_to_detection": float(chance.randint(20, 90)),
        "images_to_learned": float(chance.randint(90, 200)),
    }
    images = chance.randint(800, 900)
    positions = np.unique(np.linspace(images // 40, images, 50).astype(int)).tolist()
    content = {
        "case": case.describe(),
        "settings": case.settings.to_dict(),
        "stream": {
            "images": images,
            "warm_up": 90,
            "held_out": 10,
            "classes": 10,
            "image_shape": [28, 28],
        },
        "figures": drawn | figures,
        "classes": [
            {"name": name, "appeared": 1 + images * place // 7}
            for place, name in enumerate("abcdefg")
        ],
        "curve": {
            "window": images // 40,
            "positions": positions,
            "final": [round(chance.uniform(40, 90), 4) for _ in positions],
        },
        "cost": {
            "seconds_training": round(chance.uniform(1, 9), 4),
            "seconds_first_training": round(chance.uniform(0.1, 0.9), 4),
        },
    }
    return Result(case.method, case.data, case.seed, content)


def hand_results(cases: list[Case]) -> list[Result]:
    """Return a result of each case."""
    return [hand_result(case) for case in cases]


def legend_texts(figure: Figure) -> list[str]:
    """Return what the figure's one legend names, in the order in which it is read, row by row."""
    (legend,) = figure.legends
    texts = [text.get_text() for text in legend.get_texts()]
    rows = -(-len(texts) // legend._ncols)
    full = len(texts) - legend._ncols * (rows - 1)  # columns with an entry in the last row
    columns = []
    start = 0
    for place in range(legend._ncols):
        length = rows if place < full else rows - 1
        columns.append(texts[start : start + length])
        start += length
    return [column[row] for row in range(rows) for column in columns if row < len(column)]


def assert_tidy(figure: Figure) -> None:
    """Assert that everything is inside the figure, and that legend and panels do not overlap."""
    figure.savefig(io.BytesIO(), format="png")  # lays it out
    whole = figure.bbox
    boxes = [axes.get_tightbbox() for axes in figure.axes]
    for legend in figure.legends:
        boxes.append(legend.get_window_extent())
    for place, box in enumerate(boxes):
        assert box.x0 >= -1
        assert box.y0 >= -1
        assert box.x1 <= whole.x1 + 1
        assert box.y1 <= whole.y1 + 1
        for other in boxes[:place]:
            overlap_width = min(box.x1, other.x1) - max(box.x0, other.x0)
            overlap_height = min(box.y1, other.y1) - max(box.y0, other.y0)
            assert min(overlap_width, overlap_height) < 2  # pixels


def column(table, name: str, **wanted) -> list:
    """Return the values of a column, of the rows that have the wanted values."""
    keys = {key.replace("_", " "): value for key, value in wanted.items()}
    return [
        row[name] for row in table.rows if all(row[key] == value for key, value in keys.items())
    ]
