import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.metrics import roc_auc_score

from csim.bench.baselines.confidence import (
    calibrate,
    calibrate_all,
    calibrated_confidence,
    estimate,
    released_confidence,
)
from csim.bench.baselines.ensemble import Ensemble
from csim.bench.baselines.impurity import cluster_by_impurity
from csim.bench.baselines.micro_clusters import build_micro_clusters, cluster_within_classes


def train(cluster, vectors, labels, total, rng):
    return build_micro_clusters(vectors, labels, cluster(vectors, labels, total, rng))


@pytest.fixture
def models(blobs, rng):
    vectors, labels = blobs([[0, 0], [1, 0]], 120, spread=0.5)
    made = [
        train(cluster_within_classes, vectors[part], labels[part], 8, rng)
        for part in np.array_split(rng.permutation(240), 3)
    ]
    return Ensemble(made, max_models=6, boundary="nearest"), vectors, labels


def test_estimates_are_the_depth_and_the_purity_of_the_nearest_sphere(models):
    ensemble, vectors, _ = models
    predictions = ensemble.predict(vectors[:20])
    estimates = estimate(ensemble, predictions)
    for row, model in enumerate(ensemble.models):
        for column in range(20):
            away = [np.linalg.norm(vectors[column] - centre) for centre in model.centres]
            nearest = int(np.argmin(away))
            assert predictions.nearest[row, column] == nearest
            assert estimates[row, column] == pytest.approx(
                [model.radii[nearest] - away[nearest], model.purity[nearest]], abs=1e-4
            )


def test_an_estimator_that_separates_right_from_wrong_weighs_more(rng):
    is_right = rng.random(200) < 0.7
    useful = is_right + 0.3 * rng.standard_normal(200)
    estimates = np.stack([useful, rng.standard_normal(200)], axis=1)
    calibration = calibrate(estimates, is_right)
    correlations = [max(np.corrcoef(column, is_right)[0, 1], 1e-5) for column in estimates.T]
    assert calibration.weights == pytest.approx(np.array(correlations) / sum(correlations))
    assert calibration.weights[0] > 0.8


def test_a_model_that_was_always_right_weighs_both_alike(rng):
    calibration = calibrate(rng.random((50, 2)), np.ones(50, bool))
    assert calibration.weights.tolist() == [0.5, 0.5]
    assert calibration.is_perfect


def test_calibrated_confidence_lies_between_0_and_1_and_is_higher_for_right_answers(rng):
    bunch = load_digits()
    vectors = (bunch.data / 16).astype(np.float32)
    labels = bunch.target
    made = [
        train(cluster_by_impurity, vectors[part], labels[part], 20, rng)
        for part in np.array_split(rng.permutation(900), 6)
    ]
    ensemble = Ensemble(made, max_models=6, boundary="union")
    predictions = ensemble.predict(vectors[900:])
    calibrations = calibrate_all(ensemble, vectors[:900], labels[:900])
    confidences = calibrated_confidence(estimate(ensemble, predictions), calibrations)
    assert 0 <= confidences.min() <= confidences.max() <= 1
    answers = ensemble.vote_shares(predictions).argmax(axis=1)
    mean = np.where(predictions.votes == answers, confidences, 0).mean(axis=0)
    assert roc_auc_score(answers == labels[900:], mean) > 0.85


def test_as_released_one_model_is_never_sure_unless_it_was_always_right(models):
    ensemble, vectors, labels = models
    estimates = estimate(ensemble, ensemble.predict(vectors))
    calibrations = calibrate_all(ensemble, vectors, labels)
    assert not any(calibration.is_perfect for calibration in calibrations)
    lowest = released_confidence(estimates, calibrations).min(axis=0)
    assert lowest.tolist() == [0.0] * len(vectors)
    perfect = [calibrate(part, np.ones(len(labels), bool)) for part in estimates]
    assert np.mean(released_confidence(estimates, perfect) == 1) > 0.9
