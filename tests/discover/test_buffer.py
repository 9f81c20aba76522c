import numpy as np
import pytest

from csim.discover.buffer import Buffer
from csim.errors import SettingsError
from csim.records import Asked, Decision, Question, Revised

REJECTED = Decision(0, 0.2, is_accepted=False)
ACCEPTED = Decision(0, 0.9, is_accepted=True)


def test_it_is_time_when_the_buffer_is_full(make_item):
    buffer = Buffer(size=3)
    for position in (1, 2):
        buffer.add([make_item(str(position), position)], [REJECTED])
        assert not buffer.is_due(position)
    buffer.add([make_item("3", 3)], [REJECTED])
    assert buffer.is_due(3)
    assert len(buffer) == 3


def test_a_buffer_that_is_not_full_waits_for_ever(make_item):
    buffer = Buffer(size=2)
    assert not buffer.is_due(10**9)
    buffer.add([make_item("a", 1)], [REJECTED])
    assert not buffer.is_due(10**9)


def test_candidates_come_back_oldest_first_and_are_found_by_id(make_item):
    buffer = Buffer(size=5)
    items = [make_item(name, place) for place, name in enumerate("dab")]
    for item in items:
        buffer.add([item], [REJECTED])
    assert buffer.items() == items
    assert "a" in buffer.ids
    assert "c" not in buffer.ids


def test_the_list_of_candidates_is_the_callers_own(make_item):
    buffer = Buffer(size=5)
    buffer.add([make_item("a", 1)], [REJECTED])
    buffer.items().clear()
    assert len(buffer) == 1


def test_an_accepted_image_does_not_wait(make_item):
    buffer = Buffer(size=2)
    buffer.add([make_item("known", 1)], [ACCEPTED])
    assert len(buffer) == 0
    assert "known" not in buffer.ids
    buffer.add([make_item("strange", 2)], [REJECTED])
    buffer.add([make_item("known too", 3)], [ACCEPTED])
    assert not buffer.is_due(3)
    assert [item.id for item in buffer.items()] == ["strange"]


def test_a_rejected_image_waits_whatever_came_closest(make_item):
    buffer = Buffer(size=5)
    buffer.add([make_item("a", 1)], [Decision(None, 0.0, is_accepted=False)])
    buffer.add([make_item("b", 2)], [Decision(3, 1.0, is_accepted=False)])
    assert len(buffer) == 2


def fill(buffer, make_item, names="dabc"):
    items = [make_item(name, place) for place, name in enumerate(names)]
    for item in items:
        buffer.add([item], [REJECTED])
    return items


def test_all_images_of_a_group_wait_for_its_answer_elsewhere(make_item):
    buffer = Buffer(size=5)
    first, second, third, fourth = fill(buffer, make_item)
    buffer.apply(Asked(9, Question(1, 9, second, (second, fourth))))
    assert buffer.items() == [first, third]
    assert "a" not in buffer.ids
    buffer.apply(Asked(9, Question(2, 9, third, (third, second))))  # one has left already
    assert buffer.items() == [first]


def test_what_is_not_asked_about_leaves_and_the_buffer_is_empty(make_item):
    buffer = Buffer(size=2)
    items = fill(buffer, make_item)
    assert buffer.remove_old(9) == items
    assert len(buffer) == 0
    assert "a" not in buffer.ids
    assert not buffer.is_due(10**9)
    assert buffer.remove_old(9) == []


def test_a_candidate_has_no_class_and_leaves_when_it_gets_one(make_item):
    buffer = Buffer(size=5)
    items = fill(buffer, make_item)
    assert dict(buffer.classes) == {"d": None, "a": None, "b": None, "c": None}
    assert buffer.waiting() == items
    buffer.apply(Revised(9, "a", None, 3))
    buffer.apply(Revised(9, "stranger", None, 3))
    assert [item.id for item in buffer.items()] == ["d", "b", "c"]


@pytest.mark.parametrize("count", [0, 1, 4])
def test_state_survives_a_restore(make_item, count):
    buffer = Buffer(size=3)
    other = Buffer(size=3)
    other.add([make_item("old", 1)], [REJECTED])
    for position in range(count):
        buffer.add([make_item(f"item {position}", position + 3)], [REJECTED])
    other.restore(buffer.state())
    assert other.items() == buffer.items()
    assert all(
        (a.image == b.image).all() for a, b in zip(other.items(), buffer.items(), strict=True)
    )
    assert [other.is_due(now) for now in range(20)] == [buffer.is_due(now) for now in range(20)]


def test_a_state_does_not_change_with_the_buffer(make_item):
    buffer = Buffer(size=5)
    buffer.add([make_item("a", 1, np.full((8, 8), 9, np.uint8))], [REJECTED])
    state = buffer.state()
    buffer.items()[0].image[:] = 0
    buffer.add([make_item("b", 2)], [REJECTED])
    assert state["ids"] == ["a"]
    assert (state["images"] == 9).all()


@pytest.mark.parametrize("size", [0, -1])
def test_a_buffer_for_nothing_is_refused(size):
    with pytest.raises(SettingsError, match=f"got {size}"):
        Buffer(size)
