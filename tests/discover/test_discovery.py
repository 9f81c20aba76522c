import numpy as np
import pytest
from discover.places import LEFT, RIGHT, head_of
from hypothesis import given, settings
from hypothesis import strategies as st

from csim.discover.buffer import Buffer
from csim.discover.choice import AtRandom, LeastSure
from csim.discover.coverage import CoverDoubt
from csim.discover.discovery import Discovery
from csim.discover.projection import Projection
from csim.discover.purify import Purify
from csim.discover.recent import Recent
from csim.discover.representative import Medoid, RandomMember
from csim.discover.watch import NoveltyWatch
from csim.embed.gallery import Gallery
from csim.records import Accepted, Asked, Decision, Labelled, Question, Revised, Views
from csim.store.class_store import ClassStore
from csim.store.eviction import ProtectTold

REJECTED = Decision(0, 0.2, is_accepted=False)
MANY = 10**6  # more questions than there can be groups


class Shades:
    """An encoder that sees only how bright the left and the right half of an image are."""

    def embed(self, images):
        half = images.shape[2] // 2
        return (
            np.stack([images[:, :, :half].mean((1, 2)), images[:, :, half:].mean((1, 2))], axis=1)
            / 255
        )

    def view(self, images):
        return Views(self.embed(images), self.embed(images))


class Failing(Shades):
    def embed(self, images):
        raise RuntimeError("out of memory")


class Unsteady(Shades):
    """An encoder whose vectors cannot be grouped."""

    def embed(self, images):
        return np.full((len(images), 2), np.nan)


def make_discovery(representative=None, eps=0.1, min_points=2, size=100):
    representative = representative or Medoid()
    purify = Purify(eps=eps, min_points=min_points, representative=representative)
    return Discovery(Buffer(size), purify, representative)


def make_recent(choice=None):
    choice = choice or CoverDoubt(
        Medoid(), spread=20, watch=NoveltyWatch(5), projection=Projection(5)
    )
    return Discovery(Recent(1000, 5), choice, Medoid())


SINGLES = {"least sure": LeastSure, "at random": lambda: AtRandom(np.random.default_rng(0))}
by_single_images = pytest.mark.parametrize("make_choice", SINGLES.values(), ids=SINGLES.keys())


def fill(discovery, make_item, shades, start=1):
    items = []
    for position, shade in enumerate(shades, start=start):
        item = make_item(str(position), position, np.full((8, 8), shade, np.uint8))
        discovery.pool.add([item], [REJECTED])
        items.append(item)
    return items


def find(discovery, most=MANY, encoder=None, position=9, pending=(), store=None, head=None):
    groups, joined = discovery.search(
        Gallery(encoder or Shades(), 1),
        head or head_of(),
        store or ClassStore(100, ProtectTold()),
        most,
        position,
        pending,
    )
    questions = [
        Question(place, position, group.representative, group.members)
        for place, group in enumerate(groups)
    ]
    discovery.apply([Asked(position, question) for question in questions])
    return groups, joined


def groups_of(discovery, most=MANY, **options):
    return find(discovery, most, **options)[0]


def ids(groups):
    return [tuple(item.id for item in group.members) for group in groups]


DARK_AND_LIGHT = [10, 200, 12, 210, 14, 205, 100]


def test_a_buffers_candidates_become_groups_and_leave_it(make_item):
    discovery = make_discovery()
    items = fill(discovery, make_item, DARK_AND_LIGHT)
    groups, joined = find(discovery)
    assert joined == {}
    assert len(discovery.pool) == 0
    assert set(ids(groups)) == {("1", "3", "5"), ("2", "4", "6"), ("7",)}
    assert (
        sorted((item for group in groups for item in group.members), key=lambda item: item.position)
        == items
    )


@pytest.mark.parametrize("seed", range(3))
def test_every_candidate_is_in_exactly_one_group_with_a_member_to_stand_for_it(make_item, seed):
    rng = np.random.default_rng(seed)
    discovery = make_discovery(RandomMember(rng), min_points=3)
    items = fill(discovery, make_item, rng.integers(0, 256, 40))
    groups = groups_of(discovery)
    assert sorted(item.id for group in groups for item in group.members) == sorted(
        item.id for item in items
    )
    for group in groups:
        assert group.representative in group.members
        assert group.vector == pytest.approx(Shades().embed(group.representative.image[None])[0])


