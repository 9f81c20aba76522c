"""The baseline of logistic regression."""

import numpy as np
import pytest

from csim.bench.baselines.logistic import Logistic, LogisticSettings, SmallestMargin, margins
from csim.discover.scene import Scene
from csim.errors import SettingsError
from csim.records import EncoderId, Item
from csim.settings import Settings


class Flat:
    """An encoder whose vector is the image, in place of the one that the settings name."""

    identity = EncoderId("lite0", "")

    def embed(self, images):
        return np.asarray(images, np.float32).reshape(len(images), -1)


def points(rng, centre, count):
    """Draw images of 8×8 pixels around a grey level per quarter."""
    values = np.kron(np.reshape(centre, (2, 2)), np.ones((4, 4)))
    return np.clip(values + rng.normal(0, 12, (count, 8, 8)), 0, 255).astype(np.uint8)


CENTRES = {"a": (40, 200, 40, 200), "b": (200, 40, 200, 40), "c": (200, 200, 40, 40)}


def test_a_new_class_is_asked_about_and_learned():
    rng = np.random.default_rng(0)
    events = []
    method = Logistic(LogisticSettings(share=0.2), Flat(), events.append)
    known = np.concatenate([points(rng, CENTRES[name], 20) for name in "ab"])
    method.fit(known, ["a"] * 20 + ["b"] * 20)
    names = rng.choice(list(CENTRES), 500)
    stream = np.concatenate([points(rng, CENTRES[name], 1) for name in names])
    for start in range(0, 500, 25):
        method.observe(stream[start : start + 25])
        method.tell({q.id: str(names[int(q.representative.id) - 1]) for q in method.questions()})
    assert set(method.classes_) == set(CENTRES)
    best = method.classes_[method.predict_proba(stream[-100:]).argmax(axis=1)]
    assert np.mean(best == names[-100:]) > 0.95


def test_csims_own_network_is_no_encoder_for_it():
    with pytest.raises(SettingsError, match=r"must be a pretrained one.*got 'own'"):
        LogisticSettings(encoder="own")


class Scored:
    """A viewer and a head: scores of items as they were given."""

    class_ids = (0, 1, 2)

    def __init__(self, scores):
        self._scores = scores

    def scores(self, items, head):
        return np.array([self._scores[item.position] for item in items])


def test_it_asks_about_the_smallest_margins_among_the_newest_images():
    scores = np.array([[0.5, 0.5, 0.1], [0.9, 0.2, 0.1], [0.6, 0.5, 0.1], [0.1, 0.1, 0.9]])
    items = [Item(str(index), index, np.full((2, 2), index, np.uint8)) for index in range(4)]
    model = Scored(scores)
    scene = Scene(items, model, model, store=None)
    found = SmallestMargin(newest=3).choose(scene, 2, [])
    assert [pick.representative for pick in found.picks] == [2, 1]


@pytest.mark.parametrize("classes", [0, 1])
def test_without_a_second_class_there_is_no_margin(classes):
    assert margins(np.full((4, classes), 0.7)).tolist() == [0] * 4


def test_it_searches_and_learns_as_often_as_csim_does_with_the_same_budget():
    engine = LogisticSettings(share=0.01, seed=4).engine
    assert engine == Settings.photographs(questions="least-sure", budget=0.01, seed=4)
