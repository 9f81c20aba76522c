import numpy as np
import pytest

from csim.bench.baselines.micro_clusters import (
    MicroClusters,
    build_micro_clusters,
    cluster_within_classes,
    clusters_per_class,
    farthest_first,
)


def test_a_micro_cluster_is_the_mean_of_its_members_and_reaches_to_the_farthest(rng):
    vectors = rng.standard_normal((60, 5))
    labels = rng.integers(0, 3, 60)
    groups = rng.integers(0, 4, 60)
    found = build_micro_clusters(vectors, labels, groups)
    for group in range(4):
        members = [vectors[index] for index in range(60) if groups[index] == group]
        centre = sum(members) / len(members)
        farthest = max(np.linalg.norm(member - centre) for member in members)
        assert found.centres[group] == pytest.approx(centre, abs=1e-6)
        assert found.radii[group] == pytest.approx(farthest, abs=1e-5)
        assert found.counts[group].tolist() == [
            sum(groups[index] == group and labels[index] == label for index in range(60))
            for label in range(3)
        ]


def test_groups_of_fewer_than_three_are_dropped_and_their_classes_with_them():
    line = np.arange(7.0)[:, None]
    labels = np.array([0, 0, 0, 1, 1, 2, 2])
    found = build_micro_clusters(line, labels, np.array([0, 0, 0, 1, 1, 1, 2]))
    assert found.known == {0, 1}
    assert found.sizes.tolist() == [3, 3]
    assert found.purity.tolist() == [1.0, pytest.approx(2 / 3)]


def test_distances_are_euclidean(rng):
    model = MicroClusters(rng.standard_normal((4, 3)), np.ones(4), np.ones((4, 2), int))
    vectors = rng.standard_normal((6, 3))
    naive = [[np.linalg.norm(vector - centre) for centre in model.centres] for vector in vectors]
    assert model.distances(vectors) == pytest.approx(np.array(naive))


@pytest.mark.parametrize("total", [1, 7, 50])
def test_every_class_has_a_cluster_and_none_more_than_images(total):
    found = clusters_per_class(np.array([0] * 90 + [1] * 9 + [2]), total)
    assert set(found) == {0, 1, 2}
    assert min(found.values()) >= 1
    assert found[2] == 1


def test_seeds_are_each_the_farthest_from_those_before(rng):
    vectors = rng.standard_normal((40, 3))
    chosen = farthest_first(vectors, 6, rng)
    for count in range(1, 6):
        away = [
            min(np.linalg.norm(vector - vectors[index]) for index in chosen[:count])
            for vector in vectors
        ]
        assert away[chosen[count]] == pytest.approx(max(away))


def test_clusters_within_classes_never_mix_classes(blobs, rng):
    vectors, labels = blobs([[0, 0], [0.2, 0]], 50)
    groups = cluster_within_classes(vectors, labels, 10, rng)
    assert all(len(set(labels[groups == group])) == 1 for group in np.unique(groups))
    assert 4 <= len(np.unique(groups)) <= 10


def test_equal_images_make_one_group(rng):
    vectors = np.ones((30, 4), np.float32)
    groups = cluster_within_classes(vectors, np.zeros(30, int), 5, rng)
    assert len(set(groups)) == 1


def test_where_all_groups_are_small_all_are_kept():
    found = build_micro_clusters(np.array([[0.0], [4.0]]), np.array([0, 1]), np.array([0, 1]))
    assert found.centres.tolist() == [[0.0], [4.0]]
    assert found.radii.tolist() == [0.0, 0.0]


def test_there_are_no_more_seeds_than_images_that_differ(rng):
    assert len(farthest_first(np.full((9, 5), 0.1, np.float32), 4, rng)) == 1
