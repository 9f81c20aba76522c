"""The results of a table's cases, found among others."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from csim.bench.case import Case
from csim.bench.results import Result
from csim.errors import InputError


def results_of(results: Sequence[Result], cases: Iterable[Case]) -> list[Result]:
    """Return the result of each case, in the order of the cases; ignore other results."""
    found = {_key(r.method, r.data, r.seed, r.content["case"]): r for r in results}
    return [_one(found, case) for case in cases]


def _one(found: dict[str, Result], case: Case) -> Result:
    key = _key(case.method, case.data, case.seed, case.describe())
    if key not in found:
        raise InputError(
            f"a table needs the result of each of its cases; {case.name} has none, so measure it "
            "first"
        )
    return found[key]


def _key(*values: object) -> str:
    return json.dumps(values, sort_keys=True)
