import inspect
import math
from collections import Counter
from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from counting import lines_run
from hypothesis import given
from hypothesis import settings as example_settings
from hypothesis import strategies as st

from csim.bench.datasets import DataSet
from csim.bench.scenario import (
    SCENARIOS,
    drift,
    long_tail,
    make,
    own_period,
    paper_stream,
    returning,
    same_rate,
    together,
)
from csim.errors import InputError, SettingsError

ORDERS = [
    paper_stream,
    own_period,
    together,
    returning,
]  # those that change neither images nor their number
MADE = [pytest.param(scenario, id=name) for name, scenario in SCENARIOS.items()]


def numbered(sizes):
    """Return a data set in which every image is different: it shows its number."""
    count = sum(sizes)
    images = np.zeros((count, 8, 8), np.uint8)
    for place in range(4):
        images[:, 0, place] = np.arange(count) >> (8 * place) & 255
    names = [f"class {c}" for c, size in enumerate(sizes) for _ in range(size)]
    order = np.random.default_rng(0).permutation(count)
    return DataSet("numbered", images[order], [names[place] for place in order])


def numbers(images):
    return [
        int(image[0, 0]) + 256 * int(image[0, 1]) + 65536 * int(image[0, 2]) for image in images
    ]


def known_to(stream):
    return set(stream.warm_up_names)


def places_of(stream, name):
    return np.flatnonzero(np.array(stream.names) == name)


@pytest.mark.parametrize(
    ("classes", "share", "known"),
    [(10, 0.3, 3), (10, 0.5, 5), (10, 0.29, 2), (47, 0.3, 14), (7, 0.3, 2), (3, 0.67, 2)],
)
@pytest.mark.parametrize("scenario", MADE)
def test_the_floor_of_the_share_is_known_at_the_start(scenario, classes, share, known):
    stream = scenario(numbered([20] * classes), known_share=share, seed=1)
    assert len(known_to(stream)) == known
    assert len(set(stream.names)) == classes


def test_a_known_class_gives_labelled_images_at_most_half_and_a_tenth_is_held_out():
    sizes = {
        "class 0": 50,
        "class 1": 39,
        "class 2": 40,
        "class 3": 41,
        "class 4": 8,
        "class 5": 3,
        "class 6": 500,
    }
    counted = set()
    for seed in range(8):
        stream = paper_stream(
            numbered(list(sizes.values())), known_share=0.8, seed=seed, warm_up=20
        )
        warm = Counter(stream.warm_up_names)
        held = Counter(stream.held_out_names)
        assert len(warm) == 5
        counted |= {(name, warm[name], held[name]) for name in warm}
    assert counted == {
        ("class 0", 18, 2),
        ("class 1", 18, 1),  # 19 are labelled, a tenth is 1
        ("class 2", 18, 2),
        ("class 3", 18, 2),
        ("class 4", 3, 1),  # at least 1
        ("class 5", 1, 0),  # a single one is needed to know the class at all
        ("class 6", 18, 2),
    }


@pytest.mark.parametrize("scenario", ORDERS)
@given(
    sizes=st.lists(st.integers(2, 30), min_size=4, max_size=8),
    seed=st.integers(0, 999),
    share=st.sampled_from([0.5, 0.6]),
)
@example_settings(max_examples=25, deadline=None)
def test_no_image_comes_twice_and_none_is_lost(scenario, sizes, seed, share):
    data = numbered(sizes)
    stream = scenario(data, known_share=share, seed=seed, warm_up=7)
    came = numbers(stream.warm_up) + numbers(stream.held_out) + numbers(stream.images)
    assert sorted(came) == list(range(sum(sizes)))
    truth = dict(zip(numbers(data.images), data.names, strict=True))
    assert [
        truth[number] for number in came
    ] == stream.warm_up_names + stream.held_out_names + stream.names
    assert set(stream.held_out_names) <= known_to(stream)


@pytest.mark.parametrize("scenario", MADE)
def test_starts_are_the_first_positions_of_the_new_classes_in_order(scenario):
    stream = scenario(numbered([60] * 12), known_share=0.3, seed=4)
    naive = {}
    for position, name in enumerate(stream.names, start=1):
        if name not in known_to(stream) and name not in naive:
            naive[name] = position
    assert list(stream.starts.items()) == list(naive.items())
    assert len(naive) == 9


