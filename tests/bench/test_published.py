"""The published results belong to the methods as they are: no table would run them again."""

from pathlib import Path

import pytest

from csim.bench.methods import PUBLISHED
from csim.bench.plans.plan import Plan
from csim.bench.results import read_all
from csim.bench.tables import (
    ablation,
    convolution,
    label_curve,
    photos,
    reproduced,
    sensitivity,
    stream,
    tuning,
)

NOT_RANDOM = tuple(method for method in PUBLISHED if method != "random")
RESULTS = Path(__file__).parents[2] / "results"
TABLES = {
    "stream": stream.cases(Plan()),
    "stream, r = 0.5": stream.cases(Plan(known_share=0.5, methods=NOT_RANDOM)),
    "convolution": convolution.cases(Plan()),
    "ablation": ablation.cases(Plan(seeds=(100, 101, 102))),
    "reproduced": reproduced.cases(Plan(thin=1)),
    "sensitivity": sensitivity.cases(Plan(seeds=(0,))),
    "tuning": tuning.cases(Plan(seeds=(200, 201, 202), thin=1)),
    "photos": photos.cases(Plan(thin=1)),
    "label curve": label_curve.cases(Plan(data=("mnist", "fashion-mnist", "cifar-10-grey"))),
    "label curve, EMNIST": label_curve.cases(Plan(data=("emnist-47",), seeds=(0,))),
}


@pytest.mark.parametrize("table", TABLES)
def test_every_run_of_a_published_table_is_kept(table):
    cases = TABLES[table]
    found = read_all(RESULTS, cases)
    missing = [case.name for case, result in zip(cases, found, strict=True) if result is None]
    assert missing == []
    assert len(cases) >= 10
