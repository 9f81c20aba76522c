"""The published results belong to the methods as they are: no table would run them again.

Tables of trainings before 40 batches and mean weights are not here; docs/speed.md names them.
"""

from pathlib import Path

import pytest

from csim.bench.plans.plan import Plan
from csim.bench.results import read_all
from csim.bench.tables import (
    photos,
    reproduced,
    sensitivity,
    stream,
    tuning,
)

RESULTS = Path(__file__).parents[2] / "results"
TABLES = {
    "stream": stream.cases(Plan()),
    "reproduced": reproduced.cases(Plan(thin=1)),
    "sensitivity": sensitivity.cases(Plan(seeds=(0,))),
    "tuning": tuning.cases(Plan(seeds=(200, 201, 202), thin=1)),
    "photos": photos.cases(Plan(thin=1)),
}


@pytest.mark.parametrize("table", TABLES)
def test_every_run_of_a_published_table_is_kept(table):
    cases = TABLES[table]
    found = read_all(RESULTS, cases)
    missing = [case.name for case, result in zip(cases, found, strict=True) if result is None]
    assert missing == []
    assert len(cases) >= 10