@pytest.mark.parametrize("seed", range(5))
def test_each_new_class_starts_in_a_period_of_its_own_within_the_first_nine_tenths(seed):
    stream = paper_stream(numbered([300] * 10), known_share=0.3, seed=seed, warm_up=100)
    starts = [position / len(stream.names) for position in stream.starts.values()]
    assert all(stream.names.index(name) < 0.05 * len(stream.names) for name in known_to(stream))
    assert len(starts) == 7
    assert starts[-1] < 0.9
    assert min(np.diff(starts)) > 0.03
    assert starts[0] > 0.005


def test_all_labelled_images_can_be_the_warm_up():
    stream = paper_stream(numbered([300] * 10), known_share=0.3, seed=1, warm_up=100)
    every = stream.with_all_labelled()
    assert Counter(every.warm_up_names) == dict.fromkeys(known_to(stream), 100)
    assert sorted(numbers(every.warm_up)) == sorted(
        numbers(stream.warm_up) + numbers(stream.held_out)
    )
    assert len(every.held_out) == len(every.held_out_names) == 0
    assert (every.images == stream.images).all()
    labels = dict(zip(numbers(stream.held_out), stream.held_out_names, strict=True))
    again = dict(zip(numbers(every.warm_up), every.warm_up_names, strict=True))
    assert labels.items() <= again.items()


def test_a_class_in_its_own_period_is_gone_when_the_next_one_starts():
    stream = own_period(numbered([300] * 10), known_share=0.3, seed=4, warm_up=100)
    spans = [(places_of(stream, name)[0], places_of(stream, name)[-1]) for name in stream.starts]
    assert len(spans) == 7
    assert all(end < begin for (_, end), (begin, _) in pairwise(spans))
    assert all(places_of(stream, name)[-1] > 0.95 * len(stream.names) for name in known_to(stream))


def test_at_the_same_rate_a_late_class_has_fewer_images_and_all_arrive_equally_often():
    stream = same_rate(numbered([1000] * 10), known_share=0.3, seed=4, warm_up=100)
    counts = Counter(stream.names)
    assert [counts[name] for name in known_to(stream)] == [900] * 3
    new = [counts[name] for name in stream.starts]
    assert new == sorted(new, reverse=True)
    assert new[0] > 900
    assert 100 < new[-1] < 250
    end = Counter(stream.names[-1000:])
    assert max(end.values()) - min(end.values()) < 5 * math.sqrt(100)


def test_a_class_that_has_begun_stays_and_is_mixed_evenly():
    stream = paper_stream(numbered([1000] * 6), known_share=0.5, seed=3, warm_up=100)
    names = np.array(stream.names)
    for name in set(stream.names):
        places = places_of(stream, name)
        assert np.diff(places).max() < 0.02 * len(names)
        assert places[-1] > 0.98 * len(names)
        early, late = (
            (names[start:][:500] == name).sum() for start in (-1000, -500)
        )  # all have begun
        assert abs(int(early) - int(late)) < 4 * math.sqrt(early + late)


def test_starts_are_evenly_spaced_in_the_streams_own_time():
    """Between two starts, each class present sends an equal share of its remaining images."""
    sizes = [4000] * 4
    stream = paper_stream(numbered(sizes), known_share=0.5, seed=5, warm_up=1)
    starts = [0.9 * 0.25, 0.9 * 0.75]
    rates = [0.0, 0.0, *starts]

    def arrivals_until(time):
        return sum(3999.5 * max(0.0, time - start) / (1 - start) for start in rates)

    expected = [arrivals_until(start) for start in starts]
    assert list(stream.starts.values()) == pytest.approx(expected, abs=4 * math.sqrt(max(expected)))


@pytest.mark.parametrize("at_once", [1, 2, 3, 7, 20])
def test_new_classes_start_so_many_at_a_time(at_once):
    stream = together(numbered([400] * 10), known_share=0.3, seed=2, warm_up=100, at_once=at_once)
    starts = [position / len(stream.names) for position in stream.starts.values()]
    gaps = [second - first > 0.02 for first, second in pairwise(starts)]
    expected = [place % at_once == 0 for place in range(1, 7)]  # a gap after every full set
    assert gaps == expected


def test_one_at_a_time_is_the_papers_stream():
    data = numbered([30] * 10)
    alone, paper = (
        make_one(data, known_share=0.3, seed=3)
        for make_one in (partial(together, at_once=1), paper_stream)
    )
    assert numbers(alone.images) == numbers(paper.images)


