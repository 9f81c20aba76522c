import numpy as np

from csim.records import Item
from csim.store.aside import Aside


def images(*numbers):
    return [
        (Item(f"item {number}", number, np.full((8, 8), number, np.uint8)), number % 2 == 0)
        for number in numbers
    ]


def test_the_images_of_a_class_come_back_once_but_for_those_forgotten():
    aside = Aside()
    aside.keep(4, images(1, 2, 3))
    aside.forget(["item 2", "no such item"])
    assert aside.take(4) == images(1, 3)
    assert aside.take(4) == []


def test_memory_holds_the_last_ten_classes():
    aside = Aside()
    for class_id in range(30):
        aside.keep(class_id, images(class_id))
    assert len(aside.state()["items"]["ids"]) == 10
    assert aside.take(19) == []
    assert aside.take(20) == images(20)


def test_state_survives_a_round_trip():
    aside = Aside()
    aside.keep(1, images(1, 2))
    aside.keep(2, images())
    aside.keep(3, images(5))
    again = Aside()
    again.restore(aside.state())
    assert [again.take(class_id) for class_id in (1, 2, 3)] == [images(1, 2), [], images(5)]
