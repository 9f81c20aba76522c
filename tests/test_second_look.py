"""The second look, with a model drawn by hand: an image is dark, light or in between."""

import numpy as np
import pytest

from csim.decide.head import Head
from csim.decide.thresholds import QuantileThreshold
from csim.discover.buffer import Buffer
from csim.discover.choice import LeastSure
from csim.discover.discovery import Discovery
from csim.discover.recent import Recent
from csim.discover.representative import Medoid
from csim.embed.gallery import Gallery
from csim.records import Asked, Decision, Item, Labelled, Model, Question, Revised, Views
from csim.second_look import SecondLook

DARK = 4
LIGHT = 9
SHADES = {DARK: 0, LIGHT: 255}
RELEASED: list[str] = []  # ids of revised items


def vector_of(shade) -> list[float]:
    angle = shade / 255 * np.pi / 2
    return [np.cos(angle), np.sin(angle)]


class Angle:
    """An encoder: from black to white is a quarter of a circle."""

    def embed(self, images):
        return np.array([vector_of(image[0, 0]) for image in images])

    def view(self, images):
        return Views(self.embed(images), self.embed(images))


def model(*class_ids: int) -> Model:
    weights = 8 * np.array([vector_of(SHADES[class_id]) for class_id in class_ids]).reshape(-1, 2)
    return Model(1, class_ids, (8, 8), {}, weights, np.full(len(class_ids), -4.0), np.zeros((0, 2)))


def head_for(*class_ids: int) -> Head:
    """Accepts a shade up to 50 away from a class's own."""
    head = Head(QuantileThreshold(keep=0.5))
    head.install(model(*class_ids), lambda class_id: class_id)
    edges = [abs(SHADES[class_id] - 50) for class_id in class_ids]
    head.calibrate(
        np.array([vector_of(edge) for edge in edges]).reshape(-1, 2), np.array(class_ids)
    )
    return head


def item(position: int, shade: int) -> Item:
    return Item(f"{shade} at {position}", position, np.full((8, 8), shade, np.uint8))


def seen(pool, *given):
    """Return a discovery that has seen shades in turn, with their classes, None if it waits."""
    discovery = Discovery(pool, LeastSure(), Medoid())
    for position, (shade, class_id) in enumerate(given, start=1):
        discovery.pool.add(
            [item(position, shade)],
            [Decision(class_id, 0.5, is_accepted=class_id is not None)],
        )
    return discovery


def second_look(discovery, *class_ids):
    window = discovery.pool if isinstance(discovery.pool, Recent) else None
    return SecondLook(head_for(*class_ids), discovery, window, RELEASED.extend)


def look(discovery, *class_ids, at=10):
    return second_look(discovery, *class_ids).revise(Gallery(Angle(), 1), at)


def test_an_image_that_waits_has_a_class_as_soon_as_it_is_accepted_and_waits_on_until_then():
    discovery = seen(Recent(100, 10), (20, None), (120, None), (240, None))
    assert look(discovery, DARK) == [Revised(10, "20 at 1", None, DARK)]
    assert look(discovery, DARK, LIGHT, at=12) == [Revised(12, "240 at 3", None, LIGHT)]
    assert discovery.pool.waiting() == [item(2, 120)]


def test_an_image_with_a_class_gets_todays_best_even_if_it_would_be_rejected_today():
    discovery = seen(Recent(100, 10), (20, DARK), (150, DARK), (240, DARK))
    assert look(discovery, DARK) == []
    RELEASED.clear()
    revised = look(discovery, DARK, LIGHT)
    assert RELEASED == ["150 at 2", "240 at 3"]
    assert revised == [Revised(10, "150 at 2", DARK, LIGHT), Revised(10, "240 at 3", DARK, LIGHT)]


def test_looking_again_with_the_same_model_says_nothing_new():
    discovery = seen(Recent(100, 10), (20, None), (240, DARK))
    assert len(look(discovery, DARK, LIGHT)) == 2
    assert look(discovery, DARK, LIGHT) == []


def test_what_is_said_before_is_what_was_said_last():
    discovery = seen(Recent(100, 10), *[(shade, None) for shade in range(0, 256, 15)])
    last: dict[str, int | None] = {entry.id: None for entry in discovery.pool.items()}
    for known in [(DARK,), (DARK, LIGHT), (LIGHT,), (DARK, LIGHT)]:
        for event in look(discovery, *known):
            assert event.before == last[event.item_id]
            assert event.after in known
            last[event.item_id] = event.after
    assert {entry.id: class_id for entry, class_id in discovery.pool.revisable(10)} == last
    assert None in last.values()


