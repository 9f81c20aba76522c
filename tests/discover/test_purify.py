import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.cluster import DBSCAN

from csim.discover.purify import AdaptiveDbscan, Dbscan, Singles, halve


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
    assert as_sets(Dbscan(eps=eps, min_points=min_points).group(vectors)) == expected


@pytest.mark.parametrize("clustering", [Dbscan(eps=0.2, min_points=3), AdaptiveDbscan(core_share=0.5, min_points=3)])
def test_groups_of_several_come_before_groups_of_one(clustering):
    sizes = [len(group) for group in clustering.group(draw_clumps())]
    assert max(sizes) > 1
    assert 1 in sizes
    first_single = sizes.index(1)
    assert set(sizes[first_single:]) == {1}


@given(
    count=st.integers(0, 25),
    distinct=st.integers(1, 25),
    share=st.floats(0, 1),
    min_points=st.integers(1, 8),
    seed=st.integers(0, 999),
)
def test_groups_part_the_candidates_whatever_they_are(count, distinct, share, min_points, seed):
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(distinct, 3))[rng.integers(distinct, size=count)].reshape(count, 3).astype(np.float32)
    before = vectors.copy()
    for clustering in (
        Dbscan(eps=0.05 + share, min_points=min_points),
        AdaptiveDbscan(core_share=share, min_points=min_points),
    ):
        groups = clustering.group(vectors)
        assert sorted(int(index) for group in groups for index in group) == list(range(count))
        assert all(len(group) for group in groups)
        assert (vectors == before).all()


@pytest.mark.parametrize("share", [0.2, 0.5, 0.8])
@pytest.mark.parametrize("seed", range(3))
def test_with_min_points_of_two_the_given_share_of_candidates_has_company(share, seed):
    vectors = draw_clumps(seed, strays=30)
    groups = AdaptiveDbscan(core_share=share, min_points=2).group(vectors)
    assert sum(len(group) for group in groups if len(group) > 1) == pytest.approx(share * len(vectors), abs=2)


@pytest.mark.parametrize("share", [0.2, 0.5, 0.8])
@pytest.mark.parametrize("min_points", [3, 5])
@pytest.mark.parametrize("seed", range(3))
def test_the_groups_are_those_of_a_radius_at_which_the_given_share_is_dense(share, min_points, seed):
    vectors = draw_clumps(seed, strays=30)
    distances = np.linalg.norm(vectors[:, None] - vectors[None, :], axis=2)
    is_share = {
        radius: abs((np.count_nonzero(distances <= radius, axis=1) >= min_points).sum() - share * len(vectors)) <= 1
        for radius in np.unique(distances)
    }
    radii = [radius + 1e-9 for radius, is_near in is_share.items() if is_near]
    possible = [as_sets(Dbscan(eps=radius, min_points=min_points).group(vectors)) for radius in radii]
    assert as_sets(AdaptiveDbscan(core_share=share, min_points=min_points).group(vectors)) in possible


@pytest.mark.parametrize("scale", [1e-3, 0.25, 3.7, 100.0])
def test_the_adaptive_groups_do_not_depend_on_the_scale(scale):
    vectors = draw_clumps(2)
    clustering = AdaptiveDbscan(core_share=0.55, min_points=3)
    assert as_sets(clustering.group(vectors * scale)) == as_sets(clustering.group(vectors))


def test_the_fixed_groups_do_depend_on_the_scale():
    vectors = draw_clumps(2)
    clustering = Dbscan(eps=0.2, min_points=3)
    assert as_sets(clustering.group(vectors * 100)) != as_sets(clustering.group(vectors))


def test_raising_the_core_share_never_makes_more_groups_of_one():
    vectors = draw_clumps(1, strays=30)
    singles = [
        sum(len(group) == 1 for group in AdaptiveDbscan(core_share=share, min_points=3).group(vectors))
        for share in (0.1, 0.3, 0.5, 0.7, 0.9)
    ]
    assert singles == sorted(singles, reverse=True)
    assert singles[0] > singles[-1]


def test_clear_clumps_are_kept_apart_and_whole():
    groups = AdaptiveDbscan(core_share=0.95, min_points=3).group(draw_clumps(0, strays=0, spread=0.01))
    large = [set(group.tolist()) for group in groups if len(group) > 15]
    clumps = [set(range(25)), set(range(25, 50)), set(range(50, 75))]
    assert len(large) == 3
    assert all(any(group <= clump for clump in clumps) for group in large)


@pytest.mark.parametrize("count", [0, 1, 2])
def test_fewer_candidates_than_min_points_stand_alone(count):
    groups = AdaptiveDbscan(core_share=0.9, min_points=3).group(np.zeros((count, 4)))
    assert [group.tolist() for group in groups] == [[index] for index in range(count)]


@pytest.mark.parametrize("clustering", [Dbscan(eps=0.2, min_points=3), AdaptiveDbscan(core_share=0.5, min_points=3)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_candidates_that_are_all_equal_are_one_group(clustering, dtype):
    vectors = np.tile(np.array([0.6, 0.8, 0.0], dtype), (10, 1))
    assert [group.tolist() for group in clustering.group(vectors)] == [list(range(10))]


@pytest.mark.parametrize("clustering", [Dbscan(eps=0.2, min_points=3), AdaptiveDbscan(core_share=0.5, min_points=3)])
def test_no_candidates_no_groups(clustering):
    assert clustering.group(np.zeros((0, 4), np.float32)) == []


@pytest.mark.parametrize("count", [0, 1, 5])
def test_singles_stand_alone_in_order_however_near_they_lie(count):
    groups = Singles().group(np.zeros((count, 4)))
    assert [group.tolist() for group in groups] == [[index] for index in range(count)]
    assert all(group.dtype.kind == "i" for group in groups)


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
