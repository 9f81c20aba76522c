import re
from pathlib import Path

import numpy as np
import pytest

from csim.sources import directory
from csim.sources.arrival import KINDS, Arrival, Decoded, Trouble

IMAGE = np.zeros((9, 9), np.uint8)
PAGE = (Path(__file__).parents[2] / "docs/sources.md").read_text()


def test_an_image_is_known_by_its_id_and_its_pixels_are_not_printed():
    assert Arrival("a", IMAGE) == Arrival("a", b"bytes")
    assert Arrival("a", IMAGE) != Arrival("b", IMAGE)
    assert repr(Arrival("a", IMAGE)) == "Arrival(id='a')"
    assert repr(Decoded("a", IMAGE, b"bytes")) == "Decoded(id='a')"
    assert len({Arrival("a", IMAGE), Arrival("a", IMAGE)}) == 1


@pytest.mark.parametrize(
    "value", [Arrival("a", IMAGE), Decoded("a", IMAGE, b""), Trouble("a", "empty", "no bytes")]
)
def test_what_a_source_gives_cannot_be_changed(value):
    with pytest.raises(AttributeError):
        value.id = "b"


def test_every_kind_of_trouble_is_documented():
    assert set(re.findall(r"^\| `([a-z][a-z-]+)` \|", PAGE, re.MULTILINE)) == set(KINDS)


def test_every_ending_is_documented():
    assert all(suffix in PAGE for suffix in directory.SUFFIXES + directory.UNSUPPORTED_SUFFIXES)
