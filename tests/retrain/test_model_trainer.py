from functools import partial

import numpy as np
import pytest
import torch
from digit_stream import SMALL, digit_stream

from csim import checkpoint
from csim.build import build
from csim.embed.backbone import OwnBackbone
from csim.embed.batches import Balanced
from csim.embed.losses import JointLoss, evenly
from csim.embed.mining import AllPositive
from csim.embed.network import ConvBody
from csim.embed.network_trainer import NetworkTrainer
from csim.records import Job
from csim.retrain.model_trainer import ModelTrainer, held_out
from csim.settings import Settings

CPU = torch.device("cpu")
make_body = partial(
    ConvBody,
    conv_layers=1,
    channels=8,
    kernel=3,
    batch_norm=False,
    hidden_units=32,
    embedding_size=16,
)


def job(version: int = 1, seed: int = 5, names: tuple[str, ...] = ()) -> Job:
    """Return a job on the first 60 images of each class, all told."""
    stream = digit_stream()
    images = np.concatenate([stream.warm_up, stream.images])
    labels = np.array([int(name) for name in stream.warm_up_names + stream.names])
    wanted = [int(name) for name in names or known_names()]
    keep = np.sort(np.concatenate([np.flatnonzero(labels == label)[:60] for label in wanted]))
    return Job(version, seed, images[keep], labels[keep], np.ones(len(keep), bool))


def known_names() -> tuple[str, ...]:
    return tuple(sorted(set(digit_stream().warm_up_names)))


def grown(version: int = 2) -> Job:
    """Return a job on two classes more."""
    new = [name for name in "0123456789" if name not in known_names()]
    return job(version=version, seed=9, names=(*known_names(), *new[:2]))


def train(settings: Settings, *jobs: Job):
    trainer = build(settings).trainer
    model = None
    for one in jobs:
        model = trainer.train(one, model)
    return model


def make_trainer(
    backbone=None,
    *,
    learning_rate=3e-3,
    epochs=2,
    hold_out=0.0,
    update_steps=0,
    update_epochs=0,
    batches=None,
):
    """Return a trainer and the list of the batches that it trains on."""
    sizes = []

    def note(inputs, rng):
        sizes.append(len(inputs))
        return inputs

    loss = JointLoss(beta=0.0, margin=1.0, mining=AllPositive(), weighting=evenly)
    trainer = NetworkTrainer(
        loss,
        batches or Balanced(32),
        note,
        epochs=epochs,
        learning_rate=learning_rate,
        update_rate=learning_rate,
    )
    backbone = backbone or OwnBackbone(make_body, CPU)
    return ModelTrainer(
        backbone,
        trainer,
        device=CPU,
        hold_out=hold_out,
        update_steps=update_steps,
        update_epochs=update_epochs,
        scale=10.0,
    ), sizes


def test_the_same_job_gives_the_same_model():
    one, two = (train(Settings(**SMALL), job()) for _ in range(2))
    assert all((one.network[name] == two.network[name]).all() for name in one.network)


def test_the_same_job_after_the_same_model_gives_the_same_model():
    one, two = (train(Settings(**SMALL | {"update_steps": 3}), job(), grown()) for _ in range(2))
    assert all((one.network[name] == two.network[name]).all() for name in one.network)


def test_another_seed_gives_another_model():
    one, two = (make_trainer()[0].train(job(seed=seed)) for seed in (1, 2))
    assert not np.allclose(one.weights, two.weights)


def test_torchs_own_generator_is_left_alone():
    before = torch.random.get_rng_state()
    make_trainer()[0].train(job())
    assert (torch.random.get_rng_state() == before).all()


def test_the_models_layer_equals_its_network():
    model = make_trainer()[0].train(job())
    directions = model.network["one_vs_rest.directions"]
    unit = directions / np.linalg.norm(directions, axis=1, keepdims=True)
    assert np.allclose(model.weights, unit * model.network["one_vs_rest.scale"], atol=1e-5)
    assert model.class_ids == tuple(sorted(set(job().labels.tolist())))