def test_the_most_central_member_stands_for_a_group(make_item):
    discovery = make_discovery(eps=1.0, min_points=1)
    fill(discovery, make_item, [10, 12, 60])
    (group,) = groups_of(discovery)
    assert group.representative.id == "2"


@pytest.mark.parametrize("make", [make_discovery, make_recent])
def test_where_nothing_is_nothing_is_found_and_nothing_embedded(make):
    assert find(make(), encoder=Failing()) == ([], {})


@pytest.mark.parametrize("make", [make_discovery, make_recent])
def test_without_a_question_left_nothing_is_found_and_nothing_embedded(make_item, make):
    discovery = make()
    items = fill(discovery, make_item, DARK_AND_LIGHT)
    assert find(discovery, 0, encoder=Failing(), position=7) == ([], {})
    assert discovery.pool.items() == items


def test_a_look_that_finds_nothing_is_a_look_all_the_same(make_item):
    discovery = make_recent()
    fill(discovery, make_item, DARK_AND_LIGHT)
    assert discovery.is_due(7)
    find(discovery, 0, position=7)
    assert [position for position in range(7, 14) if discovery.is_due(position)] == [12, 13]


@pytest.mark.parametrize(
    ("make", "encoder"),
    [(make_discovery, Failing()), (make_discovery, Unsteady()), (make_recent, Failing())],
)
def test_an_error_leaves_the_images_where_they_are(make_item, make, encoder):
    discovery = make()
    items = fill(discovery, make_item, DARK_AND_LIGHT)
    with pytest.raises((RuntimeError, ValueError)):
        find(discovery, 2, encoder=encoder, position=7)
    assert discovery.pool.items() == items
    assert discovery.is_due(7) == make_filled(make, make_item).is_due(7)
    assert ids(groups_of(discovery)) == ids(groups_of(make_filled(make, make_item)))


def make_filled(make, make_item):
    discovery = make()
    fill(discovery, make_item, DARK_AND_LIGHT)
    return discovery


@settings(max_examples=30)
@given(
    shades=st.lists(st.sampled_from([0, 50, 100, 150, 200, 250]), max_size=20),
    most=st.integers(0, 8) | st.just(MANY),
)
def test_with_fewer_questions_than_groups_the_largest_are_asked_about_and_the_rest_is_left(
    make_item, shades, most
):
    discovery = make_discovery(eps=0.05)
    items = fill(discovery, make_item, shades)
    groups = groups_of(discovery, most)
    alike = {
        shade: [item for item, of_item in zip(items, shades, strict=True) if of_item == shade]
        for shade in shades
    }
    sizes = sorted((len(members) for members in alike.values()), reverse=True)
    assert sorted((len(group.members) for group in groups), reverse=True) == sizes[:most]
    assert all(list(group.members) in alike.values() for group in groups)
    asked = [item for group in groups for item in group.members]
    assert discovery.pool.items() == [item for item in items if item not in asked]


@pytest.mark.parametrize("most", [1, 3, 20])
@by_single_images
def test_single_images_are_asked_about_and_the_others_stay_recent(make_item, make_choice, most):
    discovery = make_recent(make_choice())
    items = fill(discovery, make_item, DARK_AND_LIGHT)
    groups, joined = find(discovery, most)
    assert joined == {}
    assert len(groups) == min(most, 7)
    for group in groups:
        assert group.members == (group.representative,)
        assert group.representative in items
        assert group.vector == pytest.approx(Shades().embed(group.representative.image[None])[0])
    asked = {group.representative.id for group in groups}
    assert discovery.pool.items() == [item for item in items if item.id not in asked]


def store_with(make_item, shades):
    store = ClassStore(100, ProtectTold())
    for number, shade in enumerate(shades):
        item = make_item(f"labelled {number}", 0, np.full((8, 8), shade, np.uint8))
        store.add(item, RIGHT if number % 2 else LEFT, is_told=True)
    return store


def question(make_item, question_id, shade):
    item = make_item(f"asked {question_id}", 0, np.full((8, 8), shade, np.uint8))
    return Question(question_id, 0, item, (item,))


