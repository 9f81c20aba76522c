import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from csim.discover.buffer import Buffer
from csim.discover.discovery import Discovery
from csim.discover.purify import AdaptiveDbscan, Dbscan, Singles
from csim.discover.representative import Medoid, RandomMember
from csim.discover.window import Window, at_random, least_sure
from csim.records import Decision

REJECTED = Decision(0, 0.2, is_accepted=False)
MANY = 10**6  # more questions than there can be groups


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


def make_singles(choose):
    return Discovery(Window(100, choose, np.random.default_rng(0)), Singles(), Medoid())


def fill(discovery, make_item, shades):
    items = []
    for position, shade in enumerate(shades, start=1):
        item = make_item(str(position), position, np.full((8, 8), shade, np.uint8))
        discovery.add(item, REJECTED)
        items.append(item)
    return items


DARK_AND_LIGHT = [10, 200, 12, 210, 14, 205, 100]


def test_purifying_empties_the_buffer_into_groups(make_item):
    discovery = make_discovery()
    items = fill(discovery, make_item, DARK_AND_LIGHT)
    assert len(discovery) == 7
    groups, left_over = discovery.purify(Shades(), MANY)
    assert left_over == []
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
    groups, _ = discovery.purify(Shades(), MANY)
    assert sorted(item.id for group in groups for item in group.members) == sorted(item.id for item in items)
    for group in groups:
        assert group.representative in group.members
        assert group.vector == pytest.approx(Shades().embed(group.representative.image[None])[0])


def test_the_most_central_member_stands_for_a_group(make_item):
    discovery = make_discovery(Dbscan(eps=1.0, min_points=1))
    fill(discovery, make_item, [10, 12, 60])
    ((group,), _) = discovery.purify(Shades(), MANY)
    assert group.representative.id == "2"


def test_nothing_waits_nothing_is_grouped():
    assert make_discovery().purify(Failing(), MANY) == ([], [])


@pytest.mark.parametrize("encoder", [Failing(), Unsteady()])
def test_an_error_leaves_the_candidates_where_they_are(make_item, encoder):
    discovery = make_discovery()
    items = fill(discovery, make_item, DARK_AND_LIGHT)
    with pytest.raises((RuntimeError, ValueError)):
        discovery.purify(encoder, MANY)
    assert len(discovery) == 7
    groups, _ = discovery.purify(Shades(), MANY)
    assert sorted(item.id for group in groups for item in group.members) == [item.id for item in items]


@pytest.mark.parametrize("choose", [least_sure, at_random])
def test_an_error_leaves_the_window_as_it_was(make_item, choose):
    discovery = make_singles(choose)
    fill(discovery, make_item, DARK_AND_LIGHT)
    with pytest.raises(RuntimeError):
        discovery.purify(Failing(), 2)
    assert len(discovery) == 7
    assert len(discovery.purify(Shades(), 2)[0]) == 2


@given(
    shades=st.lists(st.sampled_from([0, 50, 100, 150, 200, 250]), max_size=20), most=st.integers(0, 8) | st.just(MANY)
)
def test_with_fewer_questions_than_groups_the_largest_are_asked_about(make_item, shades, most):
    discovery = make_discovery(Dbscan(eps=0.05, min_points=2))
    items = fill(discovery, make_item, shades)
    groups, left_over = discovery.purify(Shades(), most)
    alike = {shade: [item for item, own in zip(items, shades, strict=True) if own == shade] for shade in shades}
    sizes = sorted((len(members) for members in alike.values()), reverse=True)
    assert sorted((len(group.members) for group in groups), reverse=True) == sizes[:most]
    assert all(list(group.members) in alike.values() for group in groups)
    asked = [item for group in groups for item in group.members]
    assert sorted(asked + left_over, key=lambda item: item.position) == items
    assert len(discovery) == 0


def test_every_member_of_a_group_that_is_not_asked_about_is_left_over(make_item):
    discovery = make_discovery()
    fill(discovery, make_item, DARK_AND_LIGHT)
    groups, left_over = discovery.purify(Shades(), 1)
    assert [[item.id for item in group.members] for group in groups] == [["1", "3", "5"]]  # of equals the first
    assert sorted(item.id for item in left_over) == ["2", "4", "6", "7"]


def test_no_questions_leave_all_candidates_over(make_item):
    discovery = make_discovery()
    items = fill(discovery, make_item, DARK_AND_LIGHT)
    groups, left_over = discovery.purify(Shades(), 0)
    assert groups == []
    assert sorted(left_over, key=lambda item: item.position) == items


@pytest.mark.parametrize("most", [3, 4, MANY])
def test_enough_questions_leave_the_groups_as_they_were_found(make_item, most):
    one, other = make_discovery(), make_discovery()
    for discovery in (one, other):
        fill(discovery, make_item, [100, 10, 12, 200, 210, 205, 14])
    assert one.purify(Shades(), most) == other.purify(Shades(), MANY)


@pytest.mark.parametrize("most", [0, 1, 3, 20])
@pytest.mark.parametrize("choose", [least_sure, at_random])
def test_a_window_asks_about_single_images_and_leaves_nobody_over(make_item, choose, most):
    discovery = make_singles(choose)
    items = fill(discovery, make_item, DARK_AND_LIGHT)
    groups, left_over = discovery.purify(Shades(), most)
    assert left_over == []
    assert len(groups) == min(most, 7)
    for group in groups:
        assert group.members == (group.representative,)
        assert group.representative in items
        assert group.vector == pytest.approx(Shades().embed(group.representative.image[None])[0])
    assert len(discovery) == 0


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
    one.purify(Shades(), MANY)
    fill(one, make_item, range(100, 200))
    fill(other, make_item, range(3))
    other.restore(one.state())
    assert len(other) == len(one) == 100
    assert other.purify(Shades(), MANY) == one.purify(Shades(), MANY)
    for discovery in (one, other):
        fill(discovery, make_item, range(50))
    assert other.purify(Shades(), MANY) == one.purify(Shades(), MANY)