@pytest.mark.parametrize("update", [{"update_steps": 1}, {"update_epochs": 1}, {}])
def test_with_steps_or_epochs_a_model_begins_where_the_model_before_ended(update):
    trainer, _ = make_trainer(learning_rate=1e-9, epochs=1, **update)
    first = trainer.train(job())
    after = trainer.train(grown(), first)
    shared = [after.class_ids.index(class_id) for class_id in first.class_ids]
    is_same = np.allclose(
        after.network["body.hidden.weight"], first.network["body.hidden.weight"], atol=1e-6
    )
    assert is_same == bool(update)
    assert np.allclose(after.weights[shared], first.weights, atol=1e-4) == bool(update)
    assert len(after.class_ids) == len(first.class_ids) + 2


def test_a_model_is_the_mean_and_the_next_training_starts_from_the_last_weights():
    trainer, _ = make_trainer(update_steps=6)
    first = trainer.train(job())
    second = trainer.train(grown(), first)
    assert first.in_training == {}
    assert not np.allclose(
        second.in_training["body.hidden.weight"], second.network["body.hidden.weight"], atol=1e-5
    )
    still, _ = make_trainer(learning_rate=1e-9, update_steps=1)  # a step that moves nothing
    third = still.train(grown(version=3), second)
    for name in ("body.hidden.weight", "one_vs_rest.directions"):
        assert np.allclose(third.in_training[name], second.in_training[name], atol=1e-6)


def test_a_model_keeps_the_last_weights_in_its_file(tmp_path):
    trainer, _ = make_trainer(update_steps=4)
    model = trainer.train(grown(), trainer.train(job()))
    checkpoint.write(tmp_path / "model", checkpoint.model_state(model))
    read = checkpoint.model_from(checkpoint.read(tmp_path / "model"))
    one, two = (trainer.train(grown(version=3), before) for before in (model, read))
    assert all((one.network[name] == two.network[name]).all() for name in one.network)
    assert one.in_training.keys() == two.in_training.keys() == one.network.keys()


def test_a_model_file_without_last_weights_continues_from_the_model(tmp_path):
    """Model files from before csim kept the last weights have none."""
    trainer, _ = make_trainer(update_steps=4)
    first = trainer.train(job())
    state = checkpoint.model_state(first)
    del state["in_training"]
    checkpoint.write(tmp_path / "model", state)
    read = checkpoint.model_from(checkpoint.read(tmp_path / "model"))
    one, two = (trainer.train(grown(), before) for before in (first, read))
    assert all((one.network[name] == two.network[name]).all() for name in one.network)


def test_a_new_class_begins_at_the_mean_of_its_images_that_are_trained_on():
    trainer, _ = make_trainer(learning_rate=1e-9, hold_out=0.3, update_steps=1)
    first = trainer.train(job())
    more = grown()
    after = trainer.train(more, first)
    columns = np.unique(more.labels, return_inverse=True)[1]
    is_held = held_out(more.images, columns, more.is_told, 0.3)
    encoder = OwnBackbone(make_body, CPU).open(first)
    new = [class_id for class_id in after.class_ids if class_id not in first.class_ids]
    assert len(new) == 2
    for class_id in new:
        assert is_held[more.labels == class_id].any()
        mean = encoder.embed(more.images[(more.labels == class_id) & ~is_held]).mean(axis=0)
        weights = after.weights[after.class_ids.index(class_id)]
        assert weights / np.linalg.norm(weights) == pytest.approx(
            mean / np.linalg.norm(mean), abs=1e-3
        )


