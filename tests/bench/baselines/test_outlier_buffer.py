import numpy as np
import pytest

from csim.bench.baselines.ensemble import Ensemble
from csim.bench.baselines.event_recorder import Sample
from csim.bench.baselines.micro_clusters import build_micro_clusters, cluster_within_classes
from csim.bench.baselines.outlier_buffer import OutlierBuffer
from csim.records import Item


@pytest.fixture
def ensemble(blobs, rng):
    vectors, labels = blobs([[0, 0], [4, 0]], 100)
    groups = cluster_within_classes(vectors, labels, 10, rng)
    model = build_micro_clusters(vectors, labels, groups)
    return Ensemble([model, model], max_models=6, boundary="union")


def make_buffer(evidence=1000, recalls=True):
    return OutlierBuffer(q=20, max_wait=30, evidence=evidence, clusters=20, recalls=recalls)


def sample(position, vector):
    item = Item(str(position), position, np.zeros((8, 8), np.uint8))
    return Sample(item, np.asarray(vector, np.float32))


def ids(outliers):
    return [int(outlier.sample.item.id) for outlier in outliers]


def test_each_is_decided_once_when_it_has_waited_long_enough():
    buffer = make_buffer()
    for position in (1, 2, 3):
        buffer.add(sample(position, [9, 9]), vote=0)
    assert buffer.expire(31) == []
    assert ids(buffer.expire(33)) == [1, 2]
    assert ids(buffer.expire(40)) == [3]
    assert ids(buffer.outliers) == [1, 2, 3]  # still evidence


def test_old_outliers_are_no_longer_evidence():
    buffer = make_buffer(evidence=100)
    buffer.add(sample(1, [9, 9]), 0)
    buffer.add(sample(50, [9, 9]), 0)
    buffer.expire(102)
    assert ids(buffer.outliers) == [50]


def test_a_label_of_a_known_class_drops_an_outlier():
    buffer = make_buffer()
    for position, label in ((1, 0), (2, 7), (3, None)):
        labelled = sample(position, [9, 9])
        labelled.label = label
        buffer.add(labelled, 0)
    buffer.drop_labelled(frozenset({0, 1}))
    assert ids(buffer.outliers) == [2, 3]


def fill(buffer, blobs, centre, count, first=1):
    for position, vector in enumerate(blobs([centre], count)[0], first):
        buffer.add(sample(position, vector), 0)


def test_a_test_is_due_when_enough_wait_and_enough_have_passed(blobs, ensemble):
    buffer = make_buffer()
    fill(buffer, blobs, [9, 9], 20)
    assert not buffer.is_test_due(20)
    fill(buffer, blobs, [9, 9], 1, first=21)
    assert buffer.is_test_due(21)
    buffer.find_novel(ensemble, 21)
    fill(buffer, blobs, [9, 9], 30, first=22)
    assert not buffer.is_test_due(40)
    assert buffer.is_test_due(41)


def test_an_unknown_blob_is_found_and_removed(blobs, ensemble):
    buffer = make_buffer()
    fill(buffer, blobs, [9, 9], 40)
    buffer.outliers[3].is_decided = True
    expected = [position for position in range(1, 41) if position != 4]
    assert sorted(ids(buffer.find_novel(ensemble, 40))) == expected
    assert buffer.outliers == []


def test_outliers_around_known_classes_are_no_class(blobs, ensemble):
    buffer = make_buffer()
    for position, vector in enumerate(blobs([[0, 0], [4, 0]], 20, spread=1)[0], start=1):
        buffer.add(sample(position, vector), 0)
    assert buffer.find_novel(ensemble, 40) == []
    assert len(buffer.outliers) == 40


@pytest.mark.parametrize("recalls", [True, False])
def test_a_vector_in_a_novel_group_is_recalled_until_the_models_change(blobs, ensemble, recalls):
    buffer = make_buffer(recalls=recalls)
    fill(buffer, blobs, [9, 9], 40)
    buffer.find_novel(ensemble, 40)
    same = blobs([[9, 9]], 100)[0]
    assert any(buffer.is_in_novel_group(vector) for vector in same) == recalls
    assert not buffer.is_in_novel_group(np.array([12.0, 9.0]))
    buffer.reclassify(lambda vectors: (np.ones(len(vectors), bool), [0] * len(vectors)))
    assert not any(buffer.is_in_novel_group(vector) for vector in same)


def test_outliers_that_new_models_know_are_removed_with_their_new_vote():
    buffer = make_buffer()
    for position in (1, 2, 3):
        buffer.add(sample(position, [position, 0]), vote=0)
    buffer.outliers[0].is_decided = True
    removed = buffer.reclassify(lambda vectors: (vectors[:, 0] > 2, [5, 6, 7]))
    assert [(outlier.sample.item.id, outlier.vote) for outlier in removed] == [("2", 6)]
    assert [(outlier.sample.item.id, outlier.vote) for outlier in buffer.outliers] == [("3", 7)]
