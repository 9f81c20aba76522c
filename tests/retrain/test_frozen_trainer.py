"""Models of frozen vectors: what they hold, what is held out, and which encoder they name."""

import numpy as np
import pytest

from csim.build import build
from csim.embed.class_means import fit_class_means
from csim.embed.whitening import Whitening
from csim.records import EncoderId, Job
from csim.retrain.frozen_trainer import FrozenTrainer
from csim.retrain.model_trainer import held_out
from csim.settings import Settings

IDENTITY = EncoderId("lite0", "ab12")


def job(labels=(3, 7, 9), each=30, version=1):
    rng = np.random.default_rng(0)
    images = rng.normal(size=(len(labels) * each, 12)) + np.repeat(
        np.eye(12)[list(labels)], each, 0
    )
    told = np.ones(len(images), bool)
    return Job(version, 5, images.astype(np.float16), np.repeat(labels, each), told)


def test_a_model_is_the_whitening_and_the_means_of_what_is_not_held_out():
    model = FrozenTrainer(IDENTITY, hold_out=0.2).train(job())
    columns = np.repeat(np.arange(3), 30)
    is_held = held_out(job().images, columns, job().is_told, 0.2)
    assert 0 < is_held.sum() < 45
    inputs = job().images.astype(np.float32)
    whitening = Whitening.fit(inputs[~is_held], columns[~is_held])
    vectors = whitening.apply(inputs)
    weights, bias = fit_class_means(vectors[~is_held], columns[~is_held])
    assert (model.version, model.class_ids, model.image_shape) == (1, (3, 7, 9), (12,))
    assert (model.weights == weights).all()
    assert (model.bias == bias).all()
    assert model.held_out == pytest.approx(vectors[is_held], abs=1e-6)
    assert (Whitening.from_arrays(model.network).apply(inputs) == vectors).all()
    assert len(model.trained) == 0


def test_what_a_model_was_trained_on_is_kept_if_thresholds_need_it():
    model = FrozenTrainer(None, hold_out=0, keep_trained=True).train(job())
    assert len(model.held_out) == 0
    assert model.trained.shape == (90, 12)
    assert (model.trained_ids == job().labels).all()


def test_the_model_before_changes_nothing_but_the_name_of_the_encoder():
    first = FrozenTrainer(IDENTITY, hold_out=0.1).train(job(labels=(3, 7)))
    assert first.encoder == IDENTITY
    elsewhere = FrozenTrainer(None, hold_out=0.1)
    after = elsewhere.train(job(version=2), first)
    alone = elsewhere.train(job(version=2))
    assert (after.encoder, alone.encoder) == (IDENTITY, None)
    assert (after.weights == alone.weights).all()


@pytest.mark.parametrize(
    ("settings", "held", "kept"),
    [
        (Settings(encoder="lite0"), True, False),
        (Settings.paper(encoder="lite0"), False, True),
        (Settings(encoder="lite0", threshold="mean-bound"), False, False),
    ],
)
def test_the_threshold_decides_what_is_held_out_and_kept(settings, held, kept):
    many = job(each=100)
    model = build(settings).trainer.train(many)
    assert (len(model.held_out) > 0, len(model.trained) > 0) == (held, kept)
