from dataclasses import field

import numpy as np
import pytest

from csim.light_record import light_record
from csim.records import Accepted, Item, Rejected


@light_record
class Named:
    name: str
    picture: object = field(default=None, compare=False, repr=False)


def test_fields_that_do_not_count_are_left_out_of_equality_hash_and_text():
    one, same = Named("a", np.zeros(3)), Named("a")
    assert one == same
    assert hash(one) == hash(same)
    assert repr(one) == "Named(name='a')"
    assert one != Named("b")


def test_it_has_no_room_for_other_attributes():
    with pytest.raises(AttributeError):
        Named("a").other = 1


def test_records_of_different_kinds_differ_though_their_values_are_the_same():
    assert Accepted(1, "a", 2, 0.5, 1) != Rejected(1, "a", 2, 0.5, 1)
    assert Item("a", 1, np.zeros((2, 2))) == Item("a", 1, np.ones((2, 2)))
    assert Item("a", 1, np.zeros((2, 2))) in {Item("a", 1, np.ones((2, 2)))}
