"""GB-LMNN: it equals LMNN without trees, and trees lower the objective."""

import numpy as np
from sklearn.datasets import load_digits

from csim.bench.baselines.learners.gb_lmnn import GBLMNN
from csim.bench.baselines.learners.lmnn import LMNN
from csim.bench.baselines.learners.margin_loss import find_impostors, find_targets, margin_loss

IMAGES, NAMES = load_digits(n_class=5, return_X_y=True)
IMAGES = (IMAGES / 16).astype(np.float32)
TRAIN = slice(0, 400)
VALIDATION = slice(400, 600)


def learn(learner):
    return learner.fit(
        IMAGES[TRAIN], NAMES[TRAIN], validation=(IMAGES[VALIDATION], NAMES[VALIDATION])
    )


def test_without_trees_it_is_lmnn():
    linear = learn(LMNN(components=30, size=20, rounds=3))
    boosted = learn(GBLMNN(components=30, size=20, rounds=3, trees=0))
    assert np.array_equal(boosted.transform(IMAGES), linear.transform(IMAGES))


def test_trees_lower_the_objective():
    boosted = GBLMNN(components=30, size=20, trees=10, rounds=3)
    boosted.fit(IMAGES[TRAIN], NAMES[TRAIN], validation=(IMAGES[:0], NAMES[:0]))
    assert len(boosted.trees_) > 5
    before = boosted.linear_.transform(IMAGES[TRAIN])
    after = boosted.transform(IMAGES[TRAIN])
    targets = find_targets(boosted._components(IMAGES[TRAIN]), NAMES[TRAIN], 3)
    impostors = find_impostors(before, NAMES[TRAIN], 50)
    values = [margin_loss(points, targets, impostors, 0.5)[0] for points in (before, after)]
    assert values[1] < values[0]
