import json
from collections import deque

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from csim.errors import SettingsError
from csim.records import Item
from csim.store.class_store import ClassStore
from csim.store.eviction import OldestOut, ProtectTold

ADDS = st.lists(
    st.tuples(st.integers(0, 30), st.integers(0, 3), st.booleans()), max_size=80
)  # item, class, told
SIZES = st.integers(2, 5)


def item(number):
    return Item(f"item {number}", number, np.full((8, 8), number % 256, np.uint8))


def ids(store, class_id):
    return [int(entry.id.removeprefix("item ")) for entry in store.items(class_id)]


def fill(store, entries):
    for number, class_id, is_told in entries:
        store.add(item(number), class_id, is_told=is_told)
    return store


def shelves(store, classes=range(4)):
    return {class_id: ids(store, class_id) for class_id in classes}


@settings(max_examples=60)
@given(adds=ADDS, size=SIZES)
def test_oldest_out_is_a_queue_per_class(adds, size):
    model = {class_id: deque(maxlen=size) for class_id in range(4)}
    for number, class_id, _ in adds:
        for queue in model.values():
            if number in queue:
                queue.remove(number)
        model[class_id].append(number)
    store = fill(ClassStore(size, OldestOut()), adds)
    assert shelves(store) == {class_id: list(queue) for class_id, queue in model.items()}


@settings(max_examples=60)
@given(adds=ADDS, size=SIZES)
def test_protect_told_gives_up_inferred_images_first(adds, size):
    model = {class_id: [] for class_id in range(4)}  # (number, is_told), oldest first
    for number, class_id, is_told in adds:
        for shelf in model.values():
            shelf[:] = [entry for entry in shelf if entry[0] != number]
        shelf = model[class_id]
        if len(shelf) == size:
            inferred = [entry for entry in shelf if not entry[1]]
            if not inferred and not is_told:
                continue
            shelf.remove(inferred[0] if inferred else shelf[0])
        shelf.append((number, is_told))
    store = fill(ClassStore(size, ProtectTold()), adds)
    assert shelves(store) == {
        class_id: [number for number, _ in shelf] for class_id, shelf in model.items()
    }


@settings(max_examples=60)
@given(adds=ADDS, size=SIZES, most=st.integers(0, 6))
def test_a_class_keeps_so_many_inferred_images_at_most_the_newest(adds, size, most):
    model = {class_id: [] for class_id in range(4)}  # (number, is_told), oldest first
    for number, class_id, is_told in adds:
        for shelf in model.values():
            shelf[:] = [entry for entry in shelf if entry[0] != number]
        shelf = model[class_id]
        inferred = [entry for entry in shelf if not entry[1]]
        if not is_told and most == 0:
            continue
        if not is_told and len(inferred) == most:
            shelf.remove(inferred[0])
        elif len(shelf) == size:
            if not inferred and not is_told:
                continue
            shelf.remove(inferred[0] if inferred else shelf[0])
        shelf.append((number, is_told))
    store = fill(ClassStore(size, ProtectTold(), most), adds)
    assert shelves(store) == {
        class_id: [number for number, _ in shelf] for class_id, shelf in model.items()
    }


@pytest.mark.parametrize("eviction", [OldestOut(), ProtectTold()])
@settings(max_examples=60)
@given(adds=ADDS, size=SIZES)
def test_a_class_never_has_more_than_its_size_and_an_image_is_stored_once(eviction, adds, size):
    store = ClassStore(size, eviction)
    for number, class_id, is_told in adds:
        store.add(item(number), class_id, is_told=is_told)
        assert store.count(class_id) <= size
    held = [number for class_id in range(4) for number in ids(store, class_id)]
    assert len(held) == len(set(held))
    assert {number for number in range(31) if f"item {number}" in store.ids} == set(held)
    assert store.class_ids() == [class_id for class_id in range(4) if ids(store, class_id)]
    assert [store.count(class_id) for class_id in range(4)] == [
        len(ids(store, class_id)) for class_id in range(4)
    ]


def test_a_told_label_never_leaves_for_an_inferred_one():
    store = fill(ClassStore(3, ProtectTold()), [(1, 0, True), (2, 0, True), (3, 0, True)])
    fill(store, [(number, 0, False) for number in range(10, 30)])
    assert ids(store, 0) == [1, 2, 3]
    assert "item 10" not in store.ids


@pytest.mark.parametrize("eviction", [OldestOut(), ProtectTold()])
def test_inferred_images_take_each_others_place_and_not_that_of_told_ones(eviction):
    store = fill(ClassStore(9, eviction, 2), [(number, 0, True) for number in (1, 2, 3)])
    fill(store, [(number, 0, False) for number in range(10, 30)])
    assert ids(store, 0) == [1, 2, 3, 28, 29]
    fill(store, [(number, 0, True) for number in (4, 5)])
    assert ids(store, 0) == [1, 2, 3, 28, 29, 4, 5]
    fill(store, [(30, 1, False)])
    assert shelves(store, (0, 1)) == {0: [1, 2, 3, 28, 29, 4, 5], 1: [30]}


