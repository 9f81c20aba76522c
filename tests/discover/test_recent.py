import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from csim.discover.recent import Recent
from csim.errors import SettingsError
from csim.records import Asked, Decision, Labelled, Question, Revised


def accepted(class_id):
    return Decision(class_id, 0.9, is_accepted=True)


REJECTED = Decision(4, 0.2, is_accepted=False)


def fill(recent, make_item, classes, start=1):
    """Show one image after another, given the class or, for None, rejected; return the images."""
    items = [make_item(str(position), position) for position in range(start, start + len(classes))]
    for item, class_id in zip(items, classes, strict=True):
        recent.add([item], [REJECTED if class_id is None else accepted(class_id)])
    return items


def ids(items):
    return [item.id for item in items]


def given_by_id(recent, position=0):
    return {item.id: class_id for item, class_id in recent.revisable(position)}


def question_about(representative, *others):
    return Asked(4, Question(1, 4, representative, (representative, *others)))


def test_accepted_and_rejected_images_are_kept_alike_oldest_first(make_item):
    recent = Recent(10, 5)
    items = fill(recent, make_item, [3, None, 7])
    assert recent.items() == items
    assert len(recent) == 3
    assert "2" in recent.ids
    assert "4" not in recent.ids
    assert given_by_id(recent) == {"1": 3, "2": None, "3": 7}


def test_only_images_without_a_class_wait(make_item):
    recent = Recent(10, 5)
    fill(recent, make_item, [3, None, 7, None])
    assert ids(recent.waiting()) == ["2", "4"]
    assert len(recent) == 4


@pytest.mark.parametrize(
    ("waiting", "interval"), [(0, 10), (49, 10), (50, 20), (120, 30), (449, 90), (2000, 200)]
)
def test_searches_are_rarer_while_many_questions_wait(waiting, interval):
    recent = Recent(200, 10)
    assert not recent.is_due(interval - 1, waiting)
    assert recent.is_due(interval, waiting)
    assert recent.until_due(4, waiting) == interval - 4


@pytest.mark.parametrize(("size", "every"), [(10, 10), (15, 10), (10, 40), (15, 40)])
def test_the_wait_for_a_search_leaves_no_image_unseen(size, every, make_item):
    recent = Recent(size, every)
    wait = recent.until_due(0, waiting=10**6)
    searched = []
    for position in range(1, 4 * wait + 1):
        fill(recent, make_item, [7], start=position)
        if position % wait == 0:
            searched += ids(recent.items())
            recent.remove_old(position)
    expected = [n for n in range(1, 4 * wait + 1) if n % recent.sample_every == 0]
    assert {*map(int, searched)} == {*expected}
    assert wait >= every


@pytest.mark.parametrize("every", [1, 3, 10])
def test_a_search_is_due_after_a_number_of_arrivals(make_item, every):
    recent = Recent(10, every)
    fill(recent, make_item, [3])  # what is held does not matter
    assert [arrivals for arrivals in range(40) if recent.is_due(arrivals)] == list(range(every, 40))


def test_only_the_image_that_is_asked_about_waits_for_its_answer_elsewhere(make_item):
    recent = Recent(10, 5)
    first, second, third, fourth = fill(recent, make_item, [3, None, None, 7])
    recent.apply(question_about(second, third))
    recent.apply(question_about(fourth))
    assert recent.items() == [first, third]


def test_a_question_about_an_image_that_has_left_is_passed_over(make_item):
    recent = Recent(10, 5)
    items = fill(recent, make_item, [3])
    recent.apply(question_about(make_item("gone", 0)))
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
    recent = Recent(size, 1)
    here = {}
    position = 0
    for step, class_id, is_look in steps:
        position += step
        fill(recent, make_item, [class_id], start=position)
        here[position] = class_id
        if is_look:
            old = [at for at in here if position - at >= size]
            assert ids(recent.remove_old(position)) == [str(at) for at in old if here[at] is None]
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
    recent = Recent(40, 10)
    most = 0
    for position in range(1, 1000):
        fill(recent, make_item, [position % 3 or None], start=position)
        most = max(most, len(recent))
        if position % 10 == 0:
            recent.remove_old(position)
    assert most <= 50


