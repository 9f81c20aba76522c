"""What several tests share. Tests can import the modules in this folder."""

import os
import signal
from collections.abc import Callable

# One thread, set before anything reads it: sums are then added in the same order on every machine,
# and two threads do not wait for each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# Tests of signals start processes, which ignore what the tests ignore. In the background of a shell
# that is Ctrl-C, under `nohup` the end of the terminal.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, lambda number, frame: None)  # the tests themselves go on

import numpy as np
import pytest
from hypothesis import settings
from sklearn.datasets import load_digits

from csim.records import Item

# The same examples in every run; a slow machine is no failure.
settings.register_profile("csim", derandomize=True, deadline=None, database=None)
settings.load_profile("csim")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Start files with a `long` test first, so that no process ends with one alone."""
    long_files = {item.path for item in items if item.get_closest_marker("long")}
    items.sort(key=lambda item: item.path not in long_files)


@pytest.fixture(scope="session")
def make_item() -> Callable[..., Item]:
    """Return a maker of items: by default a flat image whose shade is the position."""

    def make(item_id: str, position: int = 0, image: np.ndarray | None = None) -> Item:
        if image is None:
            image = np.full((8, 8), position % 256, np.uint8)
        return Item(item_id, position, image)

    return make


@pytest.fixture(scope="session")
def some_digits() -> tuple[np.ndarray, np.ndarray]:
    """Return scikit-learn's digits 0 to 4, (901, 8, 8) of bytes, and their labels; read-only."""
    bunch = load_digits(n_class=5)
    images = np.rint(bunch.images * (255 / 16)).astype(np.uint8)
    images.flags.writeable = False
    return images, bunch.target
