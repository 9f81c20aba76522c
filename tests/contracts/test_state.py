"""State survives save and load: a restored part goes on like the one that was saved.

A new part is one more name here.
"""

import copy

import numpy as np
import pytest
from contracts.small_parts import fill_store, make_items, make_scene, plain

from csim.ask.budget import Budget
from csim.discover.buffer import Buffer
from csim.discover.choice import AtRandom
from csim.discover.coverage import CoverDoubt
from csim.discover.discovery import Discovery
from csim.discover.projection import Projection
from csim.discover.purify import Purify
from csim.discover.recent import Recent
from csim.discover.representative import Medoid, RandomMember
from csim.discover.watch import NoveltyWatch
from csim.records import Decision
from csim.retrain.schedule import Schedule
from csim.store.class_store import ClassStore
from csim.store.eviction import OldestOut, ProtectTold

VECTORS = np.random.default_rng(0).normal(size=(12, 4)).astype(np.float32)
REJECTED = Decision(0, 0.2, is_accepted=False)


def fill_buffer(buffer, start=1):
    for item in make_items(5, start):
        buffer.add([item], [REJECTED])


def fill_recent(recent, start=1):
    for item in make_items(5, start):
        recent.add([item], [Decision(item.position % 2, 0.9, is_accepted=item.position % 3 > 0)])


def look_at_recent(recent):
    return (
        recent.revisable(0),
        recent.waiting(),
        dict(recent.classes),
        len(recent),
    )


def fill_schedule(schedule, start=1):
    """Ask for a job after every seventh answer or so; it is done at once."""
    store = ClassStore(9, OldestOut())
    fill_store(store)
    for told in range(start, start + 20):
        schedule.due(store, [0, 1], told)
        schedule.done()


def look_at_schedule(schedule):
    store = ClassStore(9, OldestOut())
    fill_store(store)
    jobs = [schedule.due(store, [0, 1], told) for told in range(100, 400)]
    return [job and (job.version, job.seed) for job in jobs]


def make_discovery():
    representative = RandomMember(np.random.default_rng(3))
    return Discovery(
        Buffer(9), Purify(eps=2.0, min_points=1, representative=representative), representative
    )


def make_discovery_of_singles():
    return Discovery(Recent(900, 4), AtRandom(np.random.default_rng(3)), Medoid())


def make_discovery_of_the_new():
    choice = CoverDoubt(
        RandomMember(np.random.default_rng(3)),
        spread=20,
        watch=NoveltyWatch(5),
        projection=Projection(5),
    )
    return Discovery(Recent(900, 4), choice, Medoid())


def look_at_discovery(discovery, most=3):
    scene = make_scene([])
    due = [discovery.is_due(position) for position in range(300)]
    found = discovery.search(scene._viewer, scene._head, scene._store, most, 200, [])
    return due, found


def look_at_store(store):
    return store.items(0), store.items(1), [store.is_told(str(number)) for number in range(120)]


STATEFUL = {
    "buffer": (lambda: Buffer(9), fill_buffer, lambda part: (part.items(), part.is_due(6))),
    "recent": (lambda: Recent(9, 4), fill_recent, look_at_recent),
    "recent, sampled": (lambda: Recent(3, 9), fill_recent, look_at_recent),
    "store, oldest out": (lambda: ClassStore(3, OldestOut()), fill_store, look_at_store),
    "store, told kept": (lambda: ClassStore(3, ProtectTold()), fill_store, look_at_store),
    "store, few inferred": (lambda: ClassStore(4, ProtectTold(), 1), fill_store, look_at_store),
    "budget": (
        lambda: Budget(0.25),
        lambda part, start=1: part.spend(start),
        lambda part: [part.left(position) for position in range(0, 2000, 50)],
    ),
    "schedule": (
        lambda: Schedule(update_size=8, update_labels=7, update_growth=0.02, seed=3),
        fill_schedule,
        look_at_schedule,
    ),
    "discovery of singles": (
        make_discovery_of_singles,
        lambda part, start=1: fill_recent(part.pool, start),
        look_at_discovery,
    ),
    "discovery of the new": (
        make_discovery_of_the_new,
        lambda part, start=1: fill_recent(part.pool, start),
        look_at_discovery,
    ),
    "discovery": (
        make_discovery,
        lambda part, start=1: fill_buffer(part.pool, start),
        look_at_discovery,
    ),
    "random choice": (
        lambda: AtRandom(np.random.default_rng(3)),
        lambda part, start=1: [
            part.choose(make_scene(make_items(9)), 3, []) for _ in range(start % 7)
        ],
        lambda part: [plain(part.choose(make_scene(make_items(9)), 3, [])) for _ in range(5)],
    ),
    "random member": (
        lambda: RandomMember(np.random.default_rng(3)),
        lambda part, start=1: [part.choose(VECTORS) for _ in range(start)],
        lambda part: [part.choose(VECTORS) for _ in range(20)],
    ),
}


@pytest.mark.parametrize(("make", "fill", "look"), STATEFUL.values(), ids=STATEFUL.keys())
def test_a_restored_part_goes_on_like_the_one_that_was_saved(make, fill, look):
    part = make()
    other = make()
    fill(part)
    fill(part, 30)
    fill(other, 60)  # a restore forgets what was there
    other.restore(copy.deepcopy(part.state()))
    assert look(other) == look(part)
    for one in (part, other):
        fill(one, 90)
    assert look(other) == look(part)


@pytest.mark.parametrize(("make", "fill", "look"), STATEFUL.values(), ids=STATEFUL.keys())
def test_an_empty_part_can_be_saved_too(make, fill, look):
    part = make()
    other = make()
    fill(other)
    other.restore(part.state())
    assert look(other) == look(part)


@pytest.mark.parametrize(("make", "fill", "look"), STATEFUL.values(), ids=STATEFUL.keys())
def test_a_saved_state_does_not_move_with_the_part(make, fill, look):
    part = make()
    early = make()
    late = make()
    fill(part)
    state = part.state()
    early.restore(copy.deepcopy(state))
    fill(part, 30)
    late.restore(state)
    assert look(late) == look(early)
