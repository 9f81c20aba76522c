"""The learners as scikit-learn estimators: its checks, and changes that must not matter."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.utils.estimator_checks import check_estimator

from csim.bench.baselines.learners.gb_lmnn import GBLMNN
from csim.bench.baselines.learners.hdml import HDML
from csim.bench.baselines.learners.knn import nearest, vote
from csim.bench.baselines.learners.lmnn import LMNN
from csim.bench.baselines.learners.sklr import SKLR

pytestmark = pytest.mark.slow

SMALL = [
    LMNN(rounds=2, steps=3),
    GBLMNN(trees=2, rounds=2),
    HDML(bits=4, hidden=8, epochs=3, batch=20),
    SKLR(landmarks=30, rank=5, comparisons=20, sweeps=2),
]
IDS = [type(learner).__name__ for learner in SMALL]
IMAGES, NAMES = load_digits(return_X_y=True)
IMAGES = (IMAGES / 16).astype(np.float32)
TRAIN = slice(0, 400)
VALIDATION = slice(400, 550)
TEST = slice(550, 800)


def learned(learner, names=NAMES, images=IMAGES):
    validation = (images[VALIDATION], names[VALIDATION])
    return learner.fit(images[TRAIN], names[TRAIN], validation=validation)


@pytest.mark.parametrize("learner", SMALL, ids=IDS)
def test_it_is_an_estimator(learner):
    results = check_estimator(learner, on_fail=None, on_skip=None)
    assert {
        check["check_name"]: check["exception"] for check in results if check["status"] == "failed"
    } == {}
    # scikit-learn checks other kinds of arrays only when the environment asks for it.
    assert {check["check_name"] for check in results if check["status"] == "skipped"} <= {
        "check_array_api_input"
    }
    assert len(results) > 30


@pytest.mark.parametrize("learner", SMALL, ids=IDS)
def test_it_learns_the_same_whatever_the_classes_are_called(learner):
    renamed = np.array(list("abcdefghij"))[NAMES]
    first = learned(learner).transform(IMAGES[TEST])
    assert np.array_equal(learned(learner, renamed).transform(IMAGES[TEST]), first)
    assert learner.classes_.tolist() == list("abcdefghij")


@pytest.mark.parametrize("learner", SMALL, ids=IDS)
def test_the_order_of_classes_matters_no_more_than_chance(learner):
    reversed_names = 9 - NAMES
    plain = learned(learner).transform(IMAGES[TEST])
    turned = learned(learner, reversed_names).transform(IMAGES[TEST])
    if isinstance(learner, LMNN | GBLMNN):  # the others draw images class by class
        assert np.allclose(plain, turned, atol=1e-3)
    near = nearest(learner.gallery(IMAGES[TRAIN]), turned, 3)
    turned_score = np.mean(vote(reversed_names[TRAIN][near], 3) == reversed_names[TEST])
    assert abs(turned_score - score(learned(learner), IMAGES)) < 0.15


@pytest.mark.parametrize("learner", SMALL, ids=IDS)
def test_a_pixel_that_never_changes_changes_little(learner):
    wider = np.concatenate([IMAGES, np.full((len(IMAGES), 3), 0.5, np.float32)], axis=1)
    accuracies = [score(learned(learner, images=images), images) for images in (IMAGES, wider)]
    assert np.isfinite(learner.transform(wider[TEST])).all()
    assert accuracies[1] > accuracies[0] - 0.08


@pytest.mark.parametrize("learner", SMALL, ids=IDS)
def test_duplicate_images_do_no_harm(learner):
    twice = np.concatenate([IMAGES[TRAIN], IMAGES[TRAIN]])
    learner.fit(twice, np.tile(NAMES[TRAIN], 2), validation=(IMAGES[VALIDATION], NAMES[VALIDATION]))
    assert np.isfinite(learner.transform(IMAGES[TEST])).all()


@pytest.mark.parametrize("learner", SMALL, ids=IDS)
def test_progress_is_reported_to_its_end(learner):
    steps = []
    learner.fit(
        IMAGES[TRAIN],
        NAMES[TRAIN],
        validation=(IMAGES[VALIDATION], NAMES[VALIDATION]),
        on_step=lambda *step: steps.append(step),
    )
    assert steps[0][0] == 0
    assert steps[-1][0] == steps[-1][1]
    assert [done for done, _ in steps] == sorted(done for done, _ in steps)


def score(learner, images):
    near = nearest(learner.gallery(images[TRAIN]), learner.transform(images[TEST]), 3)
    return np.mean(vote(NAMES[TRAIN][near], 3) == NAMES[TEST])