def test_an_inferred_image_that_is_told_makes_room_for_another_inferred_one():
    store = fill(ClassStore(9, ProtectTold(), 1), [(1, 0, False), (1, 0, True), (2, 0, False)])
    assert ids(store, 0) == [1, 2]
    assert [store.is_told(f"item {number}") for number in (1, 2)] == [True, False]


def test_a_store_of_told_images_alone_keeps_no_inferred_one():
    store = fill(ClassStore(9, ProtectTold(), 0), [(1, 0, False), (2, 0, True), (3, 1, False)])
    assert shelves(store, (0, 1)) == {0: [2], 1: []}
    assert store.class_ids() == [0]
    assert "item 1" not in store.ids


def test_a_merge_keeps_to_the_inferred_images_of_one_class():
    store = fill(
        ClassStore(9, ProtectTold(), 2), [(1, 0, False), (2, 1, False), (3, 0, True), (4, 1, False)]
    )
    store.merge(0, 1)
    assert ids(store, 1) == [2, 3, 4]


def test_an_image_is_told_only_while_it_is_stored_under_what_a_person_said():
    store = fill(ClassStore(2, ProtectTold()), [(1, 0, True), (2, 0, False), (3, 4, True)])
    told = {number for number in range(9) if store.is_told(f"item {number}")}
    assert told == {1, 3}
    store.remove(["item 3"])
    fill(store, [(1, 4, False), (2, 0, True)])
    assert {number for number in range(9) if store.is_told(f"item {number}")} == {2}


