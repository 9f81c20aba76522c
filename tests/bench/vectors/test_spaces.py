"""Views of images: what is learned from, what is looked at, and how each space sees it."""

from dataclasses import replace

import numpy as np
import pytest

from csim.bench.baselines.learners.catalogue import LEARNERS
from csim.bench.case import Case
from csim.bench.datasets import DataSet
from csim.bench.vectors.spaces import (
    EVERY_SPACE,
    PIXELS,
    SPACES,
    TITLES,
    Sample,
    embed,
    of_classes,
    of_stream,
)
from csim.errors import InputError

pytestmark = pytest.mark.slow

CLASSES = ["crane", "gull", "heron", "ibis", "stork"]


def birds(per_class=40):
    """Return images whose first pixel is the image's number and whose second is its class."""
    names = [CLASSES[place % len(CLASSES)] for place in range(per_class * len(CLASSES))]
    images = np.random.default_rng(0).integers(0, 60, (len(names), 8, 8), np.uint8)
    images += (np.arange(len(names)) % len(CLASSES) * 40).astype(np.uint8)[:, None, None]
    images[:, 0, 0] = np.arange(len(names))
    return DataSet("birds", images, names)


def numbers(images):
    return images[:, 0, 0].tolist()


@pytest.fixture
def view():
    return of_stream(Case("default", "birds", seed=2, known_share=0.4), birds(), per_class=12)


def test_a_view_of_a_stream_learns_from_its_warm_up(view):
    stream = Case("least-sure", "birds", seed=2, known_share=0.4).stream(birds())
    assert np.array_equal(view.warm_up, stream.warm_up)
    assert view.warm_up_names == stream.warm_up_names
    assert view.known == sorted(set(stream.warm_up_names))


def test_what_is_looked_at_comes_from_the_stream_and_was_not_learned_from(view):
    stream = Case("default", "birds", seed=2, known_share=0.4).stream(birds())
    assert set(numbers(view.images)) <= set(numbers(stream.images))
    assert not set(numbers(view.images)) & set(numbers(view.warm_up))
    assert len(set(numbers(view.images))) == len(view.images)


def test_all_classes_are_looked_at_alike_and_keep_their_names(view):
    assert view.classes == CLASSES
    assert [view.names.count(name) for name in CLASSES] == [12] * 5
    truth = birds().names
    assert view.names == [truth[number] for number in numbers(view.images)]
    assert view.columns.tolist() == [CLASSES.index(name) for name in view.names]


def test_known_images_are_those_of_the_classes_learned(view):
    assert len(view.known) == 2
    assert view.is_known.tolist() == [name in view.known for name in view.names]


def test_a_class_with_fewer_images_is_looked_at_whole():
    view = of_stream(Case("default", "birds", known_share=0.4), birds(per_class=6), per_class=100)
    counts = {name: view.names.count(name) for name in CLASSES}
    assert counts == {name: 3 if name in view.known else 6 for name in CLASSES}


def test_another_seed_draws_other_images():
    one, same, other = (
        of_stream(Case("default", "birds", seed=seed, known_share=0.4), birds(), per_class=5)
        for seed in (1, 1, 2)
    )
    assert numbers(one.images) == numbers(same.images)
    assert numbers(one.images) != numbers(other.images)


def test_known_classes_can_be_chosen():
    view = of_classes(birds(), ["ibis", "crane"], per_class=7, seed=0)
    assert view.known == ["crane", "ibis"]
    assert [view.names.count(name) for name in CLASSES] == [7] * 5
    assert sorted(set(view.warm_up_names)) == ["crane", "ibis"]
    truth = birds().names
    assert view.warm_up_names == [truth[number] for number in numbers(view.warm_up)]
    assert not set(numbers(view.images)) & set(numbers(view.warm_up))


def test_chosen_classes_leave_half_of_a_small_class_to_look_at():
    view = of_classes(birds(per_class=10), ["gull", "stork"], per_class=100, seed=0)
    assert [view.warm_up_names.count(name) for name in ("gull", "stork")] == [5, 5]
    assert [view.names.count(name) for name in CLASSES] == [5] * 5


def test_a_chosen_class_that_is_not_there_is_named():
    with pytest.raises(InputError, match="has no 'dodo'"):
        of_classes(birds(), ["crane", "dodo"], per_class=7, seed=0)


def test_pixels_are_the_grey_values_and_need_no_network(view):
    vectors = embed(view, PIXELS, seed=0)
    assert vectors.shape == (60, 64)
    assert vectors[5, 9] == pytest.approx(view.images[5, 1, 1] / 255)
    assert 0 <= vectors.min() <= vectors.max() <= 1


@pytest.mark.parametrize("space", [space for space in SPACES if space != PIXELS])
def test_vectors_have_unit_length_and_their_seed_counts(view, space):
    vectors, same, other = (embed(view, space, seed=seed) for seed in (0, 0, 1))
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(60), abs=1e-5)
    assert np.array_equal(vectors, same)
    assert not np.allclose(vectors, other)


def test_the_two_networks_differ(view):
    assert not np.allclose(embed(view, "paper", seed=0), embed(view, "default", seed=0))


def test_colour_images_become_pixels_too():
    images = np.arange(4 * 2 * 2 * 3, dtype=np.uint8).reshape(4, 2, 2, 3)
    view = Sample(images, ["a", "a", "b", "b"], images, ["a", "a", "b", "b"])
    assert embed(view, PIXELS, seed=0).shape == (4, 12)


def test_every_space_has_a_title():
    assert list(TITLES) == list(EVERY_SPACE)
    assert len(set(TITLES.values())) == len(EVERY_SPACE)
    assert set(SPACES) < set(EVERY_SPACE)


@pytest.mark.parametrize("space", LEARNERS)
def test_a_learner_learns_from_the_warm_up_alone(view, space):
    vectors = embed(view, space, seed=0)
    assert len(vectors) == len(view.images)
    others = replace(view, images=view.images[::-1], names=view.names[::-1])
    assert np.allclose(embed(others, space, seed=0)[::-1], vectors, atol=1e-4)
