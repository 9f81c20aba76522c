from collections import Counter

import numpy as np
import pytest

from csim.bench.baselines.ensemble import Ensemble, Predictions
from csim.bench.baselines.micro_clusters import MicroClusters


def model(*spheres, classes=3):
    """Return a model of (coordinate on a line, radius, class)."""
    counts = np.zeros((len(spheres), classes), int)
    for index, (_, _, class_id) in enumerate(spheres):
        counts[index, class_id] = 5
    return MicroClusters(
        np.array([[coordinate] for coordinate, _, _ in spheres], float),
        np.array([radius for _, radius, _ in spheres], float),
        counts,
    )


def make_ensemble(*models, boundary="union", slack=0.0):
    return Ensemble(models, max_models=6, boundary=boundary, slack=slack)


def at(*coordinates):
    return np.array(coordinates, float)[:, None]


def test_a_model_votes_with_its_nearest_sphere():
    predictions = make_ensemble(model((0, 1, 0), (10, 1, 1))).predict(at(1, 4, 6, 12))
    assert predictions.votes.tolist() == [[0, 0, 1, 1]]
    assert predictions.depth.tolist() == [[0, -3, -3, -1]]


def test_outside_is_outside_all_spheres_or_outside_the_nearest():
    wide = model((0, 1, 0), (10, 9, 1))  # 3 is nearer to the small sphere, and inside the large one
    nearest = make_ensemble(wide, boundary="nearest")
    assert make_ensemble(wide).predict(at(3)).is_outside.tolist() == [[False]]
    assert nearest.predict(at(3)).is_outside.tolist() == [[True]]


def test_an_outlier_is_outside_of_all_models_by_more_than_the_slack():
    small = model((0, 1, 0))
    large = model((0, 2, 0))
    for slack, expected in ((0.0, [False, False, True, True]), (1.5, [False, False, False, True])):
        ensemble = make_ensemble(small, large, slack=slack)
        found = ensemble.find_outliers(ensemble.predict(at(0.5, 1.5, 3, 4)))
        assert found.tolist() == expected


def naive_counts(predictions, models):
    """Return which votes count, one at a time."""
    votes = predictions.votes
    counts = np.ones(votes.shape, bool)
    for column in range(votes.shape[1]):
        for row, voter in enumerate(models):
            foreign = any(votes[other, column] not in voter.known for other in range(len(models)))
            counts[row, column] = not (predictions.is_outside[row, column] and foreign)
        if not counts[:, column].any():
            counts[:, column] = True
    return counts


@pytest.mark.parametrize("seed", range(20))
def test_counted_votes_and_shares_agree_with_counting_one_by_one(seed):
    rng = np.random.default_rng(seed)
    models = [
        model(
            *[(rng.uniform(0, 10), rng.uniform(0, 3), rng.integers(4)) for _ in range(3)], classes=4
        )
        for _ in range(5)
    ]
    ensemble = make_ensemble(*models)
    predictions = ensemble.predict(rng.uniform(0, 10, (30, 1)))
    counted = naive_counts(predictions, models)
    assert (ensemble.counted_votes(predictions) == counted).all()
    shares = ensemble.vote_shares(predictions, min_classes=4)
    assert shares.sum(axis=1) == pytest.approx(np.ones(30))
    for column in range(30):
        votes = Counter(
            int(predictions.votes[row, column]) for row in range(5) if counted[row, column]
        )
        assert votes[int(shares[column].argmax())] == max(votes.values())


def test_in_a_tie_the_deepest_sphere_wins():
    ensemble = make_ensemble(model((0, 5, 0)), model((1, 5, 1)))
    shares = ensemble.vote_shares(ensemble.predict(at(0.1, 0.9)))
    assert shares.argmax(axis=1).tolist() == [0, 1]


def test_votes_count_by_their_weights():
    ensemble = make_ensemble(model((0, 5, 0)), model((0, 5, 0)), model((0, 5, 1)))
    predictions = ensemble.predict(at(0.1))
    assert ensemble.vote_shares(predictions).argmax() == 0
    weights = np.array([[0.1], [0.1], [0.9]])
    assert ensemble.vote_shares(predictions, weights).argmax() == 1


def test_a_model_is_right_to_see_an_unknown_class_outside_if_that_is_credited():
    ensemble = make_ensemble(model((0, 1, 0)), model((0, 1, 0), (5, 1, 1)))
    cases = [
        (at(0, 5, 9), np.array([0, 1, 2]), True, [0, 0]),
        (at(0, 0.5), np.array([0, 1]), True, [0.5, 0.5]),
        (at(0, 5, 9), np.array([0, 1, 2]), False, [2 / 3, 1 / 3]),
    ]
    for vectors, labels, credits_outside, expected in cases:
        found = ensemble.error_rates(vectors, labels, credits_outside=credits_outside)
        assert found.tolist() == pytest.approx(expected)


def test_known_classes_are_those_of_any_model():
    assert make_ensemble(model((0, 1, 0)), model((0, 1, 2))).known == {0, 2}


def test_predictions_have_one_row_for_each_model():
    predictions = make_ensemble(model((0, 1, 0)), model((0, 1, 1))).predict(at(1, 2, 3))
    assert isinstance(predictions, Predictions)
    assert all(part.shape == (2, 3) for part in vars(predictions).values())
