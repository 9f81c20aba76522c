import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from csim.discover.representative import Medoid, RandomMember


@given(count=st.integers(1, 20), size=st.integers(1, 5), seed=st.integers(0, 999))
def test_the_medoid_has_the_smallest_sum_of_distances(count, size, seed):
    vectors = np.random.default_rng(seed).normal(size=(count, size)).astype(np.float32)
    sums = [
        sum(np.linalg.norm(a.astype(float) - b.astype(float)) for b in vectors) for a in vectors
    ]
    assert sums[Medoid().choose(vectors)] == pytest.approx(min(sums), rel=1e-6)


def test_the_medoid_of_equal_members_is_one_of_them():
    assert Medoid().choose(np.full((3, 2), 0.7, np.float32)) in range(3)


def test_the_medoid_edits_nothing():
    vectors = np.random.default_rng(0).normal(size=(5, 3))
    before = vectors.copy()
    Medoid().choose(vectors)
    assert (vectors == before).all()


def draw(member, times=30):
    return [member.choose(np.zeros((size, 2))) for size in np.arange(times) % 9 + 1]


def test_the_same_seed_makes_the_same_choices_and_another_seed_others():
    first, second, other = (draw(RandomMember(np.random.default_rng(seed))) for seed in (1, 1, 2))
    assert first == second
    assert first != other


def test_every_member_is_chosen_about_equally_often():
    member = RandomMember(np.random.default_rng(0))
    counts = np.bincount([member.choose(np.zeros((4, 2))) for _ in range(4000)], minlength=4)
    assert counts == pytest.approx(np.full(4, 1000), abs=120)  # four standard deviations


def test_choices_go_on_after_a_restore_as_if_nothing_had_happened():
    member = RandomMember(np.random.default_rng(1))
    other = RandomMember(np.random.default_rng(99))
    draw(member)
    state = member.state()
    expected = draw(member)
    other.restore(state)
    assert draw(other) == expected


def test_the_medoid_has_no_state():
    medoid = Medoid()
    medoid.restore(medoid.state())
    assert medoid.state() == {}
