import numpy as np
import pytest

from csim.bench.baselines.summaries import Summaries, far_apart, pure_groups, shares, summarise


def test_a_summary_is_the_mean_of_its_members_and_reaches_to_the_farthest(rng):
    vectors, labels, groups = (
        rng.standard_normal((60, 5)),
        rng.integers(0, 3, 60),
        rng.integers(0, 4, 60),
    )
    found = summarise(vectors, labels, groups)
    for place in range(4):
        own = [vectors[index] for index in range(60) if groups[index] == place]
        centre = sum(own) / len(own)
        assert found.centres[place] == pytest.approx(centre, abs=1e-6)
        assert found.radii[place] == pytest.approx(
            max(np.linalg.norm(one - centre) for one in own), abs=1e-5
        )
        assert found.counts[place].tolist() == [
            sum(groups[index] == place and labels[index] == label for index in range(60))
            for label in range(3)
        ]


def test_groups_of_fewer_than_three_are_dropped_and_their_classes_with_them():
    line = np.arange(7.0)[:, None]
    found = summarise(line, np.array([0, 0, 0, 1, 1, 2, 2]), np.array([0, 0, 0, 1, 1, 1, 2]))
    assert found.known == {0, 1}
    assert found.sizes.tolist() == [3, 3]
    assert found.purity.tolist() == [1.0, pytest.approx(2 / 3)]


def test_distances_are_euclidean(rng):
    model = Summaries(rng.standard_normal((4, 3)), np.ones(4), np.ones((4, 2), int))
    some = rng.standard_normal((6, 3))
    naive = [[np.linalg.norm(one - centre) for centre in model.centres] for one in some]
    assert model.distances(some) == pytest.approx(np.array(naive))


@pytest.mark.parametrize("most", [1, 7, 50])
def test_every_class_has_a_summary_and_none_more_than_images(most):
    found = shares(np.array([0] * 90 + [1] * 9 + [2]), most)
    assert set(found) == {0, 1, 2}
    assert min(found.values()) >= 1
    assert found[2] == 1


def test_seeds_are_each_the_farthest_from_those_before(rng):
    vectors = rng.standard_normal((40, 3))
    chosen = far_apart(vectors, 6, rng)
    for count in range(1, 6):
        away = [
            min(np.linalg.norm(one - vectors[place]) for place in chosen[:count]) for one in vectors
        ]
        assert away[chosen[count]] == pytest.approx(max(away))


def test_pure_groups_never_mix_classes(blobs, rng):
    vectors, labels = blobs([[0, 0], [0.2, 0]], 50)
    groups = pure_groups(vectors, labels, 10, rng)
    assert all(len(set(labels[groups == own])) == 1 for own in np.unique(groups))
    assert 4 <= len(np.unique(groups)) <= 10


def test_images_that_are_all_alike_make_one_group(rng):
    groups = pure_groups(np.ones((30, 4), np.float32), np.zeros(30, int), 5, rng)
    assert len(set(groups)) == 1


def test_where_all_groups_are_small_all_are_kept():
    some = summarise(np.array([[0.0], [4.0]]), np.array([0, 1]), np.array([0, 1]))
    assert some.centres.tolist() == [[0.0], [4.0]]
    assert some.radii.tolist() == [0.0, 0.0]


def test_there_are_no_more_seeds_than_images_that_differ(rng):
    assert len(far_apart(np.full((9, 5), 0.1, np.float32), 4, rng)) == 1
