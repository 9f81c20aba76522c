import itertools
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from csim.records import Item
from csim.retrain.schedule import Schedule
from csim.store.class_store import ClassStore
from csim.store.eviction import OldestOut


def store_with(**counts: int) -> ClassStore:
    store = ClassStore(200, OldestOut())
    for key, count in counts.items():
        class_id = int(key.removeprefix("class_"))
        for number in range(count):
            store.add(
                Item(f"{class_id}-{number}", 1, np.full((8, 8), class_id, np.uint8)),
                class_id,
                is_told=False,
            )
    return store


@pytest.mark.parametrize(
    ("images", "is_due"), [(0, False), (99, False), (100, False), (101, True), (200, True)]
)
def test_a_new_class_is_learned_once_it_has_more_than_s_update_images(images, is_due):
    job = Schedule(update_size=100, update_labels=0, update_growth=0.02, seed=0).due(
        store_with(class_0=150, class_7=images), known=[0], told=0
    )
    assert (job is not None) == is_due


def test_known_classes_alone_never_make_a_model_due():
    assert (
        Schedule(update_size=10, update_labels=0, update_growth=0.02, seed=0).due(
            store_with(class_0=50, class_1=50), known=[0, 1], told=0
        )
        is None
    )


def test_the_job_holds_all_classes_with_more_than_s_update_images_and_no_other():
    store = store_with(class_0=150, class_1=120, class_5=101, class_6=100, class_7=3)
    job = Schedule(update_size=100, update_labels=0, update_growth=0.02, seed=0).due(
        store, known=[0, 1], told=0
    )
    assert dict(zip(*np.unique(job.labels, return_counts=True), strict=True)) == {
        0: 150,
        1: 120,
        5: 101,
    }
    assert (job.images[:, 0, 0] == job.labels).all()


def test_a_known_class_with_few_images_is_not_forgotten():
    job = Schedule(update_size=10, update_labels=0, update_growth=0.02, seed=0).due(
        store_with(class_0=5, class_1=1, class_5=11), known=[0, 1], told=0
    )
    assert sorted(set(job.labels.tolist())) == [0, 5]


def test_a_job_tells_which_images_a_person_saw():
    store = store_with(class_0=3, class_5=2)
    store.add(Item("told", 1, np.full((8, 8), 0, np.uint8)), 0, is_told=True)
    job = Schedule(update_size=1, update_labels=0, update_growth=0.02, seed=0).due(
        store, known=[0], told=0
    )
    assert job.is_told.tolist() == [False, False, False, True, False, False]


def test_every_class_is_learned_from_its_first_image_on_and_then_it_is_quiet():
    schedule = Schedule(update_size=0, update_labels=0, update_growth=0.02, seed=0)
    store = store_with(class_0=20)
    known = [0]
    for class_id in (5, 6, 7):
        store.add(
            Item(f"{class_id}", 1, np.full((8, 8), class_id, np.uint8)), class_id, is_told=True
        )
        job = schedule.due(store, known, told=1)
        schedule.done()
        assert set(job.labels.tolist()) == {*known, class_id}
        known = sorted(set(job.labels.tolist()))
        assert schedule.due(store, known, told=1) is None


def test_only_one_job_is_under_way_at_a_time():
    schedule = Schedule(update_size=10, update_labels=0, update_growth=0.02, seed=0)
    store = store_with(class_0=20, class_5=20)
    first = schedule.due(store, known=[0], told=0)
    assert schedule.due(store, known=[0], told=0) is None
    schedule.done()
    second = schedule.due(store, known=[0], told=0)
    assert (first.version, second.version) == (1, 2)
    assert first.seed != second.seed


