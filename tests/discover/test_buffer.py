import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from csim.discover.buffer import Buffer
from csim.errors import SettingsError
from csim.records import Decision

REJECTED = Decision(0, 0.2, is_accepted=False)
ACCEPTED = Decision(0, 0.9, is_accepted=True)


def test_it_is_time_when_the_buffer_is_full(make_item):
    buffer = Buffer(size=3)
    for position in (1, 2):
        buffer.add(make_item(str(position), position), REJECTED)
        assert not buffer.is_due(position)
    buffer.add(make_item("3", 3), REJECTED)
    assert buffer.is_due(3)
    assert len(buffer) == 3


def test_it_is_time_when_the_oldest_candidate_has_waited_long_enough(make_item):
    buffer = Buffer(size=100, patience=10)
    buffer.add(make_item("a", 5), REJECTED)
    buffer.add(make_item("b", 14), REJECTED)
    assert [position for position in range(5, 30) if buffer.is_due(position)] == list(range(15, 30))


def test_without_patience_it_waits_for_ever(make_item):
    buffer = Buffer(size=2, patience=0)
    buffer.add(make_item("a", 1), REJECTED)
    assert not buffer.is_due(10**9)


def test_an_empty_buffer_is_never_due(make_item):
    buffer = Buffer(size=1, patience=1)
    assert not buffer.is_due(10**9)
    buffer.add(make_item("a", 1), REJECTED)
    buffer.clear()
    assert not buffer.is_due(10**9)
    assert len(buffer) == 0
    assert "a" not in buffer


@given(
    positions=st.lists(st.integers(1, 60), min_size=1, max_size=12, unique=True).map(sorted),
    size=st.integers(1, 12),
    patience=st.integers(0, 40),
    later=st.integers(0, 60),
)
def test_it_is_due_exactly_when_full_or_old(make_item, positions, size, patience, later):
    buffer = Buffer(size, patience)
    for position in positions:
        buffer.add(make_item(str(position), position), REJECTED)
    now = positions[-1] + later
    ages = [now - position for position in positions]
    assert buffer.is_due(now) == (len(positions) >= size or (patience > 0 and max(ages) >= patience))


def test_candidates_come_back_oldest_first_and_are_found_by_id(make_item):
    buffer = Buffer(size=5)
    items = [make_item(name, place) for place, name in enumerate("dab")]
    for item in items:
        buffer.add(item, REJECTED)
    assert buffer.items() == items
    assert "a" in buffer
    assert "c" not in buffer


def test_the_list_of_candidates_is_the_callers_own(make_item):
    buffer = Buffer(size=5)
    buffer.add(make_item("a", 1), REJECTED)
    buffer.items().clear()
    assert len(buffer) == 1


def test_an_accepted_image_does_not_wait(make_item):
    buffer = Buffer(size=2)
    buffer.add(make_item("known", 1), ACCEPTED)
    assert len(buffer) == 0
    assert "known" not in buffer
    buffer.add(make_item("strange", 2), REJECTED)
    buffer.add(make_item("known too", 3), ACCEPTED)
    assert not buffer.is_due(3)
    assert [item.id for item in buffer.items()] == ["strange"]


def test_a_rejected_image_waits_whatever_came_closest(make_item):
    buffer = Buffer(size=5)
    buffer.add(make_item("a", 1), Decision(None, 0.0, is_accepted=False))
    buffer.add(make_item("b", 2), Decision(3, 1.0, is_accepted=False))
    assert len(buffer) == 2


@pytest.mark.parametrize("most", [0, 1, 3, 100])
def test_all_candidates_are_chosen_however_few_the_questions(make_item, most):
    buffer = Buffer(size=5)
    items = [make_item(name, place) for place, name in enumerate("dab")]
    for item in items:
        buffer.add(item, REJECTED)
    assert buffer.choose(most) == items
    assert buffer.items() == items
    buffer.clear()
    assert buffer.choose(most) == []


@pytest.mark.parametrize("count", [0, 1, 4])
def test_state_survives_a_restore(make_item, count):
    buffer, other = Buffer(size=5, patience=7), Buffer(size=5, patience=7)
    other.add(make_item("old", 1), REJECTED)
    for position in range(count):
        buffer.add(make_item(f"item {position}", position + 3), REJECTED)
    other.restore(buffer.state())
    assert other.items() == buffer.items()
    assert all((a.image == b.image).all() for a, b in zip(other.items(), buffer.items(), strict=True))
    assert [other.is_due(now) for now in range(20)] == [buffer.is_due(now) for now in range(20)]


def test_a_state_does_not_change_with_the_buffer(make_item):
    buffer = Buffer(size=5)
    buffer.add(make_item("a", 1, np.full((8, 8), 9, np.uint8)), REJECTED)
    state = buffer.state()
    buffer.items()[0].image[:] = 0
    buffer.add(make_item("b", 2), REJECTED)
    assert state["ids"] == ["a"]
    assert (state["images"] == 9).all()


@pytest.mark.parametrize(("size", "patience"), [(0, 0), (-1, 5), (3, -1)])
def test_a_size_or_patience_outside_its_range_is_refused(size, patience):
    with pytest.raises(SettingsError, match=f"got {size} and {patience}"):
        Buffer(size, patience)
