"""`csim demo`: the main job on scikit-learn's digits."""

from __future__ import annotations


def demo() -> None:
    """Watch csim discover seven of ten digits."""
