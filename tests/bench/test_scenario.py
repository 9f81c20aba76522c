import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as example_settings
from hypothesis import strategies as st

from csim.bench.datasets import DataSet
from csim.bench.scenario import paper_stream
from csim.errors import SettingsError


def numbered(sizes):
    """Return a data set whose images carry their own number, so that each can be told from all others."""
    count = sum(sizes)
    images = np.zeros((count, 8, 8), np.uint8)
    for place in range(4):
        images[:, 0, place] = np.arange(count) >> (8 * place) & 255
    names = [f"class {c}" for c, size in enumerate(sizes) for _ in range(size)]
    order = np.random.default_rng(0).permutation(count)
    return DataSet("numbered", images[order], [names[place] for place in order])


def numbers(images):
    return [int(image[0, 0]) + 256 * int(image[0, 1]) + 65536 * int(image[0, 2]) for image in images]


@pytest.mark.parametrize(
    ("classes", "share", "known"), [(10, 0.3, 3), (10, 0.5, 5), (10, 0.29, 2), (47, 0.3, 14), (7, 0.3, 2), (3, 0.67, 2)]
)
def test_the_floor_of_the_share_is_known_at_the_start(classes, share, known):
    stream = paper_stream(numbered([20] * classes), known_share=share, seed=1)
    assert len(set(stream.warm_up_names)) == known
    assert len(set(stream.names)) == classes


@pytest.mark.parametrize("share", [0, 0.1, 0.19, 1, 0.999999999999])
def test_a_share_that_leaves_too_few_known_or_none_to_discover_is_refused(share):
    with pytest.raises(SettingsError, match="known_share"):
        paper_stream(numbered([20] * 10), known_share=share, seed=1)


def test_a_known_class_warms_up_with_so_many_images_or_half_of_what_it_has():
    sizes = {"class 0": 50, "class 1": 19, "class 2": 20, "class 3": 21, "class 4": 8}
    stream = paper_stream(numbered(list(sizes.values())), known_share=0.8, seed=0, warm_up=10)
    counts = Counter(stream.warm_up_names)
    assert len(counts) == 4
    for name, count in counts.items():
        assert count == (10 if sizes[name] >= 20 else sizes[name] // 2)


@given(
    sizes=st.lists(st.integers(2, 30), min_size=4, max_size=8),
    seed=st.integers(0, 999),
    share=st.sampled_from([0.5, 0.6]),
)
@example_settings(max_examples=40)
def test_no_image_comes_twice_and_none_is_lost(sizes, seed, share):
    data = numbered(sizes)
    stream = paper_stream(data, known_share=share, seed=seed, warm_up=7)
    came = numbers(stream.warm_up) + numbers(stream.images)
    assert sorted(came) == list(range(sum(sizes)))
    truth = dict(zip(numbers(data.images), data.names, strict=True))
    assert [truth[number] for number in came] == stream.warm_up_names + stream.names


@pytest.mark.parametrize("seed", range(5))
def test_new_classes_start_one_after_another_within_the_first_nine_tenths(seed):
    data = numbered([300] * 10)
    stream = paper_stream(data, known_share=0.3, seed=seed, warm_up=100)
    known, length = set(stream.warm_up_names), len(stream.names)
    first = {name: stream.names.index(name) / length for name in set(stream.names)}
    starts = sorted(first[name] for name in first if name not in known)
    assert all(first[name] < 0.05 for name in known)
    assert len(starts) == 7
    assert starts[-1] < 0.9
    assert min(np.diff(starts)) > 0.03
    assert starts[0] > 0.005


def test_a_class_that_has_begun_stays_and_is_mixed_evenly():
    stream = paper_stream(numbered([1000] * 6), known_share=0.5, seed=3, warm_up=100)
    names = np.array(stream.names)
    for name in set(stream.names):
        places = np.flatnonzero(names == name)
        assert np.diff(places).max() < 0.02 * len(names)
        assert places[-1] > 0.98 * len(names)
        early, late = ((names[start:][:500] == name).sum() for start in (-1000, -500))  # all have begun
        assert abs(int(early) - int(late)) < 4 * math.sqrt(early + late)


def test_starts_are_evenly_spaced_in_the_streams_own_time():
    """Between two starts the classes present each send an equal share of what they have left to send."""
    sizes = [4000] * 4
    stream = paper_stream(numbered(sizes), known_share=0.5, seed=5, warm_up=1)
    known = set(stream.warm_up_names)
    starts = [0.9 * 0.25, 0.9 * 0.75]
    rates = [0.0, 0.0, *starts]

    def arrivals_until(time):
        return sum(3999.5 * max(0.0, time - start) / (1 - start) for start in rates)

    expected = [arrivals_until(start) for start in starts]
    found = sorted(stream.names.index(name) for name in set(stream.names) - known)
    assert found == pytest.approx(expected, abs=4 * math.sqrt(max(expected)))


def test_the_same_seed_gives_the_same_stream_and_another_seed_another():
    data = numbered([30] * 10)
    first, second, other = (paper_stream(data, known_share=0.3, seed=seed) for seed in (1, 1, 2))
    assert numbers(first.images) == numbers(second.images)
    assert numbers(first.warm_up) == numbers(second.warm_up)
    assert first.names == second.names
    assert numbers(first.images) != numbers(other.images)
    assert all(type(name) is str for name in first.names + first.warm_up_names)


def test_the_data_set_is_left_as_it_was():
    data = numbered([30] * 5)
    images, names = data.images.copy(), list(data.names)
    stream = paper_stream(data, known_share=0.5, seed=1)
    stream.images[:] = 0
    stream.warm_up[:] = 0
    assert (data.images == images).all()
    assert data.names == names
