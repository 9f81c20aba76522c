"""How well the paper's network must do with all classes known, from 1,000 images of each."""

import os

import pytest

from csim.bench.datasets.catalogue import load
from csim.bench.vectors.networks import closed_set
from csim.bench.vectors.samples import cut
from csim.errors import InputError
from csim.settings import Settings
from csim.threads import one_thread


def split_of(name):
    """Return a data set's training and official test images; without the files skip, in CI fail."""
    try:
        return cut(load(name), 10_000)
    except InputError as error:
        if os.environ.get("CI") == "true":
            pytest.fail(f"the data sets must be there in CI: {error}")
        pytest.skip(f"needs the data sets: {error}")


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.data
def test_the_official_test_images_of_fashion_mnist_are_recognised():
    train, test = split_of("fashion-mnist")
    assert len(test.names) == 10_000
    with one_thread():
        assert closed_set(train, test, Settings.paper()) >= 86
