import numpy as np
import pytest
from discover.places import Places, items_at
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import DBSCAN

from csim.discover.purify import Purify, dbscan, halve
from csim.discover.representative import Medoid, RandomMember
from csim.discover.scene import Scene
from csim.embed.gallery import Gallery


def draw_clumps(seed=0, clumps=3, each=25, strays=8, spread=0.05, size=5):
    """Return unit vectors around a few directions, and some anywhere."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(clumps, size))
    centres /= np.linalg.norm(centres, axis=1, keepdims=True)
    vectors = np.concatenate([np.repeat(centres, each, axis=0), rng.normal(size=(strays, size))])
    vectors[: clumps * each] += rng.normal(scale=spread, size=(clumps * each, size))
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def as_sets(groups):
    return {frozenset(group.tolist()) for group in groups}


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("eps", "min_points"), [(0.2, 3), (0.1, 2), (0.35, 6), (0.2, 1)])
def test_groups_are_sklearns_clusters_and_noise_points_stand_alone(seed, eps, min_points):
    vectors = draw_clumps(seed)
    labels = DBSCAN(eps=eps, min_samples=min_points).fit(vectors).labels_
    expected = {frozenset(np.flatnonzero(labels == label).tolist()) for label in set(labels) - {-1}}
    expected |= {frozenset([index]) for index in np.flatnonzero(labels == -1).tolist()}
    assert as_sets(dbscan(vectors, eps, min_points)) == expected


def test_groups_of_several_come_before_groups_of_one():
    sizes = [len(group) for group in dbscan(draw_clumps(), 0.2, 3)]
    assert max(sizes) > 1
    assert 1 in sizes
    first_single = sizes.index(1)
    assert set(sizes[first_single:]) == {1}


@settings(max_examples=40)
@given(
    count=st.integers(1, 25),
    distinct=st.integers(1, 25),
    eps=st.floats(0.05, 2),
    min_points=st.integers(1, 8),
    seed=st.integers(0, 999),
)
def test_groups_part_the_candidates_whatever_they_are(count, distinct, eps, min_points, seed):
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(distinct, 3))[rng.integers(distinct, size=count)].astype(np.float32)
    before = vectors.copy()
    groups = dbscan(vectors, eps, min_points)
    assert sorted(int(index) for group in groups for index in group) == list(range(count))
    assert all(len(group) for group in groups)
    assert (vectors == before).all()


def test_raising_the_radius_never_makes_more_groups():
    counts = [len(dbscan(draw_clumps(1, strays=30), eps, 1)) for eps in (0.02, 0.05, 0.1, 0.3, 2)]
    assert counts == sorted(counts, reverse=True)
    assert counts[-1] == 1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_candidates_that_are_all_equal_are_one_group(dtype):
    vectors = np.tile(np.array([0.6, 0.8, 0.0], dtype), (10, 1))
    assert [group.tolist() for group in dbscan(vectors, 0.2, 3)] == [list(range(10))]


def choose(vectors, most, representative=None, eps=0.2):
    scene = Scene(
        items_at(vectors), Gallery(Places(), 1), None, None
    )  # it needs neither classes nor labelled images
    purify = Purify(eps=eps, min_points=3, representative=representative or Medoid())
    return purify.choose(scene, most, items_at(vectors[:1], "pending"))


@pytest.mark.parametrize("most", [0, 1, 3, 5, 100])
def test_with_fewer_questions_than_groups_the_largest_are_asked_about(most):
    vectors = draw_clumps().astype(np.float32)
    found = choose(vectors, most)
    groups = dbscan(vectors, 0.2, 3)
    sizes = sorted(map(len, groups), reverse=True)
    assert [len(pick.members) for pick in found.picks] == sizes[:most]
    assert as_sets(pick.members for pick in found.picks) <= as_sets(groups)
    assert found.joined == {}


def test_the_most_central_member_stands_for_its_group():
    vectors = draw_clumps(2).astype(np.float32)
    for members, representative in choose(vectors, 100).picks:
        sums = {
            index: sum(np.linalg.norm(vectors[index] - vectors[m]) for m in members)
            for index in members.tolist()
        }
        assert sums[representative] == pytest.approx(min(sums.values()), rel=1e-5)


def test_any_member_may_stand_for_its_group():
    member = RandomMember(np.random.default_rng(0))
    vectors = np.zeros((4, 2))
    stands = set()
    for _ in range(40):
        (pick,) = choose(vectors, 9, member).picks
        assert sorted(pick.members.tolist()) == [0, 1, 2, 3]
        stands.add(pick.representative)
    assert stands == {0, 1, 2, 3}


@settings(max_examples=40)
@given(count=st.integers(2, 15), seed=st.integers(0, 500))
def test_halves_part_a_group_in_two(count, seed):
    vectors = np.random.default_rng(seed).normal(size=(count, 3))
    parts = halve(vectors)
    assert len(parts) == 2
    assert all(len(part) for part in parts)
    assert sorted(np.concatenate(parts).tolist()) == list(range(count))


def test_halves_cut_between_two_clumps():
    vectors = draw_clumps(3, clumps=2, each=10, strays=0)[np.random.default_rng(0).permutation(20)]
    parts = halve(vectors)
    centres = [vectors[part].mean(axis=0) for part in parts]
    for index, vector in enumerate(vectors):
        nearest = min((0, 1), key=lambda part: np.linalg.norm(vector - centres[part]))
        assert index in parts[nearest]
    assert sorted(map(len, parts)) == [10, 10]


def test_equal_vectors_can_be_halved_too():
    parts = halve(np.ones((4, 3), np.float32))
    assert sorted(np.concatenate(parts).tolist()) == [0, 1, 2, 3]
    assert all(len(part) for part in parts)
