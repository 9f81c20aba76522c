import copy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from csim.discover.window import Window, at_random, least_sure
from csim.records import Decision

CHOICES = {"least sure": least_sure, "at random": at_random}
SCORES = st.lists(st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.9, 1.0]) | st.floats(0, 1), max_size=25)

by_any_choice = pytest.mark.parametrize("choose", CHOICES.values(), ids=CHOICES.keys())


def make_window(choose=least_sure, size=100, seed=0):
    return Window(size, choose, np.random.default_rng(seed))


def fill(window, make_item, scores, start=1):
    """Show a window one image per score, every other one of them rejected; return the images."""
    items = [make_item(str(position), position) for position in range(start, start + len(scores))]
    for item, score in zip(items, scores, strict=True):
        window.add(item, Decision(item.position % 3, float(score), is_accepted=item.position % 2 == 0))
    return items


def take(window, most):
    """Look as discovery does."""
    chosen = window.choose(most)
    window.clear()
    return chosen


def ids(items):
    return [item.id for item in items]


@given(scores=SCORES, most=st.integers(0, 30))
def test_the_least_sure_images_are_taken_lowest_score_first(make_item, scores, most):
    window = make_window()
    items = fill(window, make_item, scores)
    expected = []
    waiting = list(zip(scores, items, strict=True))
    while waiting and len(expected) < most:
        lowest = min(score for score, _ in waiting)
        place = next(place for place, (score, _) in enumerate(waiting) if score == lowest)  # of equals the oldest
        expected.append(waiting.pop(place)[1])
    assert take(window, most) == expected


@by_any_choice
@given(scores=SCORES, most=st.integers(0, 30), seed=st.integers(0, 99))
def test_as_many_are_taken_as_there_are_questions_and_none_twice(make_item, choose, scores, most, seed):
    window = make_window(choose, seed=seed)
    items = fill(window, make_item, scores)
    taken = ids(take(window, most))
    assert len(taken) == len(set(taken)) == min(most, len(items))
    assert set(taken) <= set(ids(items))


def test_a_random_choice_is_uniform_and_blind_to_scores(make_item):
    """Each of 6 images is among the 2 taken in a third of 3,000 draws, and each pair as often as another."""
    window, draws = make_window(at_random), 3000
    singles, pairs = np.zeros(6), np.zeros((6, 6))
    for _ in range(draws):
        fill(window, make_item, [0.0, 0.01, 0.5, 0.98, 0.99, 1.0])
        first, second = (item.position - 1 for item in take(window, 2))
        singles[[first, second]] += 1
        pairs[first, second] += 1
    assert singles / draws == pytest.approx(np.full(6, 1 / 3), abs=5 * np.sqrt(2 / 9 / draws))
    off_diagonal = pairs[~np.eye(6, dtype=bool)] / draws
    assert off_diagonal == pytest.approx(np.full(30, 1 / 30), abs=5 * np.sqrt(1 / 30 / draws))
    assert not pairs.diagonal().any()


def test_the_same_seed_draws_the_same_and_another_seed_other_images(make_item):
    taken = []
    for seed in (3, 3, 4):
        window = make_window(at_random, seed=seed)
        fill(window, make_item, np.zeros(50))
        taken.append(ids(take(window, 10)))
    assert taken[0] == taken[1] != taken[2]


@by_any_choice
def test_an_empty_window_is_not_due_and_gives_nothing(choose):
    window = make_window(choose, size=1)
    assert not window.is_due(10**9)
    assert take(window, 5) == []
    assert take(window, 0) == []
    assert len(window) == 0


@by_any_choice
@pytest.mark.parametrize("most", [0, 1, 3, 4, 100])
def test_choosing_leaves_all_in_the_window_until_it_is_cleared(make_item, choose, most):
    window = make_window(choose, size=4)
    fill(window, make_item, [0.3, 0.1, 0.4, 0.2])
    assert len(window.choose(most)) == min(most, 4)
    assert len(window) == 4
    assert "1" in window
    assert window.is_due(4)
    window.clear()
    assert len(window) == 0
    assert "1" not in window
    assert not window.is_due(10**9)
    assert window.choose(most) == []


@by_any_choice
def test_the_choice_is_among_the_images_since_the_last_look_only(make_item, choose):
    window = make_window(choose)
    fill(window, make_item, [0.9, 0.0, 0.0])
    take(window, 1)
    later = fill(window, make_item, [0.8, 0.7], start=10)
    assert sorted(ids(take(window, 9))) == sorted(ids(later))


def test_it_is_due_when_it_is_full_and_not_before(make_item):
    window = make_window(size=3)
    due = []
    for position in (1, 2, 3):
        fill(window, make_item, [0.5], start=position)
        due.append(window.is_due(position))
    assert due == [False, False, True]
    assert len(window) == 3


def test_accepted_and_rejected_images_are_looked_at_alike_and_known_by_id(make_item):
    window = make_window()
    window.add(make_item("accepted", 1), Decision(0, 0.9, is_accepted=True))
    window.add(make_item("rejected", 2), Decision(0, 0.2, is_accepted=False))
    window.add(make_item("of no class", 3), Decision(None, 0.0, is_accepted=False))
    assert all(name in window for name in ("accepted", "rejected", "of no class"))
    assert "another" not in window
    assert ids(take(window, 9)) == ["of no class", "rejected", "accepted"]


@by_any_choice
@pytest.mark.parametrize("count", [0, 1, 7])
def test_images_scores_and_chance_survive_a_restore(make_item, choose, count):
    window, other = make_window(choose, seed=0), make_window(choose, seed=1)
    scores = np.random.default_rng(5).random(40)
    fill(window, make_item, scores[:20])
    take(window, 3)  # chance has moved on
    items = fill(window, make_item, scores[20 : 20 + count], start=50)
    fill(other, make_item, scores[:4], start=90)
    other.restore(copy.deepcopy(window.state()))
    assert len(other) == count
    assert all(item.id in other for item in items)
    assert "90" not in other
    for start in (200, 300):
        one, two = take(window, 5), take(other, 5)
        assert one == two
        assert all((a.image == b.image).all() for a, b in zip(one, two, strict=True))
        for each in (window, other):
            fill(each, make_item, scores, start=start)


def test_a_state_does_not_change_with_the_window(make_item):
    window, early, late = (make_window(at_random) for _ in range(3))
    fill(window, make_item, [0.1, 0.2])
    state = window.state()
    early.restore(copy.deepcopy(state))
    fill(window, make_item, [0.3], start=7)
    take(window, 1)
    late.restore(state)
    assert take(late, 2) == take(early, 2)


@by_any_choice
def test_a_choice_orders_all_images_and_leaves_the_scores_alone(choose):
    scores = np.random.default_rng(0).random(30)
    before = scores.copy()
    order = choose(scores, np.random.default_rng(1))
    assert sorted(order.tolist()) == list(range(30))
    assert (scores == before).all()
    assert choose(scores[:0], np.random.default_rng(1)).tolist() == []
