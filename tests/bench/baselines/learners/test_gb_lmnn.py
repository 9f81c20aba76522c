"""GB-LMNN: LMNN when it has no trees, and lower with every one."""

import numpy as np
from sklearn.datasets import load_digits

from csim.bench.baselines.learners.gb_lmnn import GBLMNN
from csim.bench.baselines.learners.lmnn import LMNN
from csim.bench.baselines.learners.margins import impostors_of, margin_loss, targets_of

IMAGES, NAMES = load_digits(n_class=5, return_X_y=True)
IMAGES = (IMAGES / 16).astype(np.float32)
TRAIN, VALIDATION = slice(0, 400), slice(400, 600)


def learn(learner):
    return learner.fit(
        IMAGES[TRAIN], NAMES[TRAIN], validation=(IMAGES[VALIDATION], NAMES[VALIDATION])
    )


def test_without_trees_it_is_lmnn():
    linear, boosted = (
        learn(LMNN(components=30, size=20, rounds=3)),
        learn(GBLMNN(components=30, size=20, rounds=3, trees=0)),
    )
    assert np.array_equal(boosted.transform(IMAGES), linear.transform(IMAGES))


def test_trees_lower_the_objective():
    boosted = GBLMNN(components=30, size=20, trees=10, rounds=3)
    boosted.fit(IMAGES[TRAIN], NAMES[TRAIN], validation=(IMAGES[:0], NAMES[:0]))
    assert len(boosted.trees_) > 5
    before, after = boosted.linear_.transform(IMAGES[TRAIN]), boosted.transform(IMAGES[TRAIN])
    targets = targets_of(boosted._components(IMAGES[TRAIN]), NAMES[TRAIN], 3)
    impostors = impostors_of(before, NAMES[TRAIN], 50)
    values = [margin_loss(points, targets, impostors, 0.5)[0] for points in (before, after)]
    assert values[1] < values[0]
