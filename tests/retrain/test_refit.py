import numpy as np
import pytest
import torch
from digit_stream import SMALL, digit_stream

from csim.build import build
from csim.records import Job
from csim.retrain.refit import draw_held_out
from csim.settings import Settings


def job(version: int = 1, seed: int = 5, names: tuple[str, ...] = ()) -> Job:
    stream = digit_stream()
    images = np.concatenate([stream.warm_up, stream.images])
    labels = np.array([int(name) for name in stream.warm_up_names + stream.names])
    keep = np.isin(labels, [int(name) for name in names or set(stream.warm_up_names)])
    return Job(version, seed, images[keep][:300], labels[keep][:300])


def train(settings: Settings, *jobs: Job):
    refit, model = build(settings).refit, None
    for one in jobs:
        model = refit.train(one, model)
    return model


def test_the_same_job_gives_the_same_model():
    one, two = (train(Settings(**SMALL), job()) for _ in range(2))
    assert all((one.network[name] == two.network[name]).all() for name in one.network)


def test_another_seed_gives_another_model():
    one, two = (train(Settings(**SMALL), job(seed=seed)) for seed in (1, 2))
    assert not np.allclose(one.weights, two.weights)


def test_torchs_own_generator_is_left_alone():
    before = torch.random.get_rng_state()
    train(Settings(**SMALL), job())
    assert (torch.random.get_rng_state() == before).all()


def test_the_models_layer_equals_its_network():
    model = train(Settings(**SMALL), job())
    directions = model.network["one_vs_rest.directions"]
    unit = directions / np.linalg.norm(directions, axis=1, keepdims=True)
    assert np.allclose(model.weights, unit * model.network["one_vs_rest.scale"], atol=1e-5)
    assert model.class_ids == tuple(sorted(set(job().labels.tolist())))


@pytest.mark.parametrize("warm_start", [True, False])
def test_a_warm_start_begins_where_the_model_before_ended(warm_start):
    settings = Settings(**SMALL | {"epochs": 1, "learning_rate": 1e-9, "warm_start": warm_start})
    first = train(settings, job())
    grown = train(settings, job(), job(version=2, seed=9, names=tuple("0123456789")))
    shared = [grown.class_ids.index(class_id) for class_id in first.class_ids]
    is_same = np.allclose(grown.network["body.hidden.weight"], first.network["body.hidden.weight"], atol=1e-6)
    assert is_same == warm_start
    assert np.allclose(grown.weights[shared], first.weights, atol=1e-4) == warm_start
    assert len(grown.class_ids) > len(first.class_ids)


def test_held_out_images_are_kept_out_and_travel_with_the_model():
    quantile = train(Settings(**SMALL, threshold="quantile", hold_out=0.2), job())
    labels, counts = np.unique(job().labels, return_counts=True)
    assert [np.sum(quantile.held_out_labels == label) for label in labels] == [round(0.2 * n) for n in counts]
    assert np.allclose(np.linalg.norm(quantile.held_out, axis=1), 1, atol=1e-5)
    assert len(train(Settings(**SMALL), job()).held_out) == 0


@pytest.mark.parametrize(("count", "held"), [(2, 0), (3, 1), (4, 1), (10, 1), (50, 5)])
def test_a_tenth_is_held_out_but_never_the_last_two(count, held):
    is_held = draw_held_out(np.zeros(count, int), 0.1, np.random.default_rng(0))
    assert is_held.sum() == held


def test_nothing_is_held_out_for_a_share_of_zero():
    assert not draw_held_out(np.zeros(50, int), 0, np.random.default_rng(0)).any()
