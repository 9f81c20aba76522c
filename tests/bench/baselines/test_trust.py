import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.metrics import roc_auc_score

from csim.bench.baselines.ensemble import Ensemble
from csim.bench.baselines.impurity import impure_groups
from csim.bench.baselines.summaries import pure_groups, summarise
from csim.bench.baselines.trust import calibrated, learn, learn_all, released, signs_of


@pytest.fixture
def models(blobs, rng):
    vectors, labels = blobs([[0, 0], [1, 0]], 120, spread=0.5)
    parts = np.array_split(rng.permutation(240), 3)
    made = [
        summarise(vectors[p], labels[p], pure_groups(vectors[p], labels[p], 8, rng)) for p in parts
    ]
    return Ensemble(made, most=6, boundary="nearest"), vectors, labels


def test_signs_are_how_deep_inside_and_how_pure(models):
    ensemble, vectors, _ = models
    signs = signs_of(ensemble, look := ensemble.look(vectors[:20]))
    for i, model in enumerate(ensemble.models):
        for x in range(20):
            away = [np.linalg.norm(vectors[x] - centre) for centre in model.centres]
            nearest = int(np.argmin(away))
            assert look.nearest[i, x] == nearest
            assert signs[i, x] == pytest.approx(
                [model.radii[nearest] - away[nearest], model.purity[nearest]], abs=1e-4
            )


def test_a_sign_that_tells_right_from_wrong_weighs_more(rng):
    is_right = rng.random(200) < 0.7
    signs = np.stack([is_right + 0.3 * rng.standard_normal(200), rng.standard_normal(200)], axis=1)
    trust = learn(signs, is_right)
    correlations = [max(np.corrcoef(signs[:, place], is_right)[0, 1], 1e-5) for place in (0, 1)]
    assert trust.weights == pytest.approx(np.array(correlations) / sum(correlations))
    assert trust.weights[0] > 0.8


def test_a_model_that_was_always_right_weighs_both_alike(rng):
    trust = learn(rng.random((50, 2)), np.ones(50, bool))
    assert trust.weights.tolist() == [0.5, 0.5]
    assert trust.is_perfect


def test_calibrated_confidence_lies_between_0_and_1_and_is_higher_for_right_answers(rng):
    bunch = load_digits()
    vectors, labels = (bunch.data / 16).astype(np.float32), bunch.target
    parts = np.array_split(rng.permutation(900), 6)
    made = [
        summarise(vectors[p], labels[p], impure_groups(vectors[p], labels[p], 20, rng))
        for p in parts
    ]
    ensemble = Ensemble(made, most=6, boundary="union")
    look = ensemble.look(vectors[900:])
    sure = calibrated(signs_of(ensemble, look), learn_all(ensemble, vectors[:900], labels[:900]))
    assert 0 <= sure.min() <= sure.max() <= 1
    answers = ensemble.tally(look).argmax(axis=1)
    together = np.where(look.votes == answers, sure, 0).mean(axis=0)
    assert roc_auc_score(answers == labels[900:], together) > 0.85


def test_as_released_one_model_is_never_sure_unless_it_was_always_right(models):
    ensemble, vectors, labels = models
    signs, trusts = signs_of(ensemble, ensemble.look(vectors)), learn_all(ensemble, vectors, labels)
    assert not any(trust.is_perfect for trust in trusts)
    assert released(signs, trusts).min(axis=0).tolist() == [0.0] * len(vectors)
    perfect = [learn(own, np.ones(len(labels), bool)) for own in signs]
    assert np.mean(released(signs, perfect) == 1) > 0.9