def absences(stream, *, least):
    """Return the longest gap of each class after its first image, as a share, if it is long."""
    gaps = {
        name: np.diff(places_of(stream, name)).max() / len(stream.names)
        for name in set(stream.names)
    }
    return {name: gap for name, gap in gaps.items() if gap > least}


@pytest.mark.parametrize("seed", range(3))
def test_every_new_class_and_one_known_class_go_away_and_come_back(seed):
    stream = returning(numbered([1000] * 8), known_share=0.4, seed=seed, warm_up=100)
    gone = absences(stream, least=0.02)
    assert set(gone) >= set(stream.starts)
    assert len(set(gone) & known_to(stream)) == 1
    for name in gone:
        places = places_of(stream, name)
        longest = np.diff(places).argmax()
        assert 0.4 < (longest + 1) / len(places) < 0.6, "as many images before as after"
        assert places[-1] > 0.98 * len(stream.names)


@pytest.mark.parametrize(
    ("share", "count"), [(0.0, 0), (0.1, 1), (0.5, 3), (0.6, 3), (0.7, 4), (1.0, 5)]
)
def test_the_share_of_the_new_classes_that_go_away_is_rounded_up(share, count):
    stream = returning(numbered([1000] * 8), known_share=0.4, seed=1, warm_up=100, share=share)
    assert len(set(absences(stream, least=0.02)) & set(stream.starts)) == count


@pytest.mark.parametrize("away", [0.1, 0.5, 0.9])
def test_a_class_is_away_for_the_share_of_its_time(away):
    """A known class has the whole stream; judge by the classes that never leave."""
    stream = returning(
        numbered([4000] * 6), known_share=0.5, seed=1, warm_up=10, share=0, away=away
    )
    (gone,) = absences(stream, least=0.02)
    places = places_of(stream, gone)
    longest = np.diff(places).argmax()
    steady = next(name for name in known_to(stream) if name != gone)
    clock = places_of(stream, steady)  # comes evenly all the time
    before, after = (np.searchsorted(clock, places[longest + step]) / len(clock) for step in (0, 1))
    assert after - before == pytest.approx(away, abs=0.04)
    assert (before + after) / 2 == pytest.approx(0.5, abs=0.04)


@pytest.mark.parametrize("rarest", [1 / 50, 0.1, 1.0])
def test_class_sizes_fall_geometrically_from_the_largest_to_the_rarest(rarest):
    sizes = [900, 1000, 1100, 950, 1000, 1200, 1000]
    stream = long_tail(numbered(sizes), known_share=0.4, seed=2, warm_up=50, rarest=rarest)
    counts = sorted(
        Counter(stream.warm_up_names + stream.held_out_names + stream.names).values(), reverse=True
    )
    assert counts[0] >= 900, "no more images are left out than need be"
    for rank, count in enumerate(counts):
        assert count == pytest.approx(counts[0] * rarest ** (rank / 6), abs=1)


def test_which_class_is_rare_is_drawn_apart_from_which_is_new():
    rare = Counter()
    new = 0
    for seed in range(60):
        stream = long_tail(numbered([100] * 4), known_share=0.5, seed=seed)
        counts = Counter(stream.warm_up_names + stream.held_out_names + stream.names)
        rarest = min(counts, key=counts.__getitem__)
        rare[rarest] += 1
        new += rarest in stream.starts
    assert len(rare) == 4
    assert max(rare.values()) < 30
    assert 15 < new < 45


def test_a_long_tail_takes_images_once_and_leaves_at_least_two_of_a_class():
    data = numbered([20] * 10)
    stream = long_tail(data, known_share=0.3, seed=1, rarest=0.001)
    came = numbers(stream.warm_up) + numbers(stream.held_out) + numbers(stream.images)
    assert len(set(came)) == len(came) < 200
    truth = dict(zip(numbers(data.images), data.names, strict=True))
    names = stream.warm_up_names + stream.held_out_names + stream.names
    assert [truth[number] for number in came] == names
    assert min(Counter(names).values()) == 2
    assert Counter(stream.warm_up_names).keys() == known_to(
        paper_stream(data, known_share=0.3, seed=1)
    )


def pictures(count, *, colour):
    shape = (count, 9, 8, 3) if colour else (count, 9, 8)
    images = np.random.default_rng(3).integers(0, 256, shape, dtype=np.uint8)
    return DataSet("pictures", images, [f"class {place % 4}" for place in range(count)])


