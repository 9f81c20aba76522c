import numpy as np
import pytest

from csim.bench.baselines.micro_clusters import build_micro_clusters, cluster_within_classes
from csim.bench.baselines.q_nsc import OutlierGroups, find_novel_groups, group_outliers, q_nsc

FAR = [[0, 0], [4, 0], [20, 20]]


def learned(blobs, rng, centres=FAR[:2], total=10):
    vectors, labels = blobs(centres, 100)
    groups = cluster_within_classes(vectors, labels, total, rng)
    return build_micro_clusters(vectors, labels, groups)


def naive(groups, model, q):
    """Return q-NSC member by member: a micro-cluster is all of its members at its centre."""
    found = []
    for centre, spread in zip(groups.centres, groups.spread, strict=True):
        means = []
        for class_id in model.known:
            away = sorted(
                float(np.linalg.norm(centre - model.centres[index]))
                for index in range(len(model.sizes))
                if model.classes[index] == class_id
                for _ in range(model.sizes[index])
            )[:q]
            means.append(sum(away) / len(away))
        found.append((min(means) - spread) / max(min(means), spread))
    return found


@pytest.mark.parametrize("q", [3, 20, 150])
def test_the_measure_agrees_with_counting_members_one_by_one(blobs, rng, q):
    model = learned(blobs, rng)
    groups = group_outliers(blobs([[1, 3], [9, 9]], 40, spread=1)[0], 6)
    expected = np.array(naive(groups, model, q))
    assert q_nsc(groups, model, q) == pytest.approx(expected, abs=1e-5)


def test_an_unseen_blob_is_cohesive_and_separate_and_held_out_known_images_are_not(blobs, rng):
    model = learned(blobs, rng)
    unseen = group_outliers(blobs(FAR[2:], 60)[0], 2)
    known = group_outliers(blobs(FAR[:2], 60)[0], 2)
    assert q_nsc(unseen, model, 50).min() > 0.5
    assert q_nsc(known, model, 50).max() < 0.5
    assert q_nsc(group_outliers(blobs(FAR[:1], 60)[0], 1), model, 20).max() < 0.2


def test_it_lies_between_minus_one_and_one(blobs, rng):
    groups = group_outliers(blobs([[0, 0], [30, 0]], 50, spread=5)[0], 5)
    values = q_nsc(groups, learned(blobs, rng), 50)
    assert (values >= -1).all()
    assert (values <= 1).all()


def test_a_class_is_declared_only_if_all_models_agree_and_it_is_large_enough(blobs, rng):
    without = learned(blobs, rng)
    with_class = learned(blobs, rng, centres=FAR)
    groups = group_outliers(blobs(FAR[2:], 60)[0], 2)
    assert find_novel_groups(groups, [without, without], 50).all()
    assert not find_novel_groups(groups, [without, with_class], 50).any()
    assert not find_novel_groups(groups, [without], 60).any()


def test_groups_hold_each_outlier_once_and_small_ones_are_dropped(blobs):
    outliers = np.concatenate([blobs([[0, 0]], 30)[0], np.array([[50.0, 50.0]], np.float32)])
    groups = group_outliers(outliers, 2)
    assert sorted(np.concatenate(groups.members)) == list(range(30))
    assert groups.centres[0] == pytest.approx(outliers[:30].mean(axis=0))
    away = [np.linalg.norm(vector - groups.centres[0]) for vector in outliers[:30]]
    assert groups.spread[0] == pytest.approx(np.mean(away), rel=1e-5)


def test_nothing_is_novel_among_no_groups(blobs, rng):
    nothing = OutlierGroups([], np.zeros((0, 2)), np.zeros(0))
    assert find_novel_groups(nothing, [learned(blobs, rng)], 5).tolist() == []
