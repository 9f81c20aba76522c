import numpy as np
import pytest
from bench.datasets.makers import IMAGES
from sklearn.datasets import load_digits

from csim.bench.datasets import DataSet, thin
from csim.bench.datasets.digits import digits
from csim.errors import InputError


def test_a_data_set_has_a_name_for_every_image():
    with pytest.raises(
        InputError, match="every image must have a class name; birds has 6 images but 1 names"
    ):
        DataSet("birds", IMAGES, ["heron"])


@pytest.mark.parametrize("every", [1, 2, 3, 5, 6, 7, 100])
def test_thinning_keeps_every_nth_image_with_its_name(every):
    data = DataSet("birds", IMAGES, list("abcdef"))
    kept = [index for index in range(6) if index % every == 0]
    thinned = thin(data, every)
    assert thinned.name == "birds"
    assert thinned.names == ["abcdef"[index] for index in kept]
    assert len(thinned.images) == len(kept)
    assert all(
        (image == IMAGES[index]).all() for image, index in zip(thinned.images, kept, strict=True)
    )
    assert len(data.names) == 6


@pytest.mark.parametrize("every", [0, -1, -5])
def test_thinning_by_less_than_one_is_refused(every):
    with pytest.raises(InputError, match=f"every must be 1 .all images. or more, got {every}"):
        thin(DataSet("birds", IMAGES, list("abcdef")), every)


def test_the_digits_are_scikit_learns_spread_over_all_shades():
    data = digits()
    bunch = load_digits()
    assert data.images.shape == (1797, 8, 8)
    assert data.images.dtype == np.uint8
    assert (data.images.min(), data.images.max()) == (0, 255)
    assert [int(name) for name in data.names] == bunch.target.tolist()
    assert np.abs(data.images / 255 - bunch.images / 16).max() < 0.002 + 0.5 / 255
