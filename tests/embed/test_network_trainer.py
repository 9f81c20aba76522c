import itertools
from copy import deepcopy

import numpy as np
import pytest
import torch

from csim.embed.augment import Augment
from csim.embed.batches import Balanced, Plain
from csim.embed.inputs import to_inputs
from csim.embed.losses import JointLoss, by_triplets, evenly
from csim.embed.mining import AllPositive
from csim.embed.network import ConvBody, OpenWorldNetwork
from csim.embed.network_trainer import NetworkTrainer, seeded

CPU = torch.device("cpu")


def make_network(labels, *, seed=0, batch_norm=False):
    with seeded(seed):
        body = ConvBody(
            (8, 8),
            conv_layers=1,
            channels=8,
            kernel=5,
            batch_norm=batch_norm,
            hidden_units=32,
            embedding_size=16,
        )
        return OpenWorldNetwork(body, np.unique(labels).tolist())


def unchanged(inputs, rng):
    return inputs


def make_network_trainer(
    *, epochs=1, batches=None, weighting=evenly, augment=unchanged, learning_rate=3e-3
):
    loss = JointLoss(beta=0.05, margin=1.0, mining=AllPositive(), weighting=weighting)
    return NetworkTrainer(
        loss,
        batches or Balanced(32),
        augment,
        epochs=epochs,
        learning_rate=learning_rate,
        update_rate=learning_rate,
    )


def train(images, labels, *, seed=0, steps=0, progress=None, batch_norm=False, **options):
    network = make_network(labels, seed=seed, batch_norm=batch_norm)
    make_network_trainer(**options).fit(
        network,
        to_inputs(images, CPU),
        labels,
        rng=np.random.default_rng(seed),
        steps=steps,
        progress=progress,
    )
    return network


def test_the_same_seed_gives_the_same_weights_and_another_seed_others(some_digits):
    images, labels = some_digits
    first, second, other = (
        train(images[:150], labels[:150], seed=seed).arrays() for seed in (3, 3, 4)
    )
    assert all((first[name] == second[name]).all() for name in first)
    assert not (first["body.hidden.weight"] == other["body.hidden.weight"]).all()


@pytest.mark.parametrize(
    "options",
    [
        {"weighting": evenly},
        {"weighting": by_triplets, "batches": Plain(32)},
        {"batch_norm": True, "augment": Augment(1)},
    ],
    ids=["evenly", "as the paper", "as by default"],
)
def test_a_network_learns_five_digits(some_digits, options):
    images, labels = some_digits
    network = train(images[:600], labels[:600], epochs=8, **options)
    with torch.inference_mode():
        guesses = network(to_inputs(images[600:], CPU))[1].argmax(1).numpy()
    assert (guesses == labels[600:]).mean() > 0.95


def test_training_pulls_classes_apart(some_digits):
    images, labels = some_digits
    apart = []
    for network in (make_network(labels), train(images[:600], labels[:600], epochs=6)):
        with torch.inference_mode():
            vectors = network.body(to_inputs(images[600:], CPU)).numpy()
        distances = np.linalg.norm(vectors[:, None] - vectors[None, :], axis=2)
        is_same = labels[600:, None] == labels[None, 600:]
        apart.append(distances[~is_same].mean() / distances[is_same].mean())
    assert apart[1] > 2 * apart[0]


def test_progress_is_told_once_per_epoch_with_a_falling_loss(some_digits):
    images, labels = some_digits
    reports = []
    train(images[:200], labels[:200], epochs=4, progress=lambda *values: reports.append(values))
    assert [(epoch, epochs) for epoch, epochs, _ in reports] == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert reports[-1][2] < reports[0][2]


class Counted(Plain):
    """Plain batches that remember how many were dealt."""

    count = 0

    def epoch(self, columns, rng):
        for batch in super().epoch(columns, rng):
            self.count += 1
            yield batch


