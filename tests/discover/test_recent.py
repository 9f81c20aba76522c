import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from csim.discover.recent import Recent
from csim.errors import SettingsError
from csim.records import Decision, Question


def accepted(class_id):
    return Decision(class_id, 0.9, is_accepted=True)


REJECTED = Decision(4, 0.2, is_accepted=False)


def fill(recent, make_item, classes, start=1):
    """Show one image after another, given the class or, for None, rejected; return the images."""
    items = [make_item(str(position), position) for position in range(start, start + len(classes))]
    for item, class_id in zip(items, classes, strict=True):
        recent.add(item, REJECTED if class_id is None else accepted(class_id))
    return items


def ids(items):
    return [item.id for item in items]


def given_by_id(recent, position=0):
    return {item.id: class_id for item, class_id in recent.given(position)}


def question_about(representative, *others):
    return Question(1, 4, representative, (representative, *others))


def test_accepted_and_rejected_images_are_kept_alike_oldest_first(make_item):
    recent = Recent(10, 5)
    items = fill(recent, make_item, [3, None, 7])
    assert recent.items() == items
    assert len(recent) == 3
    assert "2" in recent
    assert "4" not in recent
    assert given_by_id(recent) == {"1": 3, "2": None, "3": 7}


def test_only_images_without_a_class_wait(make_item):
    recent = Recent(10, 5)
    fill(recent, make_item, [3, None, 7, None])
    assert ids(recent.waiting()) == ["2", "4"]
    assert len(recent) == 4


@pytest.mark.parametrize("every", [1, 3, 10])
def test_it_is_time_to_look_every_so_many_arrivals(make_item, every):
    recent, looks = Recent(10, every), []
    for position in range(1, 31):
        fill(recent, make_item, [3], start=position)
        if recent.is_due(position):
            looks.append(position)
            recent.looked(position)
    assert looks == list(range(every, 31, every))


def test_a_look_that_came_late_counts_from_when_it_came():
    recent = Recent(100, 10)
    recent.looked(14)
    assert [position for position in range(14, 40) if recent.is_due(position)] == list(
        range(24, 40)
    )


def test_only_the_image_that_is_asked_about_waits_for_its_answer_elsewhere(make_item):
    recent = Recent(10, 5)
    first, second, third, fourth = fill(recent, make_item, [3, None, None, 7])
    recent.asked(question_about(second, third))
    recent.asked(question_about(fourth))
    assert recent.items() == [first, third]


def test_a_question_about_an_image_that_has_left_is_passed_over(make_item):
    recent = Recent(10, 5)
    items = fill(recent, make_item, [3])
    recent.asked(question_about(make_item("gone", 0)))
    assert recent.items() == items


@settings(max_examples=40)
@given(
    steps=st.lists(
        st.tuples(st.integers(1, 4), st.sampled_from([None, 3, 7]), st.booleans()), max_size=15
    ),
    size=st.integers(1, 12),
)
def test_images_leave_after_so_many_arrivals_and_those_without_a_class_are_told_of(
    make_item, steps, size
):
    recent, here, position = Recent(size, 1), {}, 0
    for step, class_id, is_look in steps:
        position += step
        fill(recent, make_item, [class_id], start=position)
        here[position] = class_id
        if is_look:
            old = [at for at in here if position - at >= size]
            assert ids(recent.leaving(position)) == [str(at) for at in old if here[at] is None]
            here = {at: given for at, given in here.items() if at not in old}
        assert given_by_id(recent, 0) == {str(at): given for at, given in here.items()}


def test_the_class_of_an_image_may_be_revised_for_so_many_arrivals_even_if_the_next_look_is_late(
    make_item,
):
    recent = Recent(10, 5)
    fill(recent, make_item, [3, None, 7])
    assert list(given_by_id(recent, 11)) == ["1", "2", "3"]
    assert list(given_by_id(recent, 12)) == ["2", "3"]
    assert given_by_id(recent, 14) == {}
    assert len(recent) == 3


def test_memory_does_not_grow_with_the_stream(make_item):
    recent, most = Recent(40, 10), 0
    for position in range(1, 1000):
        fill(recent, make_item, [position % 3 or None], start=position)
        most = max(most, len(recent))
        if recent.is_due(position):
            recent.looked(position)
            recent.leaving(position)
    assert most <= 50


def test_an_image_can_be_given_another_class_or_none(make_item):
    recent = Recent(10, 5)
    fill(recent, make_item, [3, None, 7])
    for item_id, class_id in [("1", None), ("2", 9), ("3", 0), ("stranger", 5)]:
        recent.give(item_id, class_id)
    assert given_by_id(recent) == {"1": None, "2": 9, "3": 0}
    assert ids(recent.waiting()) == ["1"]


def test_what_it_returns_is_the_callers_own(make_item):
    recent = Recent(10, 5)
    fill(recent, make_item, [3, None])
    for returned in (recent.items(), recent.waiting(), recent.given(0)):
        returned.clear()
    assert len(recent) == 2


@pytest.mark.parametrize("count", [0, 1, 6])
def test_images_classes_and_looks_survive_a_restore(make_item, count):
    recent, other = Recent(10, 5), Recent(10, 5)
    fill(recent, make_item, [3, None, 7, 0, None, 3][:count])
    recent.looked(4)
    fill(other, make_item, [1, 1], start=90)
    state = recent.state()
    json.dumps(
        [state["class_ids"], state["last_look"], state["items"]["ids"], state["items"]["positions"]]
    )
    other.restore(state)
    assert other.given(0) == recent.given(0)
    assert all(
        (a.image == b.image).all() for a, b in zip(other.items(), recent.items(), strict=True)
    )
    assert [other.is_due(position) for position in range(20)] == [
        recent.is_due(position) for position in range(20)
    ]


def test_a_state_does_not_change_with_the_images(make_item):
    recent = Recent(10, 5)
    (item,) = fill(recent, make_item, [3])
    state = recent.state()
    recent.give("1", 7)
    recent.looked(9)
    fill(recent, make_item, [3], start=2)
    item.image[:] = 99
    assert (state["class_ids"], state["last_look"], state["items"]["ids"]) == ([3], 0, ["1"])
    assert (state["items"]["images"] == 1).all()


@pytest.mark.parametrize(("size", "every"), [(0, 0), (10, 0), (10, 11), (5, -1)])
def test_looks_rarer_than_images_are_kept_are_refused(size, every):
    with pytest.raises(SettingsError, match=f"got {every}"):
        Recent(size, every)
