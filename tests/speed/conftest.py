"""What the speed tests share: the data sets, and one torch thread so that both sides of a ratio have the same."""

import os

import pytest

from csim.bench.datasets.catalogue import load
from csim.bench.vectors.samples import cut
from csim.errors import InputError
from csim.threads import one_thread


@pytest.fixture(scope="session")
def split_of():
    """Return a loader of a data set's training and official test images; without the files tests skip, in CI fail."""

    def split(name):
        try:
            return cut(load(name), 10_000)
        except InputError as error:
            if os.environ.get("CI") == "true":
                pytest.fail(f"the data sets must be there in CI: {error}")
            pytest.skip(f"needs the data sets: {error}")

    return split


@pytest.fixture(autouse=True)
def _one_thread():
    with one_thread():
        yield
