"""What each addition of the default preset gains: the preset, then without one addition at a time.

    csim bench ablation              # every 5th image of Fashion-MNIST, 2 % of labels: half an hour

The seeds are 100 to 102. They differ from those of the published tables, because the preset was
chosen on these runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from csim.bench.case import Case
from csim.bench.layout.sheet import Sheet
from csim.bench.layout.table import Table
from csim.bench.plans import changed
from csim.bench.plans.plan import Plan
from csim.bench.results import Result

BUDGET = 0.02
WITHOUT: dict[str, dict[str, Any]] = {
    "no window density": {"questions": "doubtful"},
    "single images, no spreading": {"questions": "least-sure"},
    "the paper's threshold": {"threshold": "mean-bound"},
    "no second look": {"recent": 125},
    "one conv layer, as the paper": {
        "conv_layers": 1,
        "channels": 20,
        "kernel": 5,
        "batch_norm": False,
    },
    "no batch norm": {"batch_norm": False},
    "no augmentation": {"shift": 0},
    "plain batches": {"batches": "plain"},
    "random representative": {"representative": "random"},
    "no spreading": {"spread": 1},
    "spread answers not learned from": {"store_inferred": 0},
    "unprotected, small store": {"eviction": "oldest", "store_size": 200},
    "no early recognition": {"update_size": 10},
    "updates four times as rare": {"update_labels": 60},
    "updates from scratch": {"update_steps": 0, "epochs": 4},
    "predicted labels stored": {"store_score": 0.99},
}


def cases(plan: Plan) -> list[Case]:
    """Return the runs that the table needs."""
    changes: list[dict[str, Any]] = [{}, *WITHOUT.values()]
    make_case = partial(plan.case, "default", "fashion-mnist", budget=BUDGET)
    return [make_case(seed, **change) for change in changes for seed in plan.seeds]


def make(results: Sequence[Result], plan: Plan) -> Sheet:
    """Return the table."""
    table = Table(
        name=f"ablation{plan.suffix}",
        title="The default preset without one addition at a time",
        notes=[plan.note, f"fashion-mnist, at most {100 * BUDGET:g} % of labels", *changed.NOTES],
        keys=["changed"],
        rows=changed.rows(results, WITHOUT),
        command=f"csim bench ablation {plan.options}",
    )
    return Sheet(table)
