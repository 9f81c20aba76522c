import numpy as np
import pytest

from csim.discover.buffer import Buffer
from csim.discover.discovery import Discovery
from csim.discover.purify import AdaptiveDbscan, Dbscan
from csim.discover.representative import Medoid, RandomMember


class Shades:
    """An encoder that sees only how bright the left and the right half of an image are."""

    def embed(self, images):
        half = images.shape[2] // 2
        return np.stack([images[:, :, :half].mean((1, 2)), images[:, :, half:].mean((1, 2))], axis=1) / 255


class Failing:
    def embed(self, images):
        raise RuntimeError("out of memory")


class Unsteady:
    """An encoder whose vectors cannot be grouped."""

    def embed(self, images):
        return np.full((len(images), 2), np.nan)


def make_discovery(clustering=None, representative=None, size=100):
    return Discovery(Buffer(size), clustering or Dbscan(eps=0.1, min_points=2), representative or Medoid())


def fill(discovery, make_item, shades):
    items = []
    for position, shade in enumerate(shades, start=1):
        item = make_item(str(position), position, np.full((8, 8), shade, np.uint8))
        discovery.add(item)
        items.append(item)
    return items


DARK_AND_LIGHT = [10, 200, 12, 210, 14, 205, 100]


def test_purifying_empties_the_buffer_into_groups(make_item):
    discovery = make_discovery()
    items = fill(discovery, make_item, DARK_AND_LIGHT)
    assert len(discovery) == 7
    groups = discovery.purify(Shades())
    assert len(discovery) == 0
    assert "1" not in discovery
    assert {tuple(item.id for item in group.members) for group in groups} == {("1", "3", "5"), ("2", "4", "6"), ("7",)}
    assert sorted((item for group in groups for item in group.members), key=lambda item: item.position) == items


@pytest.mark.parametrize("clustering", [Dbscan(eps=0.1, min_points=3), AdaptiveDbscan(core_share=0.5, min_points=3)])
@pytest.mark.parametrize("seed", range(3))
def test_every_candidate_is_in_exactly_one_group_with_a_member_to_stand_for_it(make_item, clustering, seed):
    rng = np.random.default_rng(seed)
    discovery = make_discovery(clustering, RandomMember(rng))
    items = fill(discovery, make_item, rng.integers(0, 256, 40))
    groups = discovery.purify(Shades())
    assert sorted(item.id for group in groups for item in group.members) == sorted(item.id for item in items)
    for group in groups:
        assert group.representative in group.members
        assert group.vector == pytest.approx(Shades().embed(group.representative.image[None])[0])


def test_the_most_central_member_stands_for_a_group(make_item):
    discovery = make_discovery(Dbscan(eps=1.0, min_points=1))
    fill(discovery, make_item, [10, 12, 60])
    (group,) = discovery.purify(Shades())
    assert group.representative.id == "2"


def test_nothing_waits_nothing_is_grouped():
    assert make_discovery().purify(Failing()) == []


@pytest.mark.parametrize("encoder", [Failing(), Unsteady()])
def test_an_error_leaves_the_candidates_where_they_are(make_item, encoder):
    discovery = make_discovery()
    items = fill(discovery, make_item, DARK_AND_LIGHT)
    with pytest.raises((RuntimeError, ValueError)):
        discovery.purify(encoder)
    assert len(discovery) == 7
    assert sorted(item.id for group in discovery.purify(Shades()) for item in group.members) == [i.id for i in items]


def test_it_is_due_when_its_buffer_is(make_item):
    discovery = make_discovery(size=2)
    fill(discovery, make_item, [1])
    assert not discovery.is_due(1)
    fill(discovery, make_item, [1, 2])
    assert discovery.is_due(2)


def test_a_group_is_split_into_the_parts_that_are_named(make_item):
    discovery = make_discovery()
    items = fill(make_discovery(), make_item, DARK_AND_LIGHT)
    groups = discovery.split(items, [("7", "2"), ("1", "3", "5"), ("4", "6")], Shades())
    assert [tuple(item.id for item in group.members) for group in groups] == [("7", "2"), ("1", "3", "5"), ("4", "6")]
    assert groups[1].representative.id == "3"
    assert groups[1].vector == pytest.approx(Shades().embed(items[2].image[None])[0])


def test_a_group_without_named_parts_is_halved(make_item):
    items = fill(make_discovery(), make_item, [10, 200, 12, 210, 14])
    groups = make_discovery().split(items, (), Shades())
    assert {tuple(item.id for item in group.members) for group in groups} == {("1", "3", "5"), ("2", "4")}


def test_splitting_leaves_the_buffer_alone(make_item):
    discovery = make_discovery()
    items = fill(discovery, make_item, [10, 200, 12])
    discovery.split(items, (), Shades())
    assert len(discovery) == 3


def test_candidates_and_chance_survive_a_restore(make_item):
    one, other = (
        make_discovery(representative=RandomMember(np.random.default_rng(seed)), clustering=Dbscan(eps=2, min_points=1))
        for seed in (0, 1)
    )
    fill(one, make_item, range(50))
    one.purify(Shades())
    fill(one, make_item, range(100, 200))
    fill(other, make_item, range(3))
    other.restore(one.state())
    assert len(other) == len(one) == 100
    assert other.purify(Shades()) == one.purify(Shades())
    for discovery in (one, other):
        fill(discovery, make_item, range(50))
    assert other.purify(Shades()) == one.purify(Shades())
