import pytest
from metrics import naive
from metrics.hand_log import LOG, TRUTH
from metrics.random_log import asked, random_log

from csim.errors import InputError
from csim.metrics.delay import Delay, Milestones, delays, milestones
from csim.records import Accepted, Asked, ClassAdded, Rejected, Retrained


def test_milestones_tell_when_a_class_came_was_asked_about_and_learned():
    assert milestones(LOG, TRUTH) == [Milestones("emu", 3, 5, 6), Milestones("fox", 6, 6, 9)]


def test_delays_count_the_images_of_the_class_from_its_first_on():
    """Emus are 3, 4 and 7, foxes 6, 8 and 9."""
    assert delays(LOG, TRUTH) == [Delay("emu", 2, 2), Delay("fox", 1, 3)]


def test_a_class_that_was_never_asked_about_nor_learned_has_no_such_milestones():
    truth = {"1": "cat", "2": "yak"}
    events = [*LOG[:4], Accepted(2, "2", 0, 0.9, 1)]
    assert milestones(events, truth) == [Milestones("yak", 2, None, None)]
    assert delays(events, truth) == [Delay("yak", None, None)]


def test_the_class_of_the_image_shown_is_the_one_that_is_detected():
    truth = {"1": "yak", "2": "gnu"}
    events = [Rejected(1, "1", None, 0.1, 1), Rejected(2, "2", None, 0.1, 1), asked(2, 1, "1", "2")]
    assert delays(events, truth) == [Delay("yak", 1, None), Delay("gnu", None, None)]


def test_a_class_that_is_learned_by_mistake_before_it_comes_takes_no_image():
    events = [ClassAdded(1, 0, "yak"), Retrained(1, 1, (0,))]
    assert delays(events, {"1": "gnu", "2": "yak"})[1] == Delay("yak", None, 0)


def test_without_a_stream_there_is_no_delay():
    assert delays([], {}) == milestones([], {}) == []


@pytest.mark.parametrize("seed", range(25))
def test_delays_of_a_random_log_are_those_counted_naively(seed):
    events, truth = random_log(seed)
    new = [
        name for name in dict.fromkeys(truth.values()) if name not in naive.initially_known(events)
    ]
    expected = []
    for name in new:
        about = [
            event.position
            for event in events
            if isinstance(event, Asked) and truth[event.question.representative.id] == name
        ]
        able = [
            event.position
            for event in events
            if isinstance(event, Retrained)
            and name in {naive.name_of(events, class_id) for class_id in event.class_ids}
        ]
        arrivals = [index for index, true in enumerate(truth.values(), start=1) if true == name]
        counts = [
            sum(position <= min(when) for position in arrivals) if when else None
            for when in (about, able)
        ]
        expected.append(Delay(name, *counts))
    assert delays(events, truth) == expected
    assert [(m.name, m.appeared) for m in milestones(events, truth)] == [
        (name, 1 + list(truth.values()).index(name)) for name in new
    ]


def test_a_question_about_an_image_that_the_truth_lacks_is_refused():
    with pytest.raises(
        InputError, match="the truth must name every image of the log; '77' is not among its 9"
    ):
        milestones([asked(5, 1, "77")], TRUTH)
    with pytest.raises(InputError, match="'77'"):
        delays([asked(5, 1, "77")], TRUTH)