def test_the_first_model_is_trained_for_all_epochs_and_later_ones_for_so_many_steps():
    trainer, sizes = make_trainer(epochs=3, update_steps=7)
    first = trainer.train(job())
    count = len(job().images)
    assert len(sizes) == 3 * -(-count // 32)
    sizes.clear()
    trainer.train(grown(), first)
    assert len(sizes) == 7


def test_later_models_can_be_trained_for_so_many_epochs():
    trainer, sizes = make_trainer(epochs=3, update_epochs=2)
    first = trainer.train(job())
    sizes.clear()
    trainer.train(grown(), first)
    assert len(sizes) == 2 * -(-len(grown().images) // 32)


def test_without_steps_every_model_is_trained_for_all_epochs():
    trainer, sizes = make_trainer(epochs=3)
    first = trainer.train(job())
    sizes.clear()
    trainer.train(grown(), first)
    assert len(sizes) == 3 * -(-len(grown().images) // 32)


def test_held_out_images_are_kept_out_and_travel_with_the_model_as_it_sees_them():
    seen = []

    class Watching(OwnBackbone):
        def inputs(self, images):
            inputs = super().inputs(images)
            seen.append(inputs)
            return inputs

    rows = []

    class Noting(Balanced):
        def epoch(self, columns, rng):
            rows.append(len(columns))
            return super().epoch(columns, rng)

    trainer, _ = make_trainer(Watching(make_body, CPU), hold_out=0.2, batches=Noting(32))
    one = job()
    model = trainer.train(one)
    is_held = held_out(one.images, np.unique(one.labels, return_inverse=True)[1], one.is_told, 0.2)
    assert 0 < is_held.sum() < len(one.images) / 2
    assert set(rows) == {int((~is_held).sum())}
    expected = OwnBackbone(make_body, CPU).open(model).embed(one.images[is_held])
    assert model.held_out == pytest.approx(expected, abs=1e-6)


def test_without_a_share_nothing_is_held_out():
    assert len(make_trainer()[0].train(job()).held_out) == 0


def draw_images(count, seed=0):
    return np.random.default_rng(seed).integers(0, 256, (count, 8, 8), np.uint8)


def hold(images, columns=None, is_told=None, share=0.2):
    columns = np.zeros(len(images), int) if columns is None else columns
    return held_out(
        images, columns, np.ones(len(images), bool) if is_told is None else is_told, share
    )


@pytest.mark.parametrize("share", [0.05, 0.1, 0.3])
def test_about_a_share_of_the_images_is_held_out(share):
    images = draw_images(600)
    columns = np.arange(600) % 6
    held = hold(images, columns, share=share).mean()
    assert held == pytest.approx(share * 95 / 100, abs=4 * np.sqrt(share / 600))


def test_the_same_images_are_held_out_whatever_else_is_in_the_job():
    images = draw_images(300)
    once = hold(images)
    more = np.concatenate([images, draw_images(200, seed=1)])
    assert (hold(more)[:300] == once).all()
    columns = np.repeat([1, 0], [300, 200])
    assert (hold(more, columns)[:300] == once).all()
    turned = np.concatenate([more[300:], more[:300]])
    assert (hold(turned, np.repeat([0, 1], [200, 300]))[200:] == once).all()
    assert (hold(images.copy()) == once).all()


def test_another_share_holds_out_more_of_the_same():
    images = draw_images(300)
    few = hold(images, share=0.1)
    many = hold(images, share=0.2)
    assert many[few].all()
    assert many.sum() > few.sum()


@pytest.mark.parametrize("count", [1, 5, 6, 40])
def test_the_first_five_images_of_a_class_are_never_held_out(count):
    images = draw_images(3 * count)
    columns = np.arange(3 * count) % 3
    is_held = hold(images, columns, share=1.0)
    for column in range(3):
        assert is_held[columns == column].tolist() == [index >= 5 for index in range(count)]


def test_what_is_held_out_stays_so_while_a_class_grows():
    images = draw_images(500)
    columns = np.repeat([0, 1], [450, 50])
    is_held = hold(images, columns, share=0.5)
    early = hold(images[:150], columns[:150], share=0.5)
    assert 50 < early.sum() < 100
    assert (is_held[:150] == early).all()


def test_only_images_that_a_person_saw_are_held_out():
    images = draw_images(400)
    is_told = np.random.default_rng(1).random(400) < 0.5
    is_held = hold(images, is_told=is_told)
    assert not is_held[~is_told].any()
    assert (is_held == (hold(images) & is_told)).all()
    assert is_held.sum() > 20


def test_nothing_is_held_out_for_a_share_of_zero_and_of_nothing():
    assert not hold(draw_images(50), share=0).any()
    assert hold(draw_images(0)).shape == (0,)