def test_an_image_can_be_given_another_class_or_none(make_item):
    recent = Recent(10, 5)
    fill(recent, make_item, [3, None, 7])
    recent.apply(Revised(9, "1", 3, None))
    recent.apply(Labelled(9, "2", 9, 1, is_told=False))
    recent.apply(Revised(9, "3", 7, 0))
    recent.apply(Revised(9, "stranger", None, 5))
    assert given_by_id(recent) == {"1": None, "2": 9, "3": 0}
    assert dict(recent.classes) == {"1": None, "2": 9, "3": 0}
    assert ids(recent.waiting()) == ["1"]


def test_what_it_returns_is_the_callers_own(make_item):
    recent = Recent(10, 5)
    fill(recent, make_item, [3, None])
    for returned in (recent.items(), recent.waiting(), recent.revisable(0)):
        returned.clear()
    assert len(recent) == 2


@pytest.mark.parametrize("count", [0, 1, 6])
def test_images_and_classes_survive_a_restore(make_item, count):
    recent = Recent(10, 5)
    other = Recent(10, 5)
    fill(recent, make_item, [3, None, 7, 0, None, 3][:count])
    fill(other, make_item, [1, 1], start=90)
    state = recent.state()
    json.dumps([state["class_ids"], state["items"]["ids"], state["items"]["positions"]])
    other.restore(state)
    assert other.revisable(0) == recent.revisable(0)
    assert all(
        (a.image == b.image).all() for a, b in zip(other.items(), recent.items(), strict=True)
    )
    assert dict(other.classes) == dict(recent.classes)


def test_a_state_does_not_change_with_the_images(make_item):
    recent = Recent(10, 5)
    (item,) = fill(recent, make_item, [3])
    state = recent.state()
    recent.apply(Revised(9, "1", 3, 7))
    fill(recent, make_item, [3], start=2)
    item.image[:] = 99
    assert (state["class_ids"], state["items"]["ids"]) == ([3], ["1"])
    assert (state["items"]["images"] == 1).all()


@pytest.mark.parametrize(("size", "every", "name"), [(0, 5, "size"), (10, 0, "every")])
def test_a_window_without_items_or_arrivals_is_refused(size, every, name):
    with pytest.raises(SettingsError, match=f"{name} must be at least 1, got 0"):
        Recent(size, every)


def test_a_sample_searches_every_nth_item_and_holds_the_rejected_ones_between(make_item):
    recent = Recent(10, 30)
    fill(recent, make_item, [3, None, 3, 3, None, None, 7, 7, 7])
    assert ids(recent.items()) == ["3", "6", "9"]
    assert list(recent.classes) == ["2", "3", "5", "6", "9"]
    assert ids(recent.waiting()) == ["2", "5", "6"]
    assert "1" not in recent.ids
    assert given_by_id(recent) == {"2": None, "3": 3, "5": None, "6": None, "9": 7}


@given(
    classes=st.lists(st.sampled_from([None, 3, 7]), max_size=80),
    size=st.integers(1, 9),
    every=st.integers(1, 30),
)
def test_each_rejected_item_leaves_a_sample_once_and_each_sampled_one_is_searched(
    make_item, classes, size, every
):
    recent = Recent(size, every)
    left, searched = [], set()
    for position, class_id in enumerate(classes, start=1):
        fill(recent, make_item, [class_id], start=position)
        if position % every == 0:
            found = recent.items()
            searched |= set(ids(found))
            assert len(found) <= 2 * size
            left += recent.remove_old(position)
    last = len(classes) // every * every
    sample = {str(at) for at in range(1, last + 1) if at % recent.sample_every == 0}
    assert searched >= sample
    left += recent.remove_old(len(classes) + recent.span)
    assert len(recent) == 0
    assert ids(left) == [str(at) for at, given in enumerate(classes, start=1) if given is None]
