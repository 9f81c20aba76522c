"""The novelty watch: which images are compared at which search."""

import numpy as np
from discover.places import items_at

from csim.discover.watch import NoveltyWatch

RNG = np.random.default_rng(0)
KNOWN = RNG.normal(size=(60, 2))
LABELLED = RNG.normal(size=(60, 2))
NEW = np.array([30.0, 0.0]) + RNG.normal(scale=0.1, size=(12, 2))


def search(watch, items, places):
    """Return the indices of the images that were compared, and of those that may be new."""
    due = np.flatnonzero(watch.due(items))
    guesses = np.zeros(len(items), int)
    columns = np.zeros(len(LABELLED), int)
    found = watch.compare(items, places, due, LABELLED, guesses, columns)
    return due.tolist(), due[found > 0].tolist()


def test_the_first_search_compares_every_image():
    places = np.concatenate([KNOWN, NEW])
    due, new = search(NoveltyWatch(turns=5), items_at(places), places)
    assert due == list(range(72))
    assert set(range(60, 72)) <= set(new)


def test_images_that_came_since_and_those_that_may_be_new_are_compared_at_each_search():
    places = np.concatenate([KNOWN, NEW, KNOWN[:5]])
    items = items_at(places)
    watch = NoveltyWatch(turns=5)
    _, new = search(watch, items[:72], places[:72])
    due, _ = search(watch, items, places)
    assert {*new, *range(72, 77)} <= set(due)
    assert len(due) < 50


def test_every_image_is_compared_within_five_searches():
    places = KNOWN
    items = items_at(places)
    watch = NoveltyWatch(turns=5)
    search(watch, items, places)
    compared = [search(watch, items, places)[0] for _ in range(5)]
    assert sorted({index for due in compared for index in due}) == list(range(60))
    assert max(len(due) for due in compared) < 30


def test_an_image_becomes_new_once_others_have_come_near_it():
    places = np.concatenate([KNOWN, NEW])
    items = items_at(places)
    watch = NoveltyWatch(turns=5)
    _, new = search(watch, items[:62], places[:62])
    assert not {60, 61} & set(new)  # two images are too few to be a class
    seen = set()
    for _ in range(5):
        seen |= set(search(watch, items, places)[1])
    assert {60, 61} <= seen


def test_a_restored_watch_compares_the_same_images():
    places = np.concatenate([KNOWN, NEW])
    items = items_at(places)
    watch = NoveltyWatch(turns=5)
    search(watch, items[:70], places[:70])
    other = NoveltyWatch(turns=5)
    other.restore(watch.state())
    for _ in range(6):
        assert search(watch, items, places) == search(other, items, places)


def test_with_one_turn_every_image_is_compared_at_each_search():
    places = np.concatenate([KNOWN, NEW])
    watch = NoveltyWatch(turns=1)
    for _ in range(3):
        assert search(watch, items_at(places), places)[0] == list(range(72))