def test_an_image_that_is_recent_no_more_is_left_as_it_is():
    discovery = seen(Recent(5, 5), (240, DARK), (250, DARK))
    assert [event.item_id for event in look(discovery, DARK, LIGHT, at=7)] == ["250 at 2"]


def test_an_image_that_a_person_is_asked_about_waits_for_the_person():
    discovery = seen(Recent(100, 10), (240, DARK), (250, DARK))
    asked = item(1, 240)
    discovery.apply([Asked(9, Question(1, 9, asked, (asked, item(2, 250))))])
    assert [event.item_id for event in look(discovery, DARK, LIGHT)] == ["250 at 2"]


def test_what_an_answer_was_spread_to_may_still_be_revised():
    discovery = seen(Recent(100, 10), (240, None))
    discovery.apply([Labelled(8, "240 at 1", DARK, 1, is_told=False)])
    assert look(discovery, DARK, LIGHT) == [Revised(10, "240 at 1", DARK, LIGHT)]


def test_an_image_whose_class_is_gone_gets_the_best_of_the_others():
    discovery = seen(Recent(100, 10), (20, DARK), (240, LIGHT))
    assert look(discovery, LIGHT) == [Revised(10, "20 at 1", DARK, LIGHT)]


def settle_old(discovery, *class_ids, at):
    return second_look(discovery, *class_ids).settle_old(Gallery(Angle(), 1), at)


def test_who_can_wait_no_longer_gets_the_best_class_and_leaves():
    discovery = seen(Recent(5, 5), (120, None), (110, DARK), (140, None), (130, None))
    assert settle_old(discovery, DARK, LIGHT, at=8) == [
        Revised(8, "120 at 1", None, DARK),
        Revised(8, "140 at 3", None, LIGHT),
    ]
    assert [entry.id for entry in discovery.pool.items()] == ["130 at 4"]
    assert settle_old(discovery, DARK, LIGHT, at=8) == []


def settle(discovery, *class_ids):
    return second_look(discovery, *class_ids).settle_all(Gallery(Angle(), 1), 10)


def test_all_that_wait_can_be_given_their_best_class_and_stay_recent():
    discovery = seen(Recent(100, 10), (120, None), (110, DARK), (140, None))
    assert settle(discovery, DARK, LIGHT) == [
        Revised(10, "120 at 1", None, DARK),
        Revised(10, "140 at 3", None, LIGHT),
    ]
    assert discovery.pool.waiting() == []
    assert look(discovery, LIGHT) == [
        Revised(10, "120 at 1", DARK, LIGHT),
        Revised(10, "110 at 2", DARK, LIGHT),
    ]


def test_a_buffer_is_not_looked_at_twice_but_what_waits_there_can_be_settled():
    discovery = seen(Buffer(10), (20, None), (140, None), (240, LIGHT))
    assert look(discovery, DARK, LIGHT) == []
    assert [(event.item_id, event.after) for event in settle(discovery, DARK, LIGHT)] == [
        ("20 at 1", DARK),
        ("140 at 2", LIGHT),
    ]
    assert len(discovery.pool) == 0


@pytest.mark.parametrize("pool", [Recent(100, 10), Buffer(10)])
def test_where_there_is_no_class_there_is_none_to_give(pool):
    discovery = seen(pool, (20, None), (240, LIGHT))
    assert look(discovery) == []
    assert settle(discovery) == []


@pytest.mark.parametrize("pool", [Recent(100, 10), Buffer(10)])
def test_where_no_image_is_there_is_nothing_to_say(pool):
    discovery = seen(pool)
    assert look(discovery, DARK) == []
    assert settle_old(discovery, DARK, at=50) == []
    assert settle(discovery, DARK) == []


def test_every_recent_image_is_decided_about_as_if_it_came_today():
    """Against a plain loop over single images."""
    rng = np.random.default_rng(0)
    given = [(int(rng.integers(256)), [None, DARK, LIGHT][rng.integers(3)]) for _ in range(60)]
    discovery = seen(Recent(100, 10), *given)
    head = head_for(DARK, LIGHT)
    expected = []
    for position, (shade, before) in enumerate(given, start=1):
        (today,) = head.decide(head.scores(np.array([vector_of(shade)])))
        after = today.class_id if before is not None or today.is_accepted else None
        if after != before:
            expected.append(Revised(70, f"{shade} at {position}", before, after))
    assert len(expected) > 20
    assert look(discovery, DARK, LIGHT, at=70) == expected
