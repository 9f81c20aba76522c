import copy

import numpy as np
import pytest
from discover.places import LEFT, RIGHT, head_of, items_at, scene_of
from hypothesis import given, settings
from hypothesis import strategies as st

from csim.discover.choice import AtRandom, LeastSure

LABELLED = {LEFT: np.array([[-5.0, 0.0]]), RIGHT: np.array([[5.0, 0.0]])}


def line(middles):
    """Return points on a line; the nearer to 0, the less sure is the head."""
    return np.stack([middles, np.zeros(len(middles))], axis=1)


def at_random(seed=0):
    return AtRandom(np.random.default_rng(seed))


def asked(found):
    return [pick.representative for pick in found.picks]


@settings(max_examples=40)
@given(
    middles=st.lists(
        st.integers(-40, 40).map(lambda tenths: tenths / 10), min_size=1, max_size=20, unique=True
    ),
    most=st.integers(0, 25),
)
def test_the_least_sure_images_are_chosen_and_of_equals_the_oldest(middles, most):
    found = LeastSure().choose(scene_of(line(middles), LABELLED), most, [])
    scores = 1 / (1 + np.exp(-2 * np.abs(middles)))  # of the class that is given
    doubts = [1 - best / (1 - best) / (best / (1 - best) + (1 - best) / best) for best in scores]
    expected = sorted(range(len(middles)), key=lambda index: (-round(doubts[index], 9), index))
    assert asked(found) == expected[:most]


def test_without_any_class_the_oldest_images_are_chosen():
    scene = scene_of(line([3.0, 0.0, -2.0]), {}, head_of(()))
    assert asked(LeastSure().choose(scene, 2, [])) == [0, 1]


@pytest.mark.parametrize("most", [0, 1, 4, 6, 50])
@pytest.mark.parametrize("make", [LeastSure, at_random])
def test_each_image_that_is_chosen_stands_for_itself_alone_and_none_comes_twice(make, most):
    found = make().choose(scene_of(line(np.linspace(-4, 4, 6)), LABELLED), most, [])
    assert len(set(asked(found))) == len(found.picks) == min(most, 6)
    assert [pick.members.tolist() for pick in found.picks] == [
        [pick.representative] for pick in found.picks
    ]


@pytest.mark.parametrize("make", [LeastSure, at_random])
def test_single_images_join_no_open_question(make):
    pending = items_at(line([0.1]), "pending")
    assert make().choose(scene_of(line([0.1, 0.2, 4.0]), LABELLED), 2, pending).joined == {}


def test_a_random_choice_is_uniform_and_blind_to_scores():
    """Each of 6 images is one of the 2 chosen in a third of 2,000 draws, and as often first."""
    choice = at_random()
    scene = scene_of(line([-4.0, -0.1, 0.0, 0.1, 2.0, 4.0]), LABELLED)
    draws = 2000
    chosen = np.array([asked(choice.choose(scene, 2, [])) for _ in range(draws)])
    assert np.bincount(chosen.ravel(), minlength=6) / draws == pytest.approx(
        np.full(6, 1 / 3), abs=5 * np.sqrt(2 / 9 / draws)
    )
    assert np.bincount(chosen[:, 0], minlength=6) / draws == pytest.approx(
        np.full(6, 1 / 6), abs=5 * np.sqrt(5 / 36 / draws)
    )


def test_the_same_seed_draws_the_same_and_another_seed_other_images():
    scene = scene_of(line(np.linspace(-1, 1, 50)), LABELLED)
    first, second, other = (asked(at_random(seed).choose(scene, 10, [])) for seed in (3, 3, 4))
    assert first == second != other


def test_chance_goes_on_after_a_restore_as_if_nothing_had_happened():
    scene = scene_of(line(np.linspace(-1, 1, 50)), LABELLED)
    choice = at_random(1)
    other = at_random(9)
    choice.choose(scene, 5, [])
    state = choice.state()
    kept = copy.deepcopy(state)
    expected = asked(choice.choose(scene, 5, []))
    assert state == kept
    other.restore(state)
    assert asked(other.choose(scene, 5, [])) == expected


def test_the_least_sure_need_no_memory():
    LeastSure().restore(LeastSure().state())
    assert LeastSure().state() == {}