def turned_by_hand(image, degrees):
    """Rotate an image counter-clockwise, pixel by pixel, bilinear, with repeated edges."""
    height, width = image.shape[:2]
    angle = math.radians(degrees)
    middle = ((height - 1) / 2, (width - 1) / 2)
    out = np.zeros(image.shape)
    for row in range(height):
        for column in range(width):
            down = row - middle[0]
            right = column - middle[1]
            y = min(
                max(middle[0] + math.cos(angle) * down + math.sin(angle) * right, 0), height - 1
            )
            x = min(max(middle[1] - math.sin(angle) * down + math.cos(angle) * right, 0), width - 1)
            top = min(int(y), height - 2)
            left = min(int(x), width - 2)
            for r, c in ((top, left), (top, left + 1), (top + 1, left), (top + 1, left + 1)):
                out[row, column] += (1 - abs(y - r)) * (1 - abs(x - c)) * image[r, c]
    return out


@pytest.mark.parametrize("colour", [False, True])
@pytest.mark.parametrize(("degrees", "brightness"), [(30.0, 0.6), (-90.0, 1.0), (12.0, 1.7)])
def test_images_turn_and_dim_from_nothing_at_the_start_to_all_at_the_end(
    colour, degrees, brightness
):
    data = pictures(200, colour=colour)
    plain = paper_stream(data, known_share=0.5, seed=1)
    stream = drift(data, known_share=0.5, seed=1, degrees=degrees, brightness=brightness)
    last = len(plain.images) - 1
    assert stream.images.dtype == np.uint8
    assert stream.images.shape == plain.images.shape
    assert (stream.images[0] == plain.images[0]).all()
    for place in (0, last // 3, last // 2, last):
        progress = place / last
        angle = round(progress * 60) / 60 * degrees
        expected = turned_by_hand(plain.images[place], angle) * (1 + progress * (brightness - 1))
        assert np.abs(stream.images[place] - expected.clip(0, 255)).max() < 0.51, f"image {place}"


def test_a_positive_turn_is_counter_clockwise():
    data = DataSet("square", pictures(80, colour=True).images[:, :8], list("abcd") * 20)
    plain = paper_stream(data, known_share=0.5, seed=1)
    stream = drift(data, known_share=0.5, seed=1, degrees=90, brightness=1)
    assert (stream.images[-1] == np.rot90(plain.images[-1])).all()


def test_drift_leaves_order_warm_up_and_held_out_images_alone():
    data = pictures(200, colour=False)
    plain, stream, none = (
        scenario(data, known_share=0.5, seed=1)
        for scenario in (paper_stream, drift, partial(drift, degrees=0, brightness=1))
    )
    assert (stream.warm_up == plain.warm_up).all()
    assert (stream.held_out == plain.held_out).all()
    assert (stream.names, stream.starts) == (plain.names, plain.starts)
    assert (stream.images != plain.images).any()
    assert (none.images == plain.images).all()


@pytest.mark.parametrize("scenario", MADE)
def test_the_same_seed_gives_the_same_stream_and_another_seed_another(scenario):
    data = numbered([30] * 10)
    first, second, other = (scenario(data, known_share=0.3, seed=seed) for seed in (1, 1, 2))
    for field in ("warm_up", "held_out", "images"):
        assert (getattr(first, field) == getattr(second, field)).all()
    assert (first.names, first.starts) == (second.names, second.starts)
    assert first.names != other.names
    assert all(
        type(name) is str
        for name in [*first.names, *first.warm_up_names, *first.held_out_names, *first.starts]
    )


@pytest.mark.parametrize("seed", range(4))
def test_a_seed_makes_the_same_classes_known_in_every_scenario(seed):
    streams = [make(name, numbered([40] * 10), known_share=0.3, seed=seed) for name in SCENARIOS]
    assert len({frozenset(known_to(stream)) for stream in streams}) == 1


@pytest.mark.parametrize("scenario", MADE)
def test_the_data_set_is_left_as_it_was(scenario):
    data = numbered([30] * 5)
    images = data.images.copy()
    names = list(data.names)
    stream = scenario(data, known_share=0.5, seed=1)
    for part in (stream.images, stream.warm_up, stream.held_out):
        part[:] = 0
    assert (data.images == images).all()
    assert data.names == names


@pytest.mark.parametrize("scenario", MADE)
def test_classes_of_two_images_are_enough(scenario):
    stream = scenario(numbered([2] * 47), known_share=0.3, seed=1)
    assert (len(stream.warm_up), len(stream.held_out)) == (14, 0)
    assert len(stream.images) == 80 or (scenario is same_rate and 47 < len(stream.images) < 80)
    assert len(stream.starts) == 33


@pytest.mark.parametrize("share", [0, 0.1, 0.19, 1, 0.999999999999, -0.3, 1.3, math.nan])
@pytest.mark.parametrize("scenario", MADE)
def test_a_share_that_leaves_too_few_known_or_none_to_discover_is_refused(scenario, share):
    with pytest.raises(
        SettingsError,
        match=r"classes \(--r\) .* got .* for 10 classes choose 0\.2 or more, and less than 1",
    ):
        scenario(numbered([20] * 10), known_share=share, seed=1)


@pytest.mark.parametrize("classes", [3, 7, 11, 47, 999, 1500])
def test_the_share_that_is_proposed_will_do(classes):
    data = numbered([2] * classes)
    with pytest.raises(SettingsError) as refusal:
        paper_stream(data, known_share=1e-9, seed=1)
    proposed = float(str(refusal.value).split("choose ")[1].split()[0])
    assert len(known_to(paper_stream(data, known_share=proposed, seed=1))) >= 2


@pytest.mark.parametrize("scenario", MADE)
def test_a_data_set_that_cannot_make_a_stream_is_refused(scenario):
    with pytest.raises(InputError, match="needs images"):
        scenario(DataSet("nothing", np.zeros((0, 8, 8), np.uint8), []), known_share=0.5, seed=1)
    with pytest.raises(InputError, match="'class 2' has 1"):
        scenario(numbered([5, 5, 1, 5]), known_share=0.5, seed=1)
    with pytest.raises(InputError, match="has 2 in all"):
        scenario(numbered([5, 5]), known_share=0.5, seed=1)


@pytest.mark.parametrize(
    ("scenario", "wrong"),
    [
        (scenario, {name: value})
        for scenario in SCENARIOS.values()
        for name, value in (("seed", -1), ("warm_up", 0))
    ]
    + [(together, {"at_once": 0}), (long_tail, {"rarest": 0}), (long_tail, {"rarest": 1.1})]
    + [
        (returning, {"share": -0.1}),
        (returning, {"share": 1.1}),
        (returning, {"away": 0}),
        (returning, {"away": 1}),
    ]
    + [(drift, {"degrees": 181}), (drift, {"degrees": math.nan}), (drift, {"brightness": 0})],
)
def test_an_argument_outside_its_range_is_refused_by_name(scenario, wrong):
    ((name, value),) = wrong.items()
    with pytest.raises(SettingsError, match=f"{name} must .* got {value}"):
        scenario(numbered([5] * 5), **({"known_share": 0.5, "seed": 1} | wrong))


def test_scenarios_are_made_by_name():
    data = numbered([30] * 8)
    assert list(SCENARIOS) == [
        "paper",
        "together",
        "own-period",
        "same-rate",
        "returning",
        "long-tail",
        "drift",
    ]
    for name, scenario in SCENARIOS.items():
        made = make(name, data, known_share=0.3, seed=2)
        called = scenario(data, known_share=0.3, seed=2)
        assert (made.images == called.images).all()
        assert made.names == called.names
        assert len(inspect.signature(scenario).parameters) <= 6


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("retruning", "returning"),
        ("long_tail", "long-tail"),
        ("PAPER", "paper"),
        ("drifting", "drift"),
    ],
)
def test_an_unknown_name_is_answered_with_the_nearest(said, meant):
    with pytest.raises(
        SettingsError,
        match=f"paper, together, own-period, .* got '{said}'; the nearest is '{meant}'",
    ):
        make(said, numbered([5] * 5), known_share=0.5, seed=1)


def test_seventy_thousand_images_are_put_in_order_with_little_python():
    data = DataSet(
        "many", np.zeros((70_000, 8, 8), np.uint8), [str(place % 10) for place in range(70_000)]
    )
    lines = lines_run(lambda: paper_stream(data, known_share=0.3, seed=0))
    assert lines < 5 * 70_000
    stream = paper_stream(data, known_share=0.3, seed=0)
    assert (len(stream.warm_up), len(stream.held_out), len(stream.images)) == (2700, 300, 67_000)