def test_images_like_those_of_open_questions_join_them_by_the_questions_id(make_item):
    discovery = make_recent()
    store = store_with(make_item, [100, 102, 104, 106])
    fill(discovery, make_item, [10, 101, 12, 240, 103, 14, 250, 105])
    pending = [question(make_item, 8, 245), question(make_item, 5, 11), question(make_item, 6, 160)]
    groups, joined = find(discovery, 3, pending=pending, store=store)
    assert {question_id: [item.id for item in items] for question_id, items in joined.items()} == {
        8: ["4", "7"],
        5: ["1", "3", "6"],
    }
    assert {item_id for group in ids(groups) for item_id in group} <= {"2", "5", "8"}
    assert {"1", "3", "4", "6", "7"} <= {item.id for item in discovery.pool.items()}


def test_only_the_images_asked_about_leave_the_recent_ones(make_item):
    discovery = make_recent()
    store = store_with(make_item, [100, 102, 104, 106])
    fill(discovery, make_item, [10, 101, 12, 11, 103, 14, 13, 105])
    (group,) = groups_of(discovery, 1, store=store)
    assert len(group.members) > 1
    assert {item.id for item in discovery.pool.items()} == set("12345678") - {
        group.representative.id
    }


def test_the_pool_follows_what_has_happened_to_its_images(make_item):
    discovery = make_recent()
    fill(discovery, make_item, [10, 20, 30, 40])
    discovery.apply(
        [
            Labelled(9, "1", 3, 1, is_told=True),
            Revised(9, "2", None, 7),
            Labelled(9, "3", 3, 1, is_told=False),
            Revised(9, "3", 3, None),
            Accepted(9, "4", 3, 0.9, 1),  # it was seen when it came
            Revised(9, "stranger", None, 7),
        ]
    )
    assert [class_id for _, class_id in discovery.pool.revisable(9)] == [3, 7, None, None]


def test_a_group_is_split_into_the_parts_that_are_named(make_item):
    discovery = make_discovery()
    items = fill(make_discovery(), make_item, DARK_AND_LIGHT)
    groups = discovery.split(items, [("7", "2"), ("1", "3", "5"), ("4", "6")], Gallery(Shades(), 1))
    assert ids(groups) == [("7", "2"), ("1", "3", "5"), ("4", "6")]
    assert groups[1].representative.id == "3"
    assert groups[1].vector == pytest.approx(Shades().embed(items[2].image[None])[0])


def test_a_group_without_named_parts_is_halved(make_item):
    items = fill(make_discovery(), make_item, [10, 200, 12, 210, 14])
    groups = make_discovery().split(items, (), Gallery(Shades(), 1))
    assert set(ids(groups)) == {("1", "3", "5"), ("2", "4")}


@pytest.mark.parametrize(("kept", "parts"), [([], []), ([1], [("2",)]), ([1, 2], [("2",), ("3",)])])
def test_only_members_are_asked_about_and_no_empty_part(make_item, kept, parts):
    items = fill(make_discovery(), make_item, [10, 200, 12])
    members = [items[place] for place in kept]
    assert sorted(ids(make_discovery().split(members, (), Gallery(Shades(), 1)))) == parts
    assert ids(make_discovery().split(members, [("1", "2"), ("3",)], Gallery(Shades(), 1))) == parts


def test_splitting_leaves_the_pool_alone(make_item):
    discovery = make_discovery()
    items = fill(discovery, make_item, [10, 200, 12])
    discovery.split(items, (), Gallery(Shades(), 1))
    assert discovery.pool.items() == items


def test_candidates_and_chance_survive_a_restore(make_item):
    one, other = (
        make_discovery(RandomMember(np.random.default_rng(seed)), eps=2, min_points=1)
        for seed in (0, 1)
    )
    fill(one, make_item, range(50))
    find(one)
    fill(one, make_item, range(100, 200))
    fill(other, make_item, range(3))
    other.restore(one.state())
    assert len(other.pool) == len(one.pool) == 100
    assert groups_of(other) == groups_of(one)
    for discovery in (one, other):
        fill(discovery, make_item, range(50))
    assert groups_of(other) == groups_of(one)


def test_recent_images_and_a_random_choice_survive_a_restore(make_item):
    one, other = (make_recent(AtRandom(np.random.default_rng(seed))) for seed in (0, 1))
    fill(one, make_item, range(50))
    find(one, 3)
    fill(other, make_item, range(3))
    other.restore(one.state())
    for most in (4, 5):
        assert groups_of(other, most) == groups_of(one, most)
