"""Outliers that wait: together they may turn out to be a novel class; if not, each is answered for in time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from csim.bench.baselines.cohesion import Groups, group, novel
from csim.bench.baselines.ensemble import Ensemble
from csim.bench.baselines.face import Seen
from csim.records import Bools, ClassId, Floats


@dataclass(eq=False, slots=True)
class Outlier:
    """One that waits, or has been answered for and stays as evidence."""

    seen: Seen
    vote: ClassId
    is_answered: bool = False


@dataclass
class Waiting:
    """The outliers.

    Parameters
    ----------
    enough
        q: outliers that make a class, and images between two tests. Raising it finds fewer classes, more surely.
    wait
        T_c: the longest that an outlier waits for its answer. Raising it finds more classes, and answers later.
    keep
        S: how long one is evidence. Raising it finds rarer classes.
    most
        K: summaries per model, from which the number of groups follows.
    recalls
        Whether an outlier that lies in a group found before is answered at once.
    """

    enough: int
    wait: int
    keep: int
    most: int
    recalls: bool
    outliers: list[Outlier] = field(default_factory=list)
    _found: list[tuple[Floats, float]] = field(
        default_factory=list
    )  # centre and spread of novel groups
    _last_test: int = 0

    def is_recalled(self, vector: Floats) -> bool:
        """Tell whether an outlier lies in a novel group that was found since the models last changed."""
        return any(
            float(np.sqrt(((vector - centre) ** 2).sum())) <= spread
            for centre, spread in self._found
        )

    def add(self, seen: Seen, vote: ClassId) -> None:
        """Let an outlier wait; `vote` is what it is if it turns out to be nothing new."""
        self.outliers.append(Outlier(seen, vote))

    def pass_by(self, position: int) -> list[Outlier]:
        """Forget those too old to be evidence; return those that can wait no longer, which are answered with it."""
        if self.outliers and position - self.outliers[0].seen.position > self.keep:
            self.outliers = [
                own for own in self.outliers if position - own.seen.position <= self.keep
            ]
        due = [
            own
            for own in self.outliers
            if not own.is_answered and position - own.seen.position > self.wait
        ]
        for own in due:
            own.is_answered = True
        return due

    def learned(self, known: frozenset[ClassId]) -> None:
        """Forget those whose label has come and is a class that is known."""
        self.outliers = [
            own for own in self.outliers if own.seen.label is None or own.seen.label not in known
        ]

    def is_due(self, position: int) -> bool:
        """Tell whether it is time to test."""
        return position - self._last_test >= self.enough and self._unanswered > self.enough

    def test(self, ensemble: Ensemble, position: int) -> list[Outlier]:
        """Look for a novel class; return those found to be of one and not answered yet. All found leave."""
        self._last_test = position
        groups = group(np.array([own.seen.vector for own in self.outliers]), self._many)
        is_novel = novel(groups, ensemble.models, self.enough)
        found = {
            int(place)
            for own, is_new in zip(groups.members, is_novel, strict=True)
            if is_new
            for place in own
        }
        if self.recalls:
            self._found += _spheres(groups, is_novel)
        gone = [own for place, own in enumerate(self.outliers) if place in found]
        self.outliers = [own for place, own in enumerate(self.outliers) if place not in found]
        return [own for own in gone if not own.is_answered]

    def look_again(self, judge: Callable[[Floats], tuple[Bools, list[ClassId]]]) -> list[Outlier]:
        """After the models have changed: those that are outliers no more leave; return those not answered yet."""
        self._found.clear()
        if not self.outliers:
            return []
        is_outlier, votes = judge(np.array([own.seen.vector for own in self.outliers]))
        for own, vote in zip(self.outliers, votes, strict=True):
            own.vote = vote
        gone = [own for own, stays in zip(self.outliers, is_outlier, strict=True) if not stays]
        self.outliers = [own for own, stays in zip(self.outliers, is_outlier, strict=True) if stays]
        return [own for own in gone if not own.is_answered]

    @property
    def _unanswered(self) -> int:
        return sum(not own.is_answered for own in self.outliers)

    @property
    def _many(self) -> int:
        """Groups: as many as a chunk would have, and not more than leave each half of what makes a class."""
        here = len(self.outliers)
        return max(2, round(self.most * here / self.keep), 2 * here // self.enough)


def _spheres(groups: Groups, is_novel: Bools) -> list[tuple[Floats, float]]:
    return [
        (groups.centres[place], float(groups.spread[place])) for place in np.flatnonzero(is_novel)
    ]
