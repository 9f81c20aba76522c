"""Identical pixels are asked about once, however often they come."""

from collections import Counter

import numpy as np
import pytest
from digit_stream import SIZES, SMALL, of

from csim.classifier import StreamClassifier
from csim.records import Asked, Labelled
from csim.settings import Settings

PRESETS = {
    "default": Settings(**SMALL | {"ask_every": 10, "budget": 1.0}),
    "least sure": Settings(**SIZES, questions="least-sure", recent=60, ask_every=10, budget=0.5),
    "random": Settings(**SIZES, questions="random", recent=60, ask_every=10, budget=0.5),
}


def torn(settings):
    """Return a classifier for which one picture is of two classes, and that picture."""
    rng = np.random.default_rng(0)
    picture = rng.integers(0, 256, (8, 8)).astype(np.uint8)
    shades = [rng.normal(mean, 20, (10, 8, 8)).clip(0, 255).astype(np.uint8) for mean in (60, 190)]
    images = np.concatenate([shades[0], [picture] * 10, shades[1], [picture] * 10])
    return StreamClassifier(settings).fit(images, ["dark"] * 20 + ["light"] * 20), picture


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("answer", [None, "dark"])
def test_a_picture_of_two_classes_is_asked_about_once(preset, answer):
    clf, picture = torn(PRESETS[preset])
    asked = []
    for _ in range(8):
        for event in of(Asked, clf.observe(np.stack([picture] * 5))):
            asked.append(event.question)
            if answer:
                clf.tell(event.question.id, answer)
    shown = Counter(question.representative.image.tobytes() for question in asked)
    assert max(shown.values()) == 1


def test_the_one_answer_labels_the_copies_that_came_before_it():
    clf, picture = torn(PRESETS["least sure"])
    clf.observe(np.stack([picture] * 20))
    (question,) = clf.questions()
    assert len(question.members) > 10
    labelled = of(Labelled, clf.tell(question.id, "dark"))
    assert {event.item_id for event in labelled} == {item.id for item in question.members}