@settings(max_examples=40)
@given(update_labels=st.integers(0, 9), steps=st.lists(st.integers(0, 5), max_size=20))
def test_a_job_is_due_after_so_many_answers_even_without_a_new_class_and_not_before(
    update_labels, steps
):
    schedule = Schedule(update_size=10, update_labels=update_labels, update_growth=0.02, seed=0)
    store = store_with(class_0=20, class_1=20)
    before = 0
    since = 0  # answers that the newest model knows of, and those told after it
    for step in steps:
        since += step
        told = before + since
        is_due = 0 < update_labels <= since and 50 * since >= before
        job = schedule.due(store, known=[0, 1], told=told)
        assert (job is not None) == is_due
        if job:
            assert sorted(set(job.labels.tolist())) == [0, 1]
            schedule.done()
            before = told
            since = 0


def test_answers_told_while_a_job_is_under_way_count_for_the_next():
    schedule = Schedule(update_size=10, update_labels=5, update_growth=0.02, seed=0)
    store = store_with(class_0=20)
    assert schedule.due(store, known=[0], told=5).version == 1
    assert schedule.due(store, known=[0], told=11) is None
    schedule.done()
    assert schedule.due(store, known=[0], told=11).version == 2
    schedule.done()
    assert schedule.due(store, known=[0], told=15) is None
    assert schedule.due(store, known=[0], told=16).version == 3


def test_a_long_stream_trains_ever_more_rarely():
    schedule = Schedule(update_size=10, update_labels=4, update_growth=0.02, seed=0)
    store = store_with(class_0=20)
    due = [0]
    for told in range(1500):
        if schedule.due(store, known=[0], told=told):
            due.append(told)
            schedule.done()
    for before, after in itertools.pairwise(due):
        assert after - before == max(4, -(-before // 50))  # a fiftieth of all before, rounded up
    assert due[-1] - due[-2] > 20


def test_a_new_class_does_not_wait_for_answers_and_its_job_knows_all_that_was_told():
    schedule = Schedule(update_size=10, update_labels=5, update_growth=0.02, seed=0)
    store = store_with(class_0=20, class_5=20)
    assert schedule.due(store, known=[0], told=3) is not None
    schedule.done()
    assert schedule.due(store, known=[0, 5], told=7) is None
    assert schedule.due(store, known=[0, 5], told=8) is not None


def test_a_job_for_answers_holds_no_class_that_is_still_too_small():
    store = store_with(class_0=20, class_1=1, class_5=10, class_6=11)
    job = Schedule(update_size=10, update_labels=2, update_growth=0.02, seed=0).due(
        store, known=[0, 1], told=2
    )
    assert sorted(set(job.labels.tolist())) == [0, 6]


def test_answers_alone_make_no_job_when_there_is_nothing_to_learn_from():
    schedule = Schedule(update_size=10, update_labels=2, update_growth=0.02, seed=0)
    assert schedule.due(store_with(class_5=3), known=[], told=9) is None
    assert schedule.due(store_with(class_0=1), known=[0], told=9) is None


def test_the_same_seed_gives_the_same_jobs_and_another_seed_others():
    jobs = [
        Schedule(update_size=10, update_labels=0, update_growth=0.02, seed=seed).job(
            np.zeros((1, 8, 8)), np.zeros(1), np.ones(1, bool)
        )
        for seed in (3, 3, 4)
    ]
    assert jobs[0].seed == jobs[1].seed != jobs[2].seed


def test_state_survives_a_round_trip():
    schedule = Schedule(update_size=10, update_labels=0, update_growth=0.02, seed=0)
    store = store_with(class_0=20, class_5=20)
    schedule.due(store, known=[0], told=0)
    again = Schedule(update_size=10, update_labels=0, update_growth=0.02, seed=0)
    again.restore(schedule.state())
    assert again.due(store, known=[0], told=0) is None
    again.done()
    assert again.due(store, known=[0], told=0).version == 2


def test_what_was_told_survives_a_round_trip():
    schedule = Schedule(update_size=10, update_labels=4, update_growth=0.02, seed=0)
    store = store_with(class_0=20)
    schedule.due(store, known=[0], told=6)
    schedule.done()
    again = Schedule(update_size=10, update_labels=4, update_growth=0.02, seed=0)
    again.restore(json.loads(json.dumps(schedule.state())))
    assert again.due(store, known=[0], told=9) is None
    assert again.due(store, known=[0], told=10).version == 2
