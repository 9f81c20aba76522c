"""A table of changed settings: a row per change of one method, the unchanged method first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from csim.bench.layout.table import Row
from csim.bench.results import Result

_FIGURES = {
    "accuracy %": "accuracy",
    "at arrival %": "accuracy_at_arrival",
    "labels %": "labels_percent",
    "M_new %": "m_new",
    "F_new %": "f_new",
    "rejected known %": "rejected_known",
    "rejected novel %": "rejected_novel",
    "purity %": "purity",
    "classes": "classes_learned",
    "training s": "seconds_training",
}
NOTES = (
    "labels %: labels that the person gave / images of the stream; classes: those learned, of 10",
    "rejected: known and novel images that no class accepted at arrival; novel: of a class that "
    "the model did not know then",
)


def rows(
    results: Sequence[Result], named: Mapping[str, Mapping[str, Any]] | None = None
) -> list[Row]:
    """Return a row per result; a change in `named` gets its name, others list their settings."""
    return [_row(result, named or {}) for result in results]


def _row(result: Result, named: Mapping[str, Mapping[str, Any]]) -> Row:
    return {"changed": _name(result.content["case"]["changes"], named)} | figures(result)


def figures(result: Result) -> Row:
    """Return the seed and the figures of a run."""
    row: Row = {"seed": result.seed}
    return row | {column: float(result.figures[figure]) for column, figure in _FIGURES.items()}


def _name(changes: Mapping[str, Any], named: Mapping[str, Mapping[str, Any]]) -> str:
    words = ", ".join(f"{name}={value}" for name, value in sorted(changes.items())) or "nothing"
    return next(
        (f"{name}: {words}" for name, change in named.items() if dict(change) == dict(changes)),
        words,
    )
