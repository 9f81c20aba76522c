"""Models of frozen vectors: what they hold, what they expect, and which encoder they name."""

from dataclasses import replace

import numpy as np
import pytest

from csim.build import build
from csim.embed.class_means import fit_class_means
from csim.embed.whitening import Whitening
from csim.records import EncoderId, Job
from csim.retrain.frozen_trainer import FrozenTrainer
from csim.settings import Settings

IDENTITY = EncoderId("lite0", "ab12")


def job(labels=(3, 7, 9), each=30, version=1):
    rng = np.random.default_rng(0)
    images = rng.normal(size=(len(labels) * each, 12)) + np.repeat(
        np.eye(12)[list(labels)], each, 0
    )
    told = np.ones(len(images), bool)
    return Job(version, 5, images.astype(np.float16), np.repeat(labels, each), told)


def metric(model):
    """Return the version of the first model that gives the same vectors."""
    return Whitening.from_arrays(model.network).version


def test_a_model_is_the_whitening_and_the_means_of_all_images():
    model = FrozenTrainer(IDENTITY, expect=True).train(job())
    columns = np.repeat(np.arange(3), 30)
    inputs = job().images.astype(np.float32)
    whitening = Whitening.fit(inputs, columns)
    vectors = whitening.apply(inputs)
    weights, bias = fit_class_means(vectors, columns)
    assert (model.version, model.class_ids, model.image_shape) == (1, (3, 7, 9), (12,))
    assert (model.weights == weights).all()
    assert (model.bias == bias).all()
    assert (Whitening.from_arrays(model.network).apply(inputs) == vectors).all()
    assert len(model.held_out) == len(model.trained) == 0


def test_a_model_says_which_scores_new_images_of_each_class_can_expect():
    model = FrozenTrainer(IDENTITY, expect=True).train(job())
    again = FrozenTrainer(IDENTITY, expect=True).train(job())
    assert model.expected.shape == (3, 3 * 20)
    assert ((model.expected > 0) & (model.expected < 1)).all()
    assert (model.expected == again.expected).all()
    assert FrozenTrainer(IDENTITY, expect=False).train(job()).expected.size == 0


def test_what_a_model_was_trained_on_is_kept_if_thresholds_need_it():
    model = FrozenTrainer(None, expect=False, keep_trained=True).train(job())
    assert len(model.held_out) == 0
    assert model.trained.shape == (90, 12)
    assert (model.trained_ids == job().labels).all()


def test_the_model_before_changes_nothing_but_the_name_of_the_encoder_after_many_new_images():
    first = FrozenTrainer(IDENTITY, expect=True).train(job(labels=(3, 7)))
    assert first.encoder == IDENTITY
    elsewhere = FrozenTrainer(None, expect=True)
    after = elsewhere.train(job(version=2), first)
    alone = elsewhere.train(job(version=2))
    assert (after.encoder, alone.encoder) == (IDENTITY, None)
    assert (after.weights == alone.weights).all()
    assert (metric(first), metric(after)) == (1, 2)


def test_a_few_new_images_leave_the_whitening_as_it_is_for_ten_models():
    trainer = FrozenTrainer(IDENTITY, expect=True)
    first = trainer.train(job(each=320))
    model = first
    metrics = []
    for version in range(2, 13):
        more = job(each=340, version=version)
        model = trainer.train(more, model)
        metrics.append(metric(model))
        if metric(model) == 1:
            assert all((model.network[name] == first.network[name]).all() for name in model.network)
            assert (model.weights != first.weights).any()
    assert metrics == [1] * 9 + [11] * 2


@pytest.mark.parametrize(
    ("before", "after", "is_kept"),
    [
        (400, 360, False),
        (400, 365, True),
        (400, 439, True),
        (400, 440, False),
        (299, 299, False),  # three classes
        (300, 300, True),
    ],
)
def test_the_whitening_serves_about_as_many_images_if_they_are_many(before, after, is_kept):
    trainer = FrozenTrainer(IDENTITY, expect=True)
    model = trainer.train(job(each=after, version=2), trainer.train(job(each=before)))
    assert (metric(model) == 1) == is_kept


def test_the_model_after_one_of_an_earlier_version_of_csim_has_a_whitening_of_its_own():
    trainer = FrozenTrainer(IDENTITY, expect=True)
    new = trainer.train(job(each=400, version=4))
    kept = {"body.mean", "body.axes", "body.damping"}
    old = replace(new, network={name: new.network[name] for name in kept})
    assert metric(old) == 0
    assert metric(trainer.train(job(each=400, version=5), old)) == 5


@pytest.mark.parametrize(
    ("settings", "expected", "kept"),
    [
        (Settings(encoder="lite0"), True, False),
        (Settings.paper(encoder="lite0"), False, True),
        (Settings(encoder="lite0", threshold="mean-bound"), False, False),
    ],
)
def test_the_threshold_decides_what_a_model_expects_and_keeps(settings, expected, kept):
    model = build(settings).trainer.train(job(each=100))
    assert (model.expected.size > 0, len(model.trained) > 0) == (expected, kept)
