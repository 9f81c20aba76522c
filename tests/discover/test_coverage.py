import numpy as np
import pytest
from discover.places import LEFT, RIGHT, head_of, items_at, scene_of
from scipy.spatial.distance import cdist

from csim.discover.coverage import CoverDoubt, cover
from csim.discover.doubt import doubt
from csim.discover.novelty import novelty
from csim.discover.projection import Projection
from csim.discover.representative import RandomMember
from csim.discover.watch import NoveltyWatch

NEW = np.array([5.0, 20.0])  # far from all labelled images, yet the head is sure it is RIGHT


def around(middle, count, seed, spread=0.5):
    return np.asarray(middle) + np.random.default_rng(seed).normal(scale=spread, size=(count, 2))


LABELLED = {LEFT: around([-5, 0], 40, 1), RIGHT: around([5, 0], 40, 2)}
KNOWN = np.concatenate([around([-5, 0], 40, 3), around([5, 0], 40, 4)])
DOUBTFUL = np.array([[0.3, 0.0], [0.0, 0.5], [-0.1, -0.5], [0.6, 0.2]])


def make_choice(representative=None, spread=20, watch=lambda: NoveltyWatch(5)):
    return CoverDoubt(representative, spread=spread, watch=watch(), projection=Projection(5))


def choose(recent, most, labelled=None, pending=(), head=None, **options):
    scene = scene_of(recent, LABELLED if labelled is None else labelled, head)
    return make_choice(**options).choose(
        scene, most, items_at(pending, "pending") if len(pending) else []
    )


def asked(found):
    return [pick.representative for pick in found.picks]


def weigh(recent):
    """Return the greater of doubt and novelty; less than 0.25 of novelty counts as 0."""
    scene = scene_of(recent, LABELLED)
    items, columns = scene.reference
    labelled = scene.features(items)
    guesses = scene.scores.argmax(axis=1)
    recent = np.asarray(recent, float)
    every = np.arange(len(recent))
    new = novelty(recent, every, labelled, guesses, columns)
    return np.maximum(doubt(scene.scores), np.where(new < 0.25, 0, new))


MIXED = np.concatenate([KNOWN, DOUBTFUL, around(NEW, 25, 5)])


@pytest.mark.parametrize("most", [0, 1, 2, 3, 7, 20, 108, 109, 500])
def test_there_are_never_more_questions_than_may_be_asked_and_no_image_is_in_two(most):
    found = choose(MIXED, most)
    assert len(found.picks) <= most
    indices = [index for pick in found.picks for index in pick.members.tolist()]
    assert len(indices) == len(set(indices))
    assert all(pick.representative in pick.members for pick in found.picks)


@pytest.mark.parametrize("most", [1, 2, 4])
def test_all_questions_that_may_be_asked_are_asked_while_there_is_doubt(most):
    assert len(choose(MIXED, most).picks) == most


def test_with_many_questions_every_doubtful_image_is_in_a_group():
    found = choose(MIXED, 500)
    indices = [index for pick in found.picks for index in pick.members.tolist()]
    assert sorted(indices) == np.flatnonzero(weigh(MIXED) >= 0.05).tolist()


def test_without_groups_the_least_sure_image_comes_first():
    found = choose(DOUBTFUL[:3], 50, spread=1)  # too few to be a new class
    assert asked(found) == [1, 2, 0]


def test_with_one_question_the_middle_of_the_new_class_is_asked_about():
    (pick,) = choose(MIXED, 1).picks
    assert weigh(MIXED)[84:].min() > 0.9
    assert pick.representative >= 84
    assert len(pick.members) == 20
    away = cdist(MIXED[84:], MIXED[84:])
    assert sorted(pick.members) == sorted(84 + np.argsort(away[pick.representative - 84])[:20])


