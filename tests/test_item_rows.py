"""Values of items in columns against a dictionary."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from csim.item_rows import ItemRows
from csim.records import Item


def key(number):
    return number or "item 0"


def item(number):
    return Item(f"item {number}", number, np.zeros((1, 1), np.uint8))


def values(numbers):
    column = np.asarray(numbers, np.float32)[:, None]
    return column * [1, 2], column * [3, 4, 5]


@given(
    most=st.integers(1, 12),
    batches=st.lists(st.lists(st.integers(0, 30), max_size=8, unique=True), max_size=12),
)
def test_the_newest_are_remembered_and_each_item_has_its_own_values(most, batches):
    rows = ItemRows(most)
    for batch in batches:
        rows.add([key(number) for number in batch], *values(batch))
        assert len(rows) <= most
        newest = batch[-most:]
        assert (rows.find([item(number) for number in newest]) >= 0).all()
        for number in range(31):
            (row,) = rows.find([item(number)])
            if row >= 0:
                for column, expected in enumerate(values([number])):
                    assert (rows.read(column, np.array([row])) == expected).all()


@given(
    most=st.integers(1, 12),
    batches=st.lists(
        st.lists(st.integers(0, 30), min_size=1, max_size=8, unique=True), max_size=12
    ),
)
def test_values_are_computed_for_what_is_not_remembered_alone(most, batches):
    rows = ItemRows(most)
    for batch in batches:
        items = [item(number) for number in batch]
        missing = [one for one, row in zip(items, rows.find(items), strict=True) if row < 0]
        shown = []

        def compute(new, shown=shown):
            shown += new
            return values([one.position for one in new])[0]

        assert (rows.of(items, compute) == values(batch)[0]).all()
        assert shown == missing


@pytest.mark.parametrize("count", [0, 3, 5, 9, 23])
def test_as_many_as_there_is_room_for_come_back_oldest_first(count):
    rows = ItemRows(5)
    for number in range(count):
        rows.add([key(number)], *values([number]))
    keys, found = rows.oldest_first()
    expected = list(range(max(0, count - 5), count))
    assert keys == [key(number) for number in expected]
    if expected:
        assert (rows.read(0, found) == values(expected)[0]).all()


def test_an_item_that_comes_again_has_its_newest_values_alone():
    rows = ItemRows(4)
    rows.add([key(1), key(2)], *values([1, 2]))
    rows.add([key(1)], *values([7]))
    keys, found = rows.oldest_first()
    assert len(rows) == len(keys) == 2
    assert dict(zip(keys, rows.read(0, found)[:, 0].tolist(), strict=True)) == {
        key(1): 7.0,
        key(2): 2.0,
    }


def test_an_id_that_is_used_again_at_another_position_is_another_item():
    rows = ItemRows(4)
    rows.add_items([Item("a", 1, np.zeros((1, 1), np.uint8))], *values([1]))
    assert rows.find([Item("a", 9, np.zeros((1, 1), np.uint8))]).tolist() == [-1]


def test_warm_up_items_are_told_apart_by_id():
    rows = ItemRows(4)
    first, second = (Item(name, 0, np.zeros((1, 1), np.uint8)) for name in "ab")
    rows.add_items([first], *values([1]))
    assert rows.has_any([second, first])
    assert not rows.has_any([second])
    assert rows.find([second, first]).tolist() == [-1, 0]
