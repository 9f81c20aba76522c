from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from csim.embed.batches import Balanced, Plain


def cut(batches, columns, seed=0):
    return list(batches.epoch(np.asarray(columns), np.random.default_rng(seed)))


@settings(max_examples=50)
@given(count=st.integers(1, 200), size=st.integers(2, 70), seed=st.integers(0, 99))
def test_plain_batches_hold_every_image_exactly_once(count, size, seed):
    batches = cut(Plain(size), [0] * count, seed)
    assert sorted(np.concatenate(batches)) == list(range(count))
    assert all(len(batch) == size for batch in batches[:-1])
    assert 1 <= len(batches[-1]) <= size + 1


@settings(max_examples=50)
@given(count=st.integers(2, 200), size=st.integers(2, 70))
def test_no_image_is_left_to_a_plain_batch_of_its_own(count, size):
    sizes = [len(batch) for batch in cut(Plain(size), [0] * count)]
    left = count % size
    whole = [size] * (count // size)
    assert sizes == ([*whole[:-1], size + 1] if left == 1 else whole + [left] * (left > 0))


def test_plain_batches_are_shuffled():
    order = np.concatenate(cut(Plain(10), [0] * 100))
    assert order.tolist() != list(range(100))


@pytest.mark.parametrize("make", [Plain, Balanced])
@pytest.mark.parametrize(("count", "size"), [(100, 64), (640, 64), (641, 64), (7, 64), (1000, 32)])
def test_an_epoch_is_about_as_many_batches_as_fit(make, count, size):
    columns = np.arange(count) % 5
    batches = cut(make(size), columns)
    assert abs(len(batches) - count / size) < 1


@pytest.mark.parametrize("make", [Plain, Balanced])
def test_the_same_seed_gives_the_same_batches(make):
    columns = np.arange(200) % 7
    first, second, other = (np.concatenate(cut(make(32), columns, seed)) for seed in (4, 4, 5))
    assert (first == second).all()
    assert not (first == other).all()


@pytest.mark.parametrize("make", [Plain, Balanced])
def test_the_columns_are_not_edited(make):
    columns = np.arange(50) % 3
    before = columns.copy()
    cut(make(16), columns)
    assert (columns == before).all()


def test_balanced_batches_of_few_classes_hold_all_of_them_equally_often():
    columns = np.array([0] * 500 + [1] * 40 + [2] * 3)
    for batch in cut(Balanced(64), columns):
        assert len(batch) == 64
        counts = np.bincount(columns[batch], minlength=3)
        assert counts.max() - counts.min() <= 1


@pytest.mark.parametrize("seed", range(5))
def test_balanced_batches_of_many_classes_hold_at_least_four_of_each_they_hold(seed):
    columns = np.repeat(np.arange(47), 20)
    batches = cut(Balanced(64), columns, seed)
    for batch in batches:
        counts = Counter(columns[batch].tolist())
        assert len(batch) == 64
        assert min(counts.values()) >= 4
        assert len(counts) >= 8  # 16 seats, of which a newly shuffled deck may repeat some
    drawn = np.bincount(columns[np.concatenate(batches)], minlength=47)
    assert drawn.max() - drawn.min() <= 4  # a class is at most one deal ahead of another


def test_a_small_class_comes_round_and_a_large_one_is_not_repeated_early():
    columns = np.array([0] * 300 + [1] * 5)
    drawn = Counter(np.concatenate(cut(Balanced(20), columns)).tolist())
    large = [drawn[i] for i in range(300)]
    small = [drawn[i] for i in range(300, 305)]
    assert max(large) == 1
    assert sum(small) == 160
    assert max(small) - min(small) <= 1


def test_balanced_batches_of_one_class_are_plain_ones():
    batches = cut(Balanced(8), [3] * 20)
    assert sorted(np.concatenate(batches)[:20]) == list(range(20))


@settings(max_examples=50)
@given(
    sizes=st.lists(st.integers(1, 30), min_size=1, max_size=12),
    size=st.integers(1, 40),
    seed=st.integers(0, 9),
)
def test_balanced_batches_have_their_size_whatever_the_classes(sizes, size, seed):
    columns = np.repeat(np.arange(len(sizes)) * 3, sizes)  # the columns need not be 0, 1, 2, …
    for batch in cut(Balanced(size), columns, seed):
        assert len(batch) == size
        assert batch.min() >= 0
        assert batch.max() < len(columns)
