"""Which result belongs to which case, and results in the order of a table."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from csim.bench.case import Case
from csim.bench.results import Result
from csim.errors import InputError


def results_of(results: Sequence[Result], cases: Iterable[Case]) -> list[Result]:
    """Return the result of each case, in the order of the cases, whatever else there is among the results."""
    found = {_key(r.method, r.data, r.seed, r.content["case"]): r for r in results}
    return [_one(found, case) for case in cases]


def _one(found: dict[str, Result], case: Case) -> Result:
    key = _key(case.method, case.data, case.seed, case.describe())
    if key not in found:
        raise InputError(
            f"a table needs a result of each of its cases, that of {case.name} is missing; measure it"
        )
    return found[key]


def _key(*values: object) -> str:
    return json.dumps(values, sort_keys=True)