def test_with_a_question_for_each_of_two_new_classes_both_are_asked_about():
    recent = np.concatenate([KNOWN, around(NEW, 25, 5), around([5, -20], 25, 6)])
    first, second = choose(recent, 2).picks
    assert {first.representative >= 105, second.representative >= 105} == {True, False}
    assert min(first.representative, second.representative) >= 80


def test_a_random_member_may_represent_a_group():
    scene = scene_of(MIXED, LABELLED)
    shown = set()
    choice = make_choice(RandomMember(np.random.default_rng(0)))
    for _ in range(20):
        (pick,) = choice.choose(scene, 1, []).picks
        shown.add(pick.representative)
    assert len(shown) > 5


@pytest.mark.parametrize("most", [2, 6, 12])
@pytest.mark.parametrize("seed", range(3))
def test_members_are_nearer_to_the_representative_than_to_any_labelled_image(most, seed):
    rng = np.random.default_rng(seed)
    recent = np.concatenate([rng.normal(scale=[4, 3], size=(80, 2)), around(NEW, 20, seed)])
    labelled = np.concatenate(list(LABELLED.values()))
    found = choose(recent, most)
    is_right = recent[:, 0] > 0
    assert sum(len(pick.members) > 1 for pick in found.picks) >= 1
    for members, representative in found.picks:
        for member in set(members.tolist()) - {representative}:
            away = np.linalg.norm(recent[member] - recent[representative])
            assert away < min(np.linalg.norm(recent[member] - other) for other in labelled) + 1e-4
            assert is_right[member] == is_right[representative]


def test_members_have_the_same_best_class_as_the_representative():
    clump = around([0, 20], 30, 7, spread=0.3)  # half of it is LEFT for the head, half RIGHT
    (pick,) = choose(np.concatenate([KNOWN, clump]), 1).picks
    sides = np.concatenate([KNOWN, clump])[pick.members, 0] > 0
    assert len(set(sides.tolist())) == 1


@pytest.mark.parametrize("spread", [1, 2, 20, 100])
def test_a_group_has_at_most_spread_members_the_nearest(spread):
    crowd = around(NEW, 41, 8, spread=0.01)
    alone = np.array([[0.0, 100.0 * index] for index in range(1, 10)])
    recent = np.concatenate([crowd, alone])
    found = choose(recent, 10, spread=spread)
    assert max(len(pick.members) for pick in found.picks) == min(spread, 41)
    members, representative = found.picks[0]
    away = cdist(recent[[representative]], crowd)[0]
    assert all(pick.representative in pick.members for pick in found.picks)
    if spread > 1:
        assert away[members].max() <= np.sort(away)[len(members) - 1] + 1e-3


@pytest.mark.parametrize("spread", [1, 3])
def test_the_representative_is_a_member_even_among_its_duplicates(spread):
    choice = make_choice(RandomMember(np.random.default_rng(0)), spread)
    recent = np.concatenate([KNOWN, np.tile(NEW, (30, 1))])
    for _ in range(5):
        (pick,) = choice.choose(scene_of(recent, LABELLED), 1, []).picks
        assert pick.representative in pick.members
        assert len(pick.members) == spread


def test_by_doubt_alone_a_new_class_that_looks_known_is_passed_over():
    found = choose(MIXED, 500, watch=lambda: None)
    assert {index for pick in found.picks for index in pick.members.tolist()} == {80, 81, 82, 83}
    assert asked(choose(MIXED, 1))[0] >= 84


def test_a_group_of_a_later_search_is_that_of_a_first_search():
    later = make_choice()
    for _ in range(3):  # images that seem known are not compared each time
        found = later.choose(scene_of(MIXED, LABELLED), 500, [])
    first = choose(MIXED, 500)
    assert asked(found) == asked(first)
    assert [pick.members.tolist() for pick in found.picks] == [
        pick.members.tolist() for pick in first.picks
    ]


