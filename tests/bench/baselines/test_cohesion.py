import numpy as np
import pytest

from csim.bench.baselines.cohesion import Groups, cohesion, group, novel
from csim.bench.baselines.summaries import pure_groups, summarise

FAR = [[0, 0], [4, 0], [20, 20]]


def learned(blobs, rng, centres=FAR[:2], most=10):
    vectors, labels = blobs(centres, 100)
    return summarise(vectors, labels, pure_groups(vectors, labels, most, rng))


def naive(groups, model, enough):
    """Return q-NSC member by member: a summary stands for as many members at its centre as it has."""
    found = []
    for centre, spread in zip(groups.centres, groups.spread, strict=True):
        means = []
        for own in model.known:
            away = sorted(
                float(np.linalg.norm(centre - model.centres[place]))
                for place in range(len(model.sizes))
                if model.classes[place] == own
                for _ in range(model.sizes[place])
            )[:enough]
            means.append(sum(away) / len(away))
        found.append((min(means) - spread) / max(min(means), spread))
    return found


@pytest.mark.parametrize("enough", [3, 20, 150])
def test_the_measure_agrees_with_counting_members_one_by_one(blobs, rng, enough):
    model = learned(blobs, rng)
    groups = group(blobs([[1, 3], [9, 9]], 40, spread=1)[0], 6)
    assert cohesion(groups, model, enough) == pytest.approx(
        np.array(naive(groups, model, enough)), abs=1e-5
    )


def test_an_unseen_blob_is_cohesive_and_separate_and_held_out_known_images_are_not(blobs, rng):
    model = learned(blobs, rng)
    unseen, known = group(blobs(FAR[2:], 60)[0], 2), group(blobs(FAR[:2], 60)[0], 2)
    assert cohesion(unseen, model, 50).min() > 0.5
    assert cohesion(known, model, 50).max() < 0.5
    assert cohesion(group(blobs(FAR[:1], 60)[0], 1), model, 20).max() < 0.2


def test_it_lies_between_minus_one_and_one(blobs, rng):
    groups = group(blobs([[0, 0], [30, 0]], 50, spread=5)[0], 5)
    values = cohesion(groups, learned(blobs, rng), 50)
    assert (values >= -1).all()
    assert (values <= 1).all()


def test_a_class_is_declared_only_if_all_models_agree_and_it_is_large_enough(blobs, rng):
    ignorant, wise = learned(blobs, rng), learned(blobs, rng, centres=FAR)
    groups = group(blobs(FAR[2:], 60)[0], 2)
    assert novel(groups, [ignorant, ignorant], 50).all()
    assert not novel(groups, [ignorant, wise], 50).any()
    assert not novel(groups, [ignorant], 60).any()


def test_groups_hold_each_outlier_once_and_small_ones_are_dropped(blobs):
    outliers = np.concatenate([blobs([[0, 0]], 30)[0], np.array([[50.0, 50.0]], np.float32)])
    groups = group(outliers, 2)
    assert sorted(np.concatenate(groups.members)) == list(range(30))
    assert groups.centres[0] == pytest.approx(outliers[:30].mean(axis=0))
    away = [np.linalg.norm(one - groups.centres[0]) for one in outliers[:30]]
    assert groups.spread[0] == pytest.approx(np.mean(away), rel=1e-5)


def test_nothing_is_novel_among_no_groups(blobs, rng):
    assert novel(Groups([], np.zeros((0, 2)), np.zeros(0)), [learned(blobs, rng)], 5).tolist() == []
