"""What several tests share. The folder stands on the path, so that tests can import modules beside this one."""

import os
from collections.abc import Callable

# One thread, before anything is loaded that counts them: sums are then added in the same order on every machine, and
# two threads do not wait for each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pytest
from hypothesis import settings
from sklearn.datasets import load_digits

from csim.records import Item

# The same examples in every run; a slow machine is no failure.
settings.register_profile("csim", derandomize=True, deadline=None, database=None)
settings.load_profile("csim")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let the longest tests come first, so that no process is left with one of them at the end."""
    items.sort(key=lambda item: "flow" not in item.path.parts)


@pytest.fixture(scope="session")
def make_item() -> Callable[..., Item]:
    """Return a maker of items: by default a flat image whose shade tells the position."""

    def make(item_id: str, position: int = 0, image: np.ndarray | None = None) -> Item:
        return Item(
            item_id, position, np.full((8, 8), position % 256, np.uint8) if image is None else image
        )

    return make


@pytest.fixture(scope="session")
def some_digits() -> tuple[np.ndarray, np.ndarray]:
    """Return scikit-learn's digits 0 to 4, (901, 8, 8) of bytes, and their labels; read-only."""
    bunch = load_digits(n_class=5)
    images = np.rint(bunch.images * (255 / 16)).astype(np.uint8)
    images.flags.writeable = False
    return images, bunch.target
