"""How the `paper` preset was tuned: settings that the paper leaves open, changed.

    csim bench tuning                # whole streams of Fashion-MNIST: about 20 minutes on two cores

The seeds are 100 to 102, not those of the published tables. The paper reports 93.1 % accuracy at
34.4 % labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from csim.bench.case import Case
from csim.bench.layout.sheet import Sheet
from csim.bench.layout.table import Table
from csim.bench.plans import changed
from csim.bench.plans.plan import Plan
from csim.bench.results import Result

TRIED: tuple[dict[str, Any], ...] = (
    {},
    {"alpha": 0.5},
    {"min_points": 3},
    {"min_points": 3, "alpha": 0.05},
    {"min_points": 3, "alpha": 0.5},
    {"min_points": 3, "alpha": 0.9999},
    {"min_points": 3, "eps": 0.05},
    {"min_points": 3, "eps": 0.1},
    {"min_points": 3, "beta": 0.0},
)


def cases(plan: Plan) -> list[Case]:
    """Return the runs that the table needs."""
    return [
        plan.case("paper", "fashion-mnist", seed, **change)
        for change in TRIED
        for seed in plan.seeds
    ]


def make(results: Sequence[Result], plan: Plan) -> Sheet:
    """Return the table."""
    table = Table(
        name="tuning-quick" if plan.is_quick else "tuning",
        title="The paper preset, and changes that were tried",
        notes=[plan.note, *changed.NOTES],
        keys=["changed"],
        rows=changed.rows(results),
        command=" ".join(
            [
                "csim bench tuning",
                *(["--quick"] * plan.is_quick),
                *(f"--seed {s}" for s in plan.seeds),
            ]
        ),
    )
    return Sheet(table)