def test_images_near_the_image_of_an_open_question_join_it_and_are_not_asked_about():
    pending = np.array([NEW, [0.1, 0.0]])  # the best class of both is RIGHT
    found = choose(MIXED, 500, pending=pending)
    known = np.concatenate([*LABELLED.values(), pending])
    owner = cdist(MIXED, known).argmin(axis=1)
    is_right = MIXED[:, 0] > 0
    expected = [np.flatnonzero((owner == 80 + index) & is_right).tolist() for index in (0, 1)]
    assert [found.joined[index].tolist() for index in (0, 1)] == expected
    assert set(range(84, 109)) <= set(expected[0])
    assert {80, 83} <= set(expected[1])
    assert 82 not in expected[1]
    assert not set(asked(found)) & {index for members in expected for index in members}


def test_another_new_class_is_asked_about_while_a_question_about_the_first_is_open():
    recent = np.concatenate([KNOWN, around(NEW, 25, 5), around([5, -20], 25, 6)])
    found = choose(recent, 1, pending=NEW[None])
    assert asked(found)[0] >= 105
    assert found.joined[0].tolist() == list(range(80, 105))


def test_members_of_an_open_question_stay_until_a_new_model_looks_at_them_again():
    pending = items_at(NEW[None], "pending")
    choice = make_choice()
    first = choice.choose(scene_of(MIXED, LABELLED), 0, pending)
    members = first.joined[0].tolist()
    assert len(members) >= 25
    nearer = items_at(np.array([NEW, NEW + 0.1]), "pending")  # another one asks about the same
    later = choice.choose(scene_of(MIXED, LABELLED, covered=members), 500, nearer)
    taken = [index for pick in later.picks for index in pick.members.tolist()]
    assert later.joined == {}
    assert not set(members) & set(taken)
    again = choice.choose(scene_of(MIXED, LABELLED, covered=members, version=2), 500, nearer)
    assert sorted([*again.joined[0].tolist(), *again.joined[1].tolist()]) == members


def test_an_image_that_comes_later_joins_while_the_members_stay():
    pending = items_at(NEW[None], "pending")
    choice = make_choice()
    members = choice.choose(scene_of(MIXED, LABELLED), 0, pending).joined[0].tolist()
    more = np.concatenate([MIXED, NEW[None] + 0.2])
    later = choice.choose(scene_of(more, LABELLED, covered=members), 0, pending)
    assert later.joined[0].tolist() == [len(MIXED)]


def test_images_of_a_question_that_is_open_no_more_are_asked_about_again():
    pending = items_at(NEW[None], "pending")
    choice = make_choice()
    members = choice.choose(scene_of(MIXED, LABELLED), 0, pending).joined[0].tolist()
    asked_about = set()
    for _ in range(5):  # by then each image had its turn
        found = choice.choose(scene_of(MIXED, LABELLED), 500, [])
        asked_about |= {index for pick in found.picks for index in pick.members.tolist()}
    assert set(members) <= asked_about


def test_without_an_open_question_nothing_joins():
    assert choose(MIXED, 3).joined == {}


def test_where_nothing_is_doubtful_there_is_no_question():
    spots = np.stack([np.linspace(4, 9, 10), np.zeros(10)], axis=1)
    recent = np.repeat(spots, 3, axis=0)  # each upon a labelled image
    assert choose(recent, 20, {LEFT: LABELLED[LEFT], RIGHT: spots}).picks == []
    assert choose(np.array([[-8.0, 0.0], [8.0, 0.0]]), 20).picks == []


def test_while_no_class_is_known_everything_is_doubtful():
    found = choose(MIXED, 200, head=head_of(()))
    assert sorted(index for pick in found.picks for index in pick.members.tolist()) == list(
        range(len(MIXED))
    )
    found = choose(MIXED, 4, head=head_of(()))
    assert len(found.picks) == 4


