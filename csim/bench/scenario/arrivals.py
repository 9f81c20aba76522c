"""Scenarios that differ in when classes are present: one by one, together, or on and off.

`paper_stream` lets all images of a new class arrive after its start. The paper's text allows two
other readings: `own_period` and `same_rate`.
"""

from __future__ import annotations

import math
from dataclasses import replace

from csim.bench.datasets import DataSet
from csim.bench.scenario.split import Interval, Split, Stream, arrange, draw_split
from csim.errors import SettingsError

_LAST_START = 0.9  # share of the stream by which every class has started


def paper_stream(data: DataSet, *, known_share: float, seed: int, warm_up: int = 1000) -> Stream:
    """Return the paper's stream.

    Each new class starts in its own period and then stays, mixed evenly with all classes already
    present. The starts are spread over the first 90 % of the stream.

    Parameters
    ----------
    data
        The data set.
    known_share
        r: floor(n·r) of n classes are known at the start. Higher leaves fewer to discover.
    seed
        Draws which classes are known, which images are labelled, and the order.
    warm_up
        Labelled images per known class, but at most half of a class. A tenth of them is held out,
        at least one if there are two. Higher gives a better first model and a shorter stream.

    Examples
    --------
    >>> import numpy as np
    >>> data = DataSet("blank", np.zeros((50, 8, 8), np.uint8), list("abcde") * 10)
    >>> stream = paper_stream(data, known_share=0.4, seed=0)
    >>> len(stream.warm_up), len(stream.held_out), len(stream.images), len(stream.starts)
    (8, 2, 40, 3)
    """
    split = draw_split(data, known_share=known_share, seed=seed, warm_up=warm_up)
    return arrange(split, _intervals(split, at_once=1))


def own_period(data: DataSet, *, known_share: float, seed: int, warm_up: int = 1000) -> Stream:
    """Return a stream in which each new class is present in its own period alone.

    A period ends where the next class starts, the last one at the end of the stream. The parameters
    are those of `paper_stream`. With the same seed, classes start at the same times.
    """
    split = draw_split(data, known_share=known_share, seed=seed, warm_up=warm_up)
    present = _intervals(split, at_once=1)
    ends = [interval[0][0] for interval in present[split.known + 1 :]] + [1.0]
    new = [[(begin, end)] for [(begin, _)], end in zip(present[split.known :], ends, strict=True)]
    return arrange(split, present[: split.known] + new)


def same_rate(data: DataSet, *, known_share: float, seed: int, warm_up: int = 1000) -> Stream:
    """Return a stream in which a new class arrives as often as a known one, from its start on.

    So a class that starts late has fewer images: the others are left out. The parameters are those
    of `paper_stream`. With the same seed, classes start at about the same times.
    """
    split = draw_split(data, known_share=known_share, seed=seed, warm_up=warm_up)
    present = _intervals(split, at_once=1)
    counts = [
        max(1, round(len(indices) * (1 - begin)))
        for indices, [(begin, _)] in zip(split.streamed, present, strict=True)
    ]
    kept = [indices[:count] for indices, count in zip(split.streamed, counts, strict=True)]
    return arrange(replace(split, streamed=kept), present)


def together(
    data: DataSet, *, known_share: float, seed: int, warm_up: int = 1000, at_once: int = 3
) -> Stream:
    """Return a stream whose new classes start several at a time.

    Parameters
    ----------
    data, known_share, seed, warm_up
        As for `paper_stream`; with the same seed the same classes are known and the same images
        labelled.
    at_once
        New classes that start in the same period; the last period may have fewer. Higher mixes
        more kinds of unknown images, so that pure groups are harder to find.
    """
    if at_once < 1:
        raise SettingsError(f"at_once must be at least 1 class, got {at_once}")
    split = draw_split(data, known_share=known_share, seed=seed, warm_up=warm_up)
    return arrange(split, _intervals(split, at_once=at_once))


def returning(
    data: DataSet,
    *,
    known_share: float,
    seed: int,
    warm_up: int = 1000,
    share: float = 1.0,
    away: float = 1 / 3,
) -> Stream:
    """Return a stream in which new classes and one known class leave and return.

    A class is present after its start, absent in the middle of the remaining time, and present
    again until the end. It keeps all of its images; they arrive closer together.

    Parameters
    ----------
    data, known_share, seed, warm_up
        As for `paper_stream`; with the same seed the same classes are known and start at the same
        times.
    share
        Share of the new classes that leave, rounded up, evenly spread over the order of starts.
        Higher tests the memory of more discovered classes; at 0 only the known class leaves.
    away
        Share of the time from its start to the end for which a class is absent. Higher leaves more
        time to forget it.
    """
    if not 0 <= share <= 1:
        raise SettingsError(f"share must lie between 0 and 1, got {share}")
    if not 0 < away < 1:
        raise SettingsError(f"away must lie between 0 and 1, both excluded, got {away}")
    split = draw_split(data, known_share=known_share, seed=seed, warm_up=warm_up)
    intervals = _intervals(split, at_once=1)
    # How many of the first new classes leave, for 0, 1, 2 ... first classes.
    leaving_counts = [math.ceil(index * share - 1e-9) for index in range(split.new + 1)]
    leaving_new = [
        split.known + index
        for index in range(split.new)
        if leaving_counts[index + 1] > leaving_counts[index]
    ]
    for index in (0, *leaving_new):
        intervals[index] = _with_gap(intervals[index][0], away)
    return arrange(split, intervals)


def _intervals(split: Split, *, at_once: int) -> list[list[Interval]]:
    """Return when classes are present: known ones all the time, new ones from their start."""
    periods = -(-split.new // at_once)
    starts = [_LAST_START * (index // at_once + 0.5) / periods for index in range(split.new)]
    return [[(start, 1.0)] for start in [0.0] * split.known + starts]


def _with_gap(interval: Interval, away: float) -> list[Interval]:
    begin, end = interval
    present = (end - begin) * (1 - away) / 2
    return [(begin, begin + present), (end - present, end)]
