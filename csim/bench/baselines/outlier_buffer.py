"""The outlier buffer of ECSMiner and ECHO-D.

Outliers wait here because together they may turn out to be a novel class. An outlier that waits too
long gets the class that the ensemble voted for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from csim.bench.baselines.ensemble import Ensemble
from csim.bench.baselines.event_recorder import Sample
from csim.bench.baselines.q_nsc import OutlierGroups, find_novel_groups, group_outliers
from csim.records import Bools, ClassId, Floats


@dataclass(eq=False, slots=True)
class Outlier:
    """Hold an outlier that waits, or that is decided and stays as evidence."""

    sample: Sample
    vote: ClassId
    is_decided: bool = False


@dataclass
class OutlierBuffer:
    """Keep outliers and test them for a novel class.

    Parameters
    ----------
    q
        Outliers that make a class, and images between two tests. Higher finds fewer classes, with
        fewer false ones.
    max_wait
        T_c: images after which an outlier must be decided. Higher finds more classes and decides
        later.
    evidence
        S: images for which an outlier counts as evidence. Higher finds rarer classes.
    clusters
        K: micro-clusters per model. Higher splits the outliers into more groups.
    recalls
        Whether an outlier inside a novel group found before is left out of the buffer.
    """

    q: int
    max_wait: int
    evidence: int
    clusters: int
    recalls: bool
    outliers: list[Outlier] = field(default_factory=list)
    _novel_spheres: list[tuple[Floats, float]] = field(default_factory=list)  # centre and spread
    _last_test: int = 0

    def is_in_novel_group(self, vector: Floats) -> bool:
        """Tell whether a vector lies in a novel group found since the models last changed."""
        return any(
            float(np.sqrt(((vector - centre) ** 2).sum())) <= spread
            for centre, spread in self._novel_spheres
        )

    def add(self, sample: Sample, vote: ClassId) -> None:
        """Add an outlier; `vote` is its class if it is not novel."""
        self.outliers.append(Outlier(sample, vote))

    def expire(self, position: int) -> list[Outlier]:
        """Drop outliers too old to be evidence. Decide and return those that waited too long."""
        if self.outliers and position - self.outliers[0].sample.position > self.evidence:
            self.outliers = [
                outlier
                for outlier in self.outliers
                if position - outlier.sample.position <= self.evidence
            ]
        due = [
            outlier
            for outlier in self.outliers
            if not outlier.is_decided and position - outlier.sample.position > self.max_wait
        ]
        for outlier in due:
            outlier.is_decided = True
        return due

    def drop_labelled(self, known: frozenset[ClassId]) -> None:
        """Drop the outliers that a person has labelled as a known class."""
        self.outliers = [
            outlier
            for outlier in self.outliers
            if outlier.sample.label is None or outlier.sample.label not in known
        ]

    def is_test_due(self, position: int) -> bool:
        """Tell whether enough images have passed and enough outliers wait for a test."""
        return position - self._last_test >= self.q and self._undecided > self.q

    def find_novel(self, ensemble: Ensemble, position: int) -> list[Outlier]:
        """Remove the outliers of a novel class. Return those that were not decided yet."""
        self._last_test = position
        vectors = np.array([outlier.sample.vector for outlier in self.outliers])
        groups = group_outliers(vectors, self._group_count)
        is_novel = find_novel_groups(groups, ensemble.models, self.q)
        found = {
            int(index)
            for members, is_new in zip(groups.members, is_novel, strict=True)
            if is_new
            for index in members
        }
        if self.recalls:
            self._novel_spheres += _spheres(groups, is_novel)
        removed = [outlier for index, outlier in enumerate(self.outliers) if index in found]
        self.outliers = [
            outlier for index, outlier in enumerate(self.outliers) if index not in found
        ]
        return [outlier for outlier in removed if not outlier.is_decided]

    def reclassify(
        self, classify: Callable[[Floats], tuple[Bools, list[ClassId]]]
    ) -> list[Outlier]:
        """Classify all outliers again after the models changed, and drop those no longer outside.

        Return the dropped outliers that were not decided yet. `classify` gets vectors, (n, d), and
        returns which are outliers and what the ensemble votes.
        """
        self._novel_spheres.clear()
        if not self.outliers:
            return []
        is_outlier, votes = classify(np.array([outlier.sample.vector for outlier in self.outliers]))
        removed: list[Outlier] = []
        kept: list[Outlier] = []
        for outlier, vote, stays in zip(self.outliers, votes, is_outlier, strict=True):
            outlier.vote = vote
            (kept if stays else removed).append(outlier)
        self.outliers = kept
        return [outlier for outlier in removed if not outlier.is_decided]

    @property
    def _undecided(self) -> int:
        return sum(not outlier.is_decided for outlier in self.outliers)

    @property
    def _group_count(self) -> int:
        """Return max(2, K·n/S, 2n/q): the density of a chunk, or groups of half a class each."""
        count = len(self.outliers)
        return max(2, round(self.clusters * count / self.evidence), 2 * count // self.q)


def _spheres(groups: OutlierGroups, is_novel: Bools) -> list[tuple[Floats, float]]:
    return [
        (groups.centres[index], float(groups.spread[index])) for index in np.flatnonzero(is_novel)
    ]
