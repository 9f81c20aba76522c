"""The readings of the paper that its text allows, on whole streams of Fashion-MNIST.

    csim bench tuning                # 36 runs: about 20 minutes on two cores

Thresholds fitted again on the store, or once per model; each model trained from scratch, or from
the last weights for 300 batches; three values of α. The seeds are 200 to 202, which no published
table uses. The paper reports 93.1 % accuracy at 34.4 % labels, M_new 53 %.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

from csim.bench.case import Case
from csim.bench.layout.sheet import Sheet
from csim.bench.layout.table import Table
from csim.bench.plans import changed
from csim.bench.plans.plan import Plan
from csim.bench.results import Result
from csim.settings import Settings

_PRESET = Settings.paper().to_dict()
_GRID = {
    "threshold": ("mean-bound", "mean-bound-model"),
    "update_steps": (0, 300),
    "alpha": (0.05, 0.5, 0.99),
}
# Every combination, as what differs from the preset.
TRIED: tuple[dict[str, Any], ...] = tuple(
    {name: value for name, value in zip(_GRID, values, strict=True) if _PRESET[name] != value}
    for values in product(*_GRID.values())
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
        title="Readings of the paper",
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
