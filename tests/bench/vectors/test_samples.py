"""Which images train and which judge: never the same ones."""

import numpy as np
import pytest

from csim.bench.datasets import DataSet
from csim.bench.vectors.samples import cut, examples, hold_out
from csim.errors import InputError

# Every image is told by its shade.
SHADES = DataSet(
    "shades",
    np.arange(60, dtype=np.uint8)[:, None, None] * np.ones((8, 8), np.uint8),
    list("abc") * 20,
)


def shades(data):
    return data.images[:, 0, 0].tolist()


def test_the_last_images_are_cut_off_with_their_names():
    train, test = cut(SHADES, 9)
    assert shades(train) + shades(test) == list(range(60))
    assert test.names == list("abc") * 3


def test_held_out_images_are_as_many_of_each_class_and_not_among_the_others():
    rest, held = hold_out(SHADES, 4, seed=5)
    assert sorted(shades(rest) + shades(held)) == list(range(60))
    assert sorted(held.names) == sorted("abc" * 4)
    assert all(
        SHADES.names[shade] == name for shade, name in zip(shades(held), held.names, strict=True)
    )


def test_the_same_seed_draws_the_same_and_another_does_not():
    assert shades(hold_out(SHADES, 4, seed=5)[1]) == shades(hold_out(SHADES, 4, seed=5)[1])
    assert shades(hold_out(SHADES, 4, seed=5)[1]) != shades(hold_out(SHADES, 4, seed=6)[1])


def test_examples_are_of_the_wanted_classes_in_their_order():
    images, columns = examples(SHADES, ["c", "a"], 7, seed=0)
    assert columns.tolist() == [0] * 7 + [1] * 7
    assert [SHADES.names[shade] for shade in images[:, 0, 0]] == ["c"] * 7 + ["a"] * 7
    assert len(set(images[:, 0, 0].tolist())) == 14


def test_too_few_images_of_a_class_are_refused_by_name():
    with pytest.raises(
        InputError, match=r"shades must have 21 images of every class; 'a' has fewer"
    ):
        examples(SHADES, ["a", "b"], 21, seed=0)
