import numpy as np
import pytest

from csim.records import Item
from csim.retrain.schedule import Schedule
from csim.store.class_store import ClassStore
from csim.store.eviction import OldestOut


def store_with(**counts: int) -> ClassStore:
    store = ClassStore(200, OldestOut())
    for key, count in counts.items():
        class_id = int(key.removeprefix("class_"))
        for number in range(count):
            store.add(Item(f"{class_id}-{number}", 1, np.full((8, 8), class_id, np.uint8)), class_id, is_told=False)
    return store


@pytest.mark.parametrize(("images", "is_due"), [(0, False), (99, False), (100, False), (101, True), (200, True)])
def test_a_new_class_is_learned_once_it_has_more_than_s_update_images(images, is_due):
    job = Schedule(update_size=100, seed=0).due(store_with(class_0=150, class_7=images), known=[0])
    assert (job is not None) == is_due


def test_known_classes_alone_never_make_a_model_due():
    assert Schedule(update_size=10, seed=0).due(store_with(class_0=50, class_1=50), known=[0, 1]) is None


def test_the_job_holds_all_classes_with_more_than_s_update_images_and_no_other():
    store = store_with(class_0=150, class_1=120, class_5=101, class_6=100, class_7=3)
    job = Schedule(update_size=100, seed=0).due(store, known=[0, 1])
    assert dict(zip(*np.unique(job.labels, return_counts=True), strict=True)) == {0: 150, 1: 120, 5: 101}
    assert (job.images[:, 0, 0] == job.labels).all()


def test_a_known_class_with_few_images_is_not_forgotten():
    job = Schedule(update_size=10, seed=0).due(store_with(class_0=5, class_1=1, class_5=11), known=[0, 1])
    assert sorted(set(job.labels.tolist())) == [0, 5]


def test_only_one_job_is_under_way_at_a_time():
    schedule, store = Schedule(update_size=10, seed=0), store_with(class_0=20, class_5=20)
    first = schedule.due(store, known=[0])
    assert schedule.due(store, known=[0]) is None
    schedule.done()
    second = schedule.due(store, known=[0])
    assert (first.version, second.version) == (1, 2)
    assert first.seed != second.seed


def test_the_same_seed_gives_the_same_jobs_and_another_seed_others():
    jobs = [Schedule(update_size=10, seed=seed).job(np.zeros((1, 8, 8)), np.zeros(1)) for seed in (3, 3, 4)]
    assert jobs[0].seed == jobs[1].seed != jobs[2].seed


def test_state_survives_a_round_trip():
    schedule, store = Schedule(update_size=10, seed=0), store_with(class_0=20, class_5=20)
    schedule.due(store, known=[0])
    again = Schedule(update_size=10, seed=0)
    again.restore(schedule.state())
    assert again.due(store, known=[0]) is None
    again.done()
    assert again.due(store, known=[0]).version == 2