@pytest.mark.parametrize("steps", [1, 3, 4, 5, 8, 11])
def test_a_network_is_trained_for_exactly_so_many_batches(some_digits, steps):
    images = some_digits[0][:128]
    labels = some_digits[1][:128]  # four batches an epoch
    rows = []
    reports = []

    def note(inputs, rng):
        rows.append(len(inputs))
        return inputs

    train(
        images, labels, steps=steps, epochs=99, batches=Plain(32), augment=note,
        progress=lambda *values: reports.append(values),
    )  # fmt: skip
    assert rows == [32] * steps
    epochs = -(-steps // 4)
    assert [epoch for epoch, _, _ in reports] == list(range(1, epochs + 1))
    assert reports[-1][0] == reports[-1][1]


@pytest.mark.parametrize("count", [96, 97, 98, 33, 2])
@pytest.mark.parametrize("epochs", [1, 3])
def test_without_steps_every_image_is_learned_from_once_an_epoch(some_digits, epochs, count):
    images = some_digits[0][:count]
    labels = some_digits[1][:count]
    batches = Counted(32)
    reports = []
    train(
        images,
        labels,
        epochs=epochs,
        batches=batches,
        progress=lambda *values: reports.append(values[:2]),
    )
    assert reports == [(epoch, epochs) for epoch in range(1, epochs + 1)]
    assert batches.count == epochs * len(list(Plain(32).epoch(labels, np.random.default_rng(0))))


def test_with_steps_the_learning_rate_stays_and_another_network_gets_the_mean(some_digits):
    """Adam moves a weight by about its rate while its gradient keeps its sign."""
    images = some_digits[0][:64]
    labels = some_digits[1][:64]
    network = make_network(labels)
    mean = deepcopy(network)
    weights = []

    def note(inputs, rng):
        weights.append(network.body.hidden.weight.detach().clone())
        return inputs

    trainer = make_network_trainer(batches=Plain(64), augment=note, learning_rate=1e-3)
    trainer.fit(
        network, to_inputs(images, CPU), labels, rng=np.random.default_rng(0), steps=10, mean=mean
    )
    weights.append(network.body.hidden.weight.detach().clone())
    moves = [float((after - before).abs().max()) for before, after in itertools.pairwise(weights)]
    assert moves[0] == pytest.approx(1e-3, rel=1e-2)
    assert min(moves) > 0.5e-3
    expected = weights[0]
    for after in weights[1:]:
        expected = expected + (after - expected) * 2 / 10
    assert torch.allclose(mean.body.hidden.weight, expected, atol=1e-6)


def test_a_batch_is_changed_before_it_is_learned_from_and_the_inputs_stay(some_digits):
    images = some_digits[0][:64]
    labels = some_digits[1][:64]
    plain, dark, same = (
        train(images, labels, augment=augment).arrays()
        for augment in (
            unchanged,
            lambda inputs, rng: inputs * 0.1,
            lambda inputs, rng: inputs.clone(),
        )
    )
    assert not np.allclose(plain["body.hidden.weight"], dark["body.hidden.weight"])
    assert all((plain[name] == same[name]).all() for name in plain)
    inputs = to_inputs(images, CPU)
    before = inputs.clone()
    trainer = make_network_trainer(augment=Augment(2, flip=True))
    trainer.fit(make_network(labels), inputs, labels, rng=np.random.default_rng(0))
    assert torch.equal(inputs, before)


def test_the_same_seed_moves_images_the_same_way(some_digits):
    images = some_digits[0][:100]
    labels = some_digits[1][:100]
    first, second = (
        train(images, labels, augment=Augment(2), batch_norm=True).arrays() for _ in range(2)
    )
    assert all((first[name] == second[name]).all() for name in first)


def test_torchs_own_generator_is_left_as_it_was(some_digits):
    images, labels = some_digits
    before = torch.get_rng_state()
    train(images[:100], labels[:100], seed=9)
    assert torch.equal(torch.get_rng_state(), before)


def test_the_global_generator_has_no_influence(some_digits):
    images, labels = some_digits
    with torch.random.fork_rng():
        torch.manual_seed(1)
        first = train(images[:100], labels[:100]).arrays()
        torch.manual_seed(2)
        second = train(images[:100], labels[:100]).arrays()
    assert all((first[name] == second[name]).all() for name in first)


def test_a_seeded_block_gives_back_the_generator_even_after_an_error():
    before = torch.get_rng_state()
    with pytest.raises(ZeroDivisionError), seeded(3):
        1 / int(torch.rand(3).sum() * 0)
    assert torch.equal(torch.get_rng_state(), before)


def test_a_trained_network_is_ready_to_be_used(some_digits):
    images, labels = some_digits
    assert not train(images[:64], labels[:64]).training


def test_the_callers_arrays_are_neither_edited_nor_kept(some_digits):
    images = some_digits[0][:100].copy()
    labels = some_digits[1][:100].copy()
    inputs = to_inputs(images, CPU)
    before = inputs.clone()
    images[:] = 0
    assert torch.equal(inputs, before)
    copy = labels.copy()
    train(some_digits[0][:100], labels)
    assert (labels == copy).all()
