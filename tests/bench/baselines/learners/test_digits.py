"""Accuracy of the learners on scikit-learn's digits, with three neighbours."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from csim.bench.baselines.learners.gb_lmnn import GBLMNN
from csim.bench.baselines.learners.hdml import HDML
from csim.bench.baselines.learners.knn import nearest, vote
from csim.bench.baselines.learners.lmnn import LMNN
from csim.bench.baselines.learners.sklr import SKLR

# A thousand images need a smaller kernel, and fewer comparisons, than the tables' data sets.
LEARNERS = {
    "lmnn": LMNN(),
    "gb-lmnn": GBLMNN(),
    "hdml": HDML(),
    "sklr": SKLR(rank=100, comparisons=2000),
}


@pytest.fixture(scope="module")
def accuracies():
    images, names = load_digits(return_X_y=True)
    train, test, train_names, test_names = train_test_split(
        (images / 16).astype(np.float32), names, test_size=0.4, random_state=0, stratify=names
    )

    def accuracy(gallery, queries):
        return 100 * np.mean(vote(train_names[nearest(gallery, queries, 3)], 3) == test_names)

    for learner in LEARNERS.values():
        learner.fit(train, train_names)
    found = {
        name: accuracy(learner.gallery(train), learner.transform(test))
        for name, learner in LEARNERS.items()
    }
    return found | {"pixels": accuracy(train, test)}


@pytest.mark.slow
@pytest.mark.parametrize(("learner", "least"), [("lmnn", 98.9), ("hdml", 96), ("sklr", 98.8)])
def test_digits_are_recognised(accuracies, learner, least):
    assert accuracies[learner] >= least


@pytest.mark.slow
def test_trees_lose_little_of_the_linear_map(accuracies):
    assert accuracies["gb-lmnn"] >= accuracies["lmnn"] - 0.2


@pytest.mark.slow
def test_a_learned_map_is_better_than_pixels(accuracies):
    assert accuracies["lmnn"] > accuracies["pixels"]
