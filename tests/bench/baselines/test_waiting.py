import numpy as np
import pytest

from csim.bench.baselines.ensemble import Ensemble
from csim.bench.baselines.face import Seen
from csim.bench.baselines.summaries import pure_groups, summarise
from csim.bench.baselines.waiting import Waiting
from csim.records import Item


@pytest.fixture
def ensemble(blobs, rng):
    vectors, labels = blobs([[0, 0], [4, 0]], 100)
    model = summarise(vectors, labels, pure_groups(vectors, labels, 10, rng))
    return Ensemble([model, model], most=6, boundary="union")


def waiting(enough=20, wait=30, keep=1000, recalls=True):
    return Waiting(enough, wait, keep, 20, recalls)


def seen(position, vector):
    return Seen(
        Item(str(position), position, np.zeros((8, 8), np.uint8)), np.asarray(vector, np.float32)
    )


def ids(outliers):
    return [int(own.seen.item.id) for own in outliers]


def test_each_is_answered_once_when_it_has_waited_long_enough():
    own = waiting()
    for position in (1, 2, 3):
        own.add(seen(position, [9, 9]), vote=0)
    assert own.pass_by(31) == []
    assert ids(own.pass_by(33)) == [1, 2]
    assert ids(own.pass_by(40)) == [3]
    assert ids(own.outliers) == [1, 2, 3]  # still evidence


def test_what_is_old_is_evidence_no_more():
    own = waiting(keep=100)
    own.add(seen(1, [9, 9]), 0)
    own.add(seen(50, [9, 9]), 0)
    own.pass_by(102)
    assert ids(own.outliers) == [50]


def test_a_label_of_a_known_class_takes_an_outlier_away():
    own = waiting()
    for position, label in ((1, 0), (2, 7), (3, None)):
        one = seen(position, [9, 9])
        one.label = label
        own.add(one, 0)
    own.learned(frozenset({0, 1}))
    assert ids(own.outliers) == [2, 3]


def fill(own, blobs, centre, count, first=1):
    for place, vector in enumerate(blobs([centre], count)[0]):
        own.add(seen(first + place, vector), 0)


def test_a_test_is_due_when_enough_wait_and_enough_have_passed(blobs, ensemble):
    own = waiting()
    fill(own, blobs, [9, 9], 20)
    assert not own.is_due(20)
    fill(own, blobs, [9, 9], 1, first=21)
    assert own.is_due(21)
    own.test(ensemble, 21)
    fill(own, blobs, [9, 9], 30, first=22)
    assert not own.is_due(40)
    assert own.is_due(41)


def test_a_blob_that_nobody_knows_is_found_and_leaves(blobs, ensemble):
    own = waiting()
    fill(own, blobs, [9, 9], 40)
    own.outliers[3].is_answered = True
    assert sorted(ids(own.test(ensemble, 40))) == [place for place in range(1, 41) if place != 4]
    assert own.outliers == []


def test_outliers_around_what_is_known_are_no_class(blobs, ensemble):
    own = waiting()
    for position, vector in enumerate(blobs([[0, 0], [4, 0]], 20, spread=1)[0], start=1):
        own.add(seen(position, vector), 0)
    assert own.test(ensemble, 40) == []
    assert len(own.outliers) == 40


@pytest.mark.parametrize("recalls", [True, False])
def test_what_lies_in_a_found_group_is_recalled_until_the_models_change(blobs, ensemble, recalls):
    own = waiting(recalls=recalls)
    fill(own, blobs, [9, 9], 40)
    own.test(ensemble, 40)
    same = blobs([[9, 9]], 100)[0]
    assert any(own.is_recalled(vector) for vector in same) == recalls
    assert not own.is_recalled(np.array([12.0, 9.0]))
    own.look_again(lambda vectors: (np.ones(len(vectors), bool), [0] * len(vectors)))
    assert not any(own.is_recalled(vector) for vector in same)


def test_those_that_new_models_know_leave_with_their_new_vote():
    own = waiting()
    for position in (1, 2, 3):
        own.add(seen(position, [position, 0]), vote=0)
    own.outliers[0].is_answered = True
    gone = own.look_again(lambda vectors: (vectors[:, 0] > 2, [5, 6, 7]))
    assert [(one.seen.item.id, one.vote) for one in gone] == [("2", 6)]
    assert [(one.seen.item.id, one.vote) for one in own.outliers] == [("3", 7)]
