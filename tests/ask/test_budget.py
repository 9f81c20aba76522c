import json
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from csim.ask.budget import Budget
from csim.errors import SettingsError

STEPS = st.lists(
    st.tuples(st.integers(0, 400), st.integers(0, 60)), max_size=20
)  # images passed, questions wished


def most_by_counting(share: Fraction, position: int) -> int:
    """Count up for as long as one more question keeps asked ≤ share · position."""
    asked = 0
    while asked + 1 <= share * position:
        asked += 1
    return asked


@given(per_mille=st.integers(0, 999), steps=STEPS)
def test_the_share_is_kept_at_every_moment_and_never_granted_short(per_mille, steps):
    budget = Budget(per_mille / 1000)
    share = Fraction(per_mille, 1000)
    position = 0
    asked = 0
    for passed, wished in steps:
        position += passed
        assert budget.left(position) == most_by_counting(share, position) - asked
        granted = min(wished, budget.left(position))
        budget.spend(granted)
        asked += granted
        assert asked <= share * position


@given(
    share=st.floats(0, 1, exclude_max=True),
    positions=st.lists(st.integers(0, 10**7), max_size=20).map(sorted),
)
def test_whatever_is_granted_and_spent_at_once_stays_within_the_share(share, positions):
    budget = Budget(share)
    asked = 0
    for position in positions:
        left = budget.left(position)
        budget.spend(left)
        asked += left
        assert asked <= share * position + 1e-8
        assert asked > share * position - 1 - 1e-8


@pytest.mark.parametrize(
    ("share", "position", "most"), [(0.29, 100, 29), (0.07, 100, 7), (0.1, 30, 3), (0.57, 100, 57)]
)
def test_a_share_that_binary_numbers_miss_by_a_hair_is_granted_in_full(share, position, most):
    assert Budget(share).left(position) == most
    assert Budget(share).left(position - 1) == most - 1


@given(positions=st.lists(st.integers(0, 10**9)))
def test_a_share_of_nothing_asks_nothing(positions):
    assert {Budget(0).left(position) for position in positions} <= {0}


@given(position=st.integers(0, 10**9), spent=st.integers(0, 10**9))
def test_a_share_of_one_sets_no_limit(position, spent):
    budget = Budget(1)
    budget.spend(spent)
    assert budget.left(position) > 10**12


def test_nothing_is_granted_before_the_stream_begins():
    assert Budget(0.5).left(0) == 0


def test_what_is_not_asked_is_not_lost():
    budget = Budget(0.1)
    budget.spend(budget.left(50) - 2)
    assert budget.left(50) == 2
    assert budget.left(60) == 3


def test_questions_beyond_the_budget_must_be_made_up_for():
    """A person may split a group at any time; later questions then wait for the stream."""
    budget = Budget(0.1)
    budget.spend(4)
    assert budget.left(20) == 0
    assert next(position for position in range(100) if budget.left(position) > 0) == 50


def test_looking_spends_nothing():
    budget = Budget(0.5)
    assert [budget.left(10) for _ in range(3)] == [5, 5, 5]


@given(
    per_mille=st.integers(0, 1000),
    spent=st.lists(st.integers(0, 30), max_size=5),
    position=st.integers(0, 1000),
)
def test_state_survives_a_restore(per_mille, spent, position):
    budget = Budget(per_mille / 1000)
    other = Budget(per_mille / 1000)
    other.spend(17)  # a restore forgets what was there
    for questions in spent:
        budget.spend(questions)
    other.restore(json.loads(json.dumps(budget.state())))
    assert other.left(position) == budget.left(position)
    other.spend(1)
    assert budget.state() == {"spent": sum(spent)}


@pytest.mark.parametrize("share", [-0.01, 1.01, 2, float("nan"), float("inf")])
def test_a_share_outside_its_range_is_refused(share):
    with pytest.raises(SettingsError, match="share must lie between 0 and 1"):
        Budget(share)
