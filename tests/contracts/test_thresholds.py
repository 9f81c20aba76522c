"""What every threshold rule promises. A new rule is one more name here."""

import json

import numpy as np
import pytest

from csim.decide.thresholds import MeanBoundThreshold, NoThreshold, QuantileThreshold
from csim.errors import NotFittedError, SettingsError

SCORES = np.random.default_rng(0).beta(8, 2, 60)
GRID = np.linspace(0, 1, 201)[:, None]

every_rule = pytest.mark.parametrize(
    "make_rule", [QuantileThreshold, MeanBoundThreshold, NoThreshold]
)
every_rule_that_rejects = pytest.mark.parametrize(
    "make_rule", [QuantileThreshold, MeanBoundThreshold]
)


@every_rule
def test_a_new_class_does_not_move_an_old_one(make_rule):
    rule = make_rule()
    rule.fit({3: SCORES})
    before = rule.passes([3], GRID)
    rule.fit({3: SCORES, 7: SCORES + 5})
    assert (rule.passes([3], GRID) == before).all()


@every_rule
def test_a_higher_score_never_passes_less(make_rule):
    rule = make_rule()
    rule.fit({3: SCORES})
    passes = rule.passes([3], GRID)[:, 0]
    assert (passes == np.sort(passes)).all()
    assert passes[-1]


@every_rule_that_rejects
def test_the_lowest_score_does_not_pass(make_rule):
    rule = make_rule()
    rule.fit({3: SCORES})
    assert not rule.passes([3], GRID[:1]).any()


@every_rule
def test_columns_follow_the_order_of_the_class_ids(make_rule):
    rule = make_rule()
    rule.fit({3: SCORES, 7: SCORES / 2})
    scores = np.random.default_rng(1).random((50, 2))
    one_way = rule.passes([3, 7], scores)
    other_way = rule.passes([7, 3], scores[:, ::-1])
    assert (one_way == other_way[:, ::-1]).all()


@every_rule
def test_what_passes_among_all_classes_passes_alone(make_rule):
    rule = make_rule()
    rule.fit({3: SCORES, 7: SCORES / 2})
    scores = np.random.default_rng(1).random((50, 2))
    together = rule.passes([3, 7], scores)
    assert rule.passes([7], scores[:, 1:])[together[:, 1]].all()
    assert rule.passes([3], scores[:, :1])[together[:, 0]].all()
    is_rejected = ~together.any(axis=1)
    best = scores.argmax(axis=1)
    alone = np.concatenate(
        [rule.passes([3], scores[:, :1]), rule.passes([7], scores[:, 1:])], axis=1
    )
    assert not alone[np.arange(50), best][is_rejected].any()


@every_rule
def test_an_earlier_fit_is_forgotten(make_rule):
    rule = make_rule()
    fresh = make_rule()
    rule.fit({3: SCORES, 7: SCORES})
    for one in (rule, fresh):
        one.fit({3: SCORES / 3})
    assert (rule.passes([3], GRID) == fresh.passes([3], GRID)).all()
    with pytest.raises(NotFittedError):
        rule.passes([7], GRID)


@every_rule
def test_use_before_fitting_is_refused_and_names_the_class(make_rule):
    with pytest.raises(NotFittedError, match="class 4"):
        make_rule().passes([4], GRID)
    rule = make_rule()
    rule.fit({3: SCORES})
    with pytest.raises(NotFittedError, match="class 5"):
        rule.passes([3, 5], np.zeros((1, 2)))


@every_rule
def test_fitting_on_nothing_and_deciding_about_nothing_are_fine(make_rule):
    rule = make_rule()
    rule.fit({})
    assert rule.passes([], np.zeros((4, 0))).shape == (4, 0)
    rule.fit({3: SCORES, 5: []})
    assert rule.passes([3, 5], np.zeros((0, 2))).shape == (0, 2)


@every_rule
def test_deciding_changes_nothing(make_rule):
    rule = make_rule()
    rule.fit({3: SCORES})
    first = rule.passes([3], GRID)
    rule.passes([3], np.ones((5, 1)))
    assert (rule.passes([3], GRID) == first).all()


@every_rule
def test_the_callers_arrays_are_neither_kept_nor_edited(make_rule):
    rule = make_rule()
    own = SCORES[::-1].copy()
    rule.fit({3: own})
    before = rule.passes([3], GRID)
    assert (own == SCORES[::-1]).all()
    own[:] = 0.01
    assert (rule.passes([3], GRID) == before).all()


@every_rule
def test_lists_fit_as_arrays_do(make_rule):
    rule = make_rule()
    other = make_rule()
    rule.fit({3: SCORES})
    other.fit({3: SCORES.tolist()})
    assert (rule.passes([3], GRID) == other.passes([3], GRID)).all()


@every_rule
def test_state_survives_a_restore(make_rule):
    rule = make_rule()
    other = make_rule()
    rule.fit({3: SCORES, 7: SCORES[:3], 12: []})
    state = rule.state()
    other.restore(state)
    json.dumps(state["class_ids"])
    scores = np.random.default_rng(2).random((300, 3))
    assert (other.passes([12, 3, 7], scores) == rule.passes([12, 3, 7], scores)).all()


@pytest.mark.parametrize("keep", [0, 1, -0.5, 1.5, float("nan")])
def test_a_share_outside_0_and_1_is_refused(keep):
    with pytest.raises(SettingsError, match="keep"):
        QuantileThreshold(keep=keep)


@pytest.mark.parametrize("alpha", [0, 1, -1, float("nan")])
def test_an_alpha_outside_its_range_is_refused(alpha):
    with pytest.raises(SettingsError, match="alpha"):
        MeanBoundThreshold(alpha=alpha)
