import pytest
from metrics import naive
from metrics.hand_log import LOG
from metrics.random_log import random_log

from csim.errors import InputError
from csim.metrics.known import initial_classes, known_at_arrival
from csim.metrics.labels import class_names
from csim.records import Accepted, ClassesMerged, ClassRemoved, ClassRestored, Rejected, Retrained

NAMES = {0: "cat", 1: "dog", 2: "emu"}


def arrive(position):
    return Rejected(position, str(position), None, 0.1, 1)


def test_the_initial_classes_are_those_of_the_model_before_the_stream():
    assert initial_classes(LOG, class_names(LOG)) == {"cat", "dog"}
    without_warm_up = [Retrained(3, 1, (0, 1))]
    assert initial_classes(without_warm_up, NAMES) == set()
    assert initial_classes([], {}) == set()


def test_a_class_is_known_from_the_model_that_learned_it_on():
    events = [
        arrive(1),
        Retrained(1, 1, (0,)),
        arrive(2),
        Retrained(2, 2, (0, 1)),
        Accepted(3, "3", 0, 0.9, 2),
    ]
    assert known_at_arrival(events, NAMES) == {"1": set(), "2": {"cat"}, "3": {"cat", "dog"}}


def test_a_removed_class_is_no_longer_known():
    events = [Retrained(0, 1, (0, 1)), arrive(1), ClassRemoved(1, 1), arrive(2)]
    assert known_at_arrival(events, NAMES) == {"1": {"cat", "dog"}, "2": {"cat"}}


def test_a_restored_class_is_known_again_unless_a_new_model_came_without_it():
    events = [Retrained(0, 1, (0, 1)), ClassRemoved(1, 1), arrive(1)]
    restored = ClassRestored(1, 1, "dog", ())
    assert known_at_arrival([*events, restored, arrive(2)], NAMES)["2"] == {"cat", "dog"}
    later = [*events, Retrained(1, 2, (0,)), restored, arrive(2)]
    assert known_at_arrival(later, NAMES)["2"] == {"cat"}


def test_the_target_of_a_merge_is_known_immediately():
    events = [
        Retrained(0, 1, (0, 1)),
        ClassesMerged(0, 1, 2),
        arrive(1),
        ClassRemoved(1, 2),
        arrive(2),
    ]
    names = {0: "cat", 1: "emu", 2: "emu"}
    assert known_at_arrival(events, names) == {"1": {"cat", "emu"}, "2": {"cat"}}


def test_a_merge_of_classes_not_learned_teaches_the_model_nothing():
    events = [Retrained(0, 1, (0,)), ClassesMerged(0, 1, 2), arrive(1)]
    assert known_at_arrival(events, NAMES) == {"1": {"cat"}}


@pytest.mark.parametrize("seed", range(25))
def test_what_is_known_in_a_random_log_is_what_is_read_naively(seed):
    events, truth = random_log(seed)
    names = class_names(events)
    assert known_at_arrival(events, names) == {
        item_id: naive.known_to(events, item_id) for item_id in truth
    }
    assert initial_classes(events, names) == naive.initially_known(events)


def test_a_model_with_a_class_that_the_log_does_not_name_is_refused():
    with pytest.raises(InputError, match="class 9 was not"):
        known_at_arrival([Retrained(0, 1, (0, 9))], NAMES)