@pytest.mark.parametrize("most", [1, 4, 200])
def test_without_labelled_images_doubt_alone_decides(most):
    found = choose(MIXED, most, labelled={})
    is_doubtful = doubt(scene_of(MIXED, {}).scores) >= 0.05
    assert 1 <= len(found.picks) <= most
    assert is_doubtful[asked(found)].all()


def test_classes_that_are_told_and_not_learned_yet_count_as_labelled():
    recent = np.concatenate([KNOWN, around(NEW, 25, 5)])
    told = LABELLED | {12: around(NEW, 25, 9)}
    found = choose(recent, 1, told)
    before = choose(recent, 1)
    assert asked(before)[0] >= 80
    assert len(found.picks[0].members) < len(before.picks[0].members)


def test_choosing_twice_gives_the_same():
    first = choose(MIXED, 6)
    second = choose(MIXED, 6)
    assert asked(first) == asked(second)
    assert [pick.members.tolist() for pick in first.picks] == [
        pick.members.tolist() for pick in second.picks
    ]


def test_images_that_are_all_the_same_are_one_question_as_far_as_an_answer_spreads():
    found = choose(np.tile(NEW, (30, 1)), 3, spread=100)
    assert [len(pick.members) for pick in found.picks] == [30]


def cover_one_by_one(weights, reach, most):
    """Return what `cover` yields, by definition: each time the image that covers the most."""
    left = dict(enumerate(weights.tolist()))
    groups = []
    while left and len(groups) < most:
        gains = {
            index: weight
            + 0.3 * sum(left[other] for other in left if reach[index, other] and other != index)
            for index, weight in left.items()
        }
        best = max(gains, key=gains.__getitem__)
        groups.append([index for index in left if reach[best, index]])
        left = {index: weight for index, weight in left.items() if not reach[best, index]}
    return groups


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("most", [0, 1, 4, 100])
def test_questions_are_chosen_one_by_one_where_they_cover_the_most(seed, most):
    rng = np.random.default_rng(seed)
    reach = (rng.random((40, 40)) < 0.1) | np.eye(40, dtype=bool)
    weights = rng.random(40) + 0.05
    groups = [group.tolist() for _, group in cover(weights, reach, most)]
    assert groups == cover_one_by_one(weights, reach, most)


@pytest.mark.parametrize("count", [0, 1])
def test_fewer_images_than_questions_give_fewer_groups(count):
    assert [group.tolist() for _, group in cover(np.ones(count), np.eye(count, dtype=bool), 4)] == [
        [0]
    ] * count


def test_by_doubt_alone_it_remembers_no_novelty():
    choice = make_choice(watch=lambda: None)
    choice.restore(choice.state())
    assert set(choice.state()) == {"projection", "version"}


def test_a_new_model_of_the_same_metric_looks_at_members_of_open_questions_again():
    choice = make_choice()
    nearer = [*scene_of(MIXED, LABELLED).items[:1]]
    members = range(len(MIXED))
    choice.choose(scene_of(MIXED, LABELLED, version=4, metric=4), 0, nearer)
    again = scene_of(MIXED, LABELLED, covered=members, version=4, metric=4)
    assert not choice.choose(again, 500, nearer).picks
    later = make_choice()
    later.restore(choice.state())
    assert later.choose(
        scene_of(MIXED, LABELLED, covered=members, version=5, metric=4), 500, nearer
    ).picks


def test_a_state_in_which_each_model_had_its_own_metric_is_restored():
    choice = make_choice()
    choice.choose(scene_of(MIXED, LABELLED, version=4), 0, [])
    state = choice.state()
    earlier = {name: value for name, value in state["projection"].items() if name != "metric"}
    again = make_choice()
    again.restore({"watch": state["watch"], "projection": earlier | {"version": 4}})
    assert again.state() == state


def test_what_an_earlier_version_saved_is_restored():
    choice = make_choice()
    choice.restore({})
    assert asked(choice.choose(scene_of(MIXED, LABELLED), 6, [])) == asked(choose(MIXED, 6))