@settings(max_examples=60)
@given(adds=ADDS, size=SIZES, most=st.integers(0, 12), per_class=st.integers(1, 5))
def test_the_newest_images_come_told_ones_first_and_as_many_of_each_class(
    adds, size, most, per_class
):
    store = fill(ClassStore(size, ProtectTold()), adds)
    chosen, labels = store.newest(most, per_class)
    each = max(1, min(per_class, most // max(1, len(store.class_ids()))))
    expected = []
    for class_id in store.class_ids():
        newest_first = ids(store, class_id)[::-1]
        told = [number for number in newest_first if store.is_told(f"item {number}")]
        rest = [number for number in newest_first if number not in told]
        expected += [(number, class_id) for number in (told + rest)[:each]]
    numbers = [int(one.id.removeprefix("item ")) for one in chosen]
    assert sorted(zip(numbers, labels.tolist(), strict=True)) == sorted(expected)
    assert labels.dtype == np.int64


def test_a_told_newcomer_takes_the_place_of_the_oldest_inferred_image():
    store = fill(
        ClassStore(3, ProtectTold()), [(1, 0, True), (2, 0, False), (3, 0, False), (4, 0, True)]
    )
    assert ids(store, 0) == [1, 3, 4]


def test_a_told_newcomer_to_a_shelf_of_told_images_takes_the_place_of_the_oldest():
    store = fill(ClassStore(2, ProtectTold()), [(1, 0, True), (2, 0, True), (3, 0, True)])
    assert ids(store, 0) == [2, 3]
    assert "item 1" not in store.ids


def test_oldest_out_gives_up_told_labels_too():
    store = fill(ClassStore(2, OldestOut()), [(1, 0, True), (2, 0, False), (3, 0, False)])
    assert ids(store, 0) == [2, 3]


@pytest.mark.parametrize("eviction", [OldestOut(), ProtectTold()])
def test_a_stored_image_that_comes_again_moves(eviction):
    store = fill(ClassStore(3, eviction), [(1, 0, False), (2, 0, False), (1, 5, True)])
    assert (ids(store, 0), ids(store, 5)) == ([2], [1])
    fill(store, [(2, 0, True), (3, 0, False), (2, 0, True)])
    assert ids(store, 0) == [3, 2]


@pytest.mark.parametrize("eviction", [OldestOut(), ProtectTold()])
def test_a_class_that_is_full_leaves_the_others_alone(eviction):
    store = fill(ClassStore(2, eviction), [(1, 0, False), (2, 0, True)])
    fill(store, [(number, 1, number % 2 == 0) for number in range(10, 20)])
    assert ids(store, 0) == [1, 2]


def test_images_are_removed_from_any_class_and_unknown_ids_are_ignored():
    store = fill(ClassStore(5, ProtectTold()), [(1, 0, True), (2, 0, False), (3, 1, False)])
    store.remove(["item 3", "item 1", "stranger"])
    assert shelves(store, (0, 1)) == {0: [2], 1: []}
    assert store.class_ids() == [0]
    assert "item 1" not in store.ids


def test_a_dropped_class_loses_its_images_and_can_be_stored_again():
    store = fill(ClassStore(5, ProtectTold()), [(1, 0, True), (2, 0, False), (3, 1, False)])
    store.drop(0)
    store.drop(17)
    assert store.class_ids() == [1]
    assert store.count(0) == 0
    assert "item 2" not in store.ids
    assert ids(fill(store, [(2, 0, False)]), 0) == [2]


def test_after_a_merge_all_images_are_on_one_shelf_in_order_of_age():
    store = fill(
        ClassStore(9, OldestOut()),
        [(1, 0, True), (2, 1, True), (3, 0, False), (4, 1, False), (5, 0, True)],
    )
    store.merge(0, 1)
    assert shelves(store, (0, 1)) == {0: [], 1: [1, 2, 3, 4, 5]}
    assert store.class_ids() == [1]
    assert "item 3" in store.ids


def test_after_a_merge_that_overflows_the_newest_images_stay():
    store = fill(
        ClassStore(3, OldestOut()), [(1, 0, False), (2, 1, False), (3, 0, False), (4, 1, False)]
    )
    store.merge(0, 1)
    assert ids(store, 1) == [2, 3, 4]
    assert "item 1" not in store.ids


def test_a_merge_keeps_told_labels_before_inferred_ones():
    store = fill(
        ClassStore(3, ProtectTold()),
        [(1, 0, True), (2, 0, False), (3, 1, False), (4, 1, True), (5, 1, False)],
    )
    store.merge(0, 1)
    assert store.count(1) == 3
    assert {1, 4} <= set(ids(store, 1))
    fill(store, [(number, 1, False) for number in range(10, 20)])
    assert {1, 4} <= set(ids(store, 1))


def test_merging_an_empty_class_changes_nothing():
    store = fill(ClassStore(3, ProtectTold()), [(1, 1, True)])
    store.merge(0, 1)
    assert shelves(store, (0, 1)) == {0: [], 1: [1]}


def test_examples_are_the_images_of_the_named_classes_with_their_ids():
    store = fill(
        ClassStore(3, ProtectTold()), [(1, 4, True), (2, 0, False), (3, 4, False), (9, 7, True)]
    )
    images, labels, is_told = store.examples([4, 0])
    assert labels.tolist() == [4, 4, 0]
    assert labels.dtype == np.int64
    assert is_told.tolist() == [True, False, False]
    assert is_told.dtype == bool
    assert images[:, 0, 0].tolist() == [1, 3, 2]
    images[:] = 0
    assert store.items(4)[0].image[0, 0] == 1


@pytest.mark.parametrize("class_ids", [[], [3]])
def test_no_examples_are_an_empty_batch(class_ids):
    images, labels, is_told = ClassStore(3, ProtectTold()).examples(class_ids)
    assert len(images) == len(labels) == len(is_told) == 0


@pytest.mark.parametrize("make_eviction", [OldestOut, ProtectTold])
@settings(max_examples=60)
@given(
    before=ADDS,
    after=ADDS,
    size=SIZES,
    most=st.none() | st.integers(0, 3),
    merged=st.tuples(st.integers(0, 3), st.integers(0, 3)),
)
def test_a_restored_store_goes_on_like_the_one_that_was_saved(
    make_eviction, before, after, size, most, merged
):
    store = fill(ClassStore(size, make_eviction(), most), before)
    other = fill(ClassStore(size, make_eviction(), most), [(77, 2, True)])
    other.restore(store.state())
    assert shelves(other) == shelves(store)
    assert "item 77" not in other.ids
    for one in (store, other):
        one.remove(["item 3", "item 4"])
        fill(one, after[: len(after) // 2])
        one.merge(*merged)
        fill(one, after[len(after) // 2 :])
    assert shelves(other) == shelves(store)


def test_a_state_is_plain_values_and_keeps_the_pixels():
    store = fill(ClassStore(3, ProtectTold()), [(1, 4, True), (2, 0, False)])
    state = store.state()
    json.dumps(
        [state["class_ids"], state["told"], state["items"]["ids"], state["items"]["positions"]]
    )
    other = ClassStore(3, ProtectTold())
    other.restore(state)
    assert (other.items(4)[0].image == item(1).image).all()
    assert other.items(4)[0].position == 1


@pytest.mark.parametrize("eviction", [OldestOut(), ProtectTold()])
def test_memory_does_not_grow_with_the_stream(eviction):
    store = ClassStore(10, eviction)
    for number in range(5000):
        store.add(item(number), number % 3, is_told=number % 50 == 0)
    assert len(store.state()["items"]["ids"]) == 30
    assert sum(f"item {number}" in store.ids for number in range(5000)) == 30


def test_a_store_for_fewer_than_two_images_is_refused():
    with pytest.raises(SettingsError, match="got 1"):
        ClassStore(1, OldestOut())
