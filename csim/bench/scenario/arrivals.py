"""Scenarios that differ in when a class is there: one new class after another, several together, or on and off."""

from __future__ import annotations

import math

from csim.bench.datasets import DataSet
from csim.bench.scenario.split import Split, Stay, Stream, arrange, draw_split
from csim.errors import SettingsError

_LAST_START = 0.9  # share of the stream by which every class has begun


def paper_stream(data: DataSet, *, known_share: float, seed: int, warm_up: int = 1000) -> Stream:
    """Return the paper's stream.

    Each new class starts in a period of its own and then stays, mixed evenly with all classes already there; starts
    are spread over the first 90 % of the stream.

    Parameters
    ----------
    data
        Where images come from.
    known_share
        r: floor(n·r) of n classes are known at the start. Raising it leaves fewer to discover.
    seed
        Draws which classes are known, which images are labelled, and the order.
    warm_up
        Labelled images per known class, or half of a class that has fewer than twice as many. A tenth of them, at
        least one unless there is but one, is held out. Raising it gives a better first model and a shorter stream.

    Examples
    --------
    >>> import numpy as np
    >>> data = DataSet("blank", np.zeros((50, 8, 8), np.uint8), list("abcde") * 10)
    >>> stream = paper_stream(data, known_share=0.4, seed=0)
    >>> len(stream.warm_up), len(stream.held_out), len(stream.images), len(stream.starts)
    (8, 2, 40, 3)
    """
    split = draw_split(data, known_share=known_share, seed=seed, warm_up=warm_up)
    return arrange(split, _stays(split, at_once=1))


def together(
    data: DataSet, *, known_share: float, seed: int, warm_up: int = 1000, at_once: int = 3
) -> Stream:
    """Return a stream whose new classes start several at a time.

    Parameters
    ----------
    data, known_share, seed, warm_up
        As for `paper_stream`; with the same seed the same classes are known and the same images labelled.
    at_once
        New classes that start in the same period; the last period may have fewer. Raising it mixes more kinds of
        unknown images, so that groups of them are harder to keep pure.
    """
    if at_once < 1:
        raise SettingsError(f"at_once must be at least 1 class, got {at_once}")
    split = draw_split(data, known_share=known_share, seed=seed, warm_up=warm_up)
    return arrange(split, _stays(split, at_once=at_once))


def returning(
    data: DataSet,
    *,
    known_share: float,
    seed: int,
    warm_up: int = 1000,
    share: float = 1.0,
    away: float = 1 / 3,
) -> Stream:
    """Return a stream in which new classes, and one that is known from the start, go away and come back.

    A class is there after its start, away in the middle of the time that remains, and there again to the end. None
    of its images is lost: they come closer together.

    Parameters
    ----------
    data, known_share, seed, warm_up
        As for `paper_stream`; with the same seed the same classes are known and start at the same times.
    share
        Share of the new classes that go away, rounded up, evenly spread over the order of starts. Raising it tests
        the memory for classes that were discovered; at 0 only the known class goes away.
    away
        Share of a class's time, from its start to the end, that it is away. Raising it gives longer to forget.
    """
    if not 0 <= share <= 1:
        raise SettingsError(f"share must lie between 0 and 1, got {share}")
    if not 0 < away < 1:
        raise SettingsError(f"away must lie between 0 and 1, both excluded, got {away}")
    split = draw_split(data, known_share=known_share, seed=seed, warm_up=warm_up)
    stays = _stays(split, at_once=1)
    counts = [
        math.ceil(place * share - 1e-9) for place in range(split.new + 1)
    ]  # that leave, among the first new ones
    leaving = [
        0,
        *(split.known + place for place in range(split.new) if counts[place + 1] > counts[place]),
    ]
    return arrange(
        split, [_with_gap(own[0], away) if c in leaving else own for c, own in enumerate(stays)]
    )


def _stays(split: Split, *, at_once: int) -> list[list[Stay]]:
    """Let known classes be there all the time and new ones from their start."""
    periods = -(-split.new // at_once)
    starts = [_LAST_START * (place // at_once + 0.5) / periods for place in range(split.new)]
    return [[(start, 1.0)] for start in [0.0] * split.known + starts]


def _with_gap(stay: Stay, away: float) -> list[Stay]:
    begin, end = stay
    present = (end - begin) * (1 - away) / 2
    return [(begin, begin + present), (end - present, end)]
