"""How well the paper's network must do with all classes known, from 1,000 images of each."""

import pytest

from csim.bench.vectors.networks import closed_set
from csim.settings import Settings


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.parametrize(("name", "bar"), [("fashion-mnist", 86), ("mnist", 96)])
def test_the_official_test_images_are_recognised(split_of, name, bar):
    train, test = split_of(name)
    assert len(test.names) == 10_000
    assert closed_set(train, test, Settings.paper()) >= bar
