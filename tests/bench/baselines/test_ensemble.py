from collections import Counter

import numpy as np
import pytest

from csim.bench.baselines.ensemble import Ensemble, Look
from csim.bench.baselines.summaries import Summaries


def model(*spheres, classes=3):
    """Return a model of (place on a line, radius, class)."""
    counts = np.zeros((len(spheres), classes), int)
    for place, (_, _, own) in enumerate(spheres):
        counts[place, own] = 5
    return Summaries(
        np.array([[at] for at, _, _ in spheres], float),
        np.array([r for _, r, _ in spheres], float),
        counts,
    )


def ensemble(*models, boundary="union", slack=0.0):
    return Ensemble(models, most=6, boundary=boundary, slack=slack)


def at(*places):
    return np.array(places, float)[:, None]


def test_a_model_votes_with_its_nearest_sphere():
    look = ensemble(model((0, 1, 0), (10, 1, 1))).look(at(1, 4, 6, 12))
    assert look.votes.tolist() == [[0, 0, 1, 1]]
    assert look.inside.tolist() == [[0, -3, -3, -1]]


def test_outside_is_outside_all_spheres_or_outside_the_nearest():
    wide = model((0, 1, 0), (10, 9, 1))  # 3 is nearer to the small sphere, and inside the large one
    assert ensemble(wide).look(at(3)).is_outside.tolist() == [[False]]
    assert ensemble(wide, boundary="nearest").look(at(3)).is_outside.tolist() == [[True]]


def test_an_outlier_is_outside_of_all_models_by_more_than_the_slack():
    one, other = model((0, 1, 0)), model((0, 2, 0))
    for slack, expected in ((0.0, [False, False, True, True]), (1.5, [False, False, False, True])):
        own = ensemble(one, other, slack=slack)
        assert own.outliers(own.look(at(0.5, 1.5, 3, 4))).tolist() == expected


def naive_counts(look, models):
    """Return which votes count, one at a time."""
    heard = np.ones(look.votes.shape, bool)
    for x in range(look.votes.shape[1]):
        for i, own in enumerate(models):
            foreign = any(look.votes[j, x] not in own.known for j in range(len(models)))
            heard[i, x] = not (look.is_outside[i, x] and foreign)
        if not heard[:, x].any():
            heard[:, x] = True
    return heard


@pytest.mark.parametrize("seed", range(20))
def test_who_is_heard_and_what_is_answered_agree_with_counting_one_by_one(seed):
    rng = np.random.default_rng(seed)
    models = [
        model(
            *[(rng.uniform(0, 10), rng.uniform(0, 3), rng.integers(4)) for _ in range(3)], classes=4
        )
        for _ in range(5)
    ]
    own, some = ensemble(*models), rng.uniform(0, 10, (30, 1))
    look = own.look(some)
    heard = naive_counts(look, models)
    assert (own.counted(look) == heard).all()
    shares = own.tally(look, classes=4)
    assert shares.sum(axis=1) == pytest.approx(np.ones(30))
    for x in range(30):
        votes = Counter(int(look.votes[i, x]) for i in range(5) if heard[i, x])
        assert votes[int(shares[x].argmax())] == max(votes.values())


def test_of_equals_the_innermost_sphere_wins():
    own = ensemble(model((0, 5, 0)), model((1, 5, 1)))
    assert own.tally(own.look(at(0.1, 0.9))).argmax(axis=1).tolist() == [0, 1]


def test_votes_weigh_what_they_are_given():
    own = ensemble(model((0, 5, 0)), model((0, 5, 0)), model((0, 5, 1)))
    look = own.look(at(0.1))
    assert own.tally(look).argmax() == 0
    assert own.tally(look, np.array([[0.1], [0.1], [0.9]])).argmax() == 1


def test_it_is_right_to_see_what_was_never_taught_outside_if_that_is_credited():
    own = ensemble(model((0, 1, 0)), model((0, 1, 0), (5, 1, 1)))
    vectors, labels = at(0, 5, 9), np.array([0, 1, 2])
    assert own.errors(vectors, labels, credits_outside=True).tolist() == pytest.approx([0, 0])
    assert own.errors(at(0, 0.5), np.array([0, 1]), credits_outside=True).tolist() == pytest.approx(
        [0.5, 0.5]
    )
    assert own.errors(vectors, labels, credits_outside=False).tolist() == pytest.approx(
        [2 / 3, 1 / 3]
    )


def test_what_is_known_is_what_some_model_can_give():
    assert ensemble(model((0, 1, 0)), model((0, 1, 2))).known == {0, 2}


def test_a_look_is_one_row_for_each_model():
    assert all(
        part.shape == (2, 3)
        for part in vars(ensemble(model((0, 1, 0)), model((0, 1, 1))).look(at(1, 2, 3))).values()
    )
    assert isinstance(ensemble(model((0, 1, 0))).look(at(1)), Look)
