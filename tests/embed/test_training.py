import numpy as np
import pytest
import torch

from csim.embed.batches import Balanced, Plain
from csim.embed.encoder import to_inputs
from csim.embed.losses import JointLoss, by_triplets, evenly
from csim.embed.mining import AllPositive
from csim.embed.network import ConvBody, OpenWorldNetwork
from csim.embed.training import Trainer, seeded

CPU = torch.device("cpu")


def train(images, labels, *, seed=0, epochs=1, batches=None, weighting=evenly, progress=None):
    with seeded(seed):
        body = ConvBody((8, 8), conv_layers=1, channels=8, hidden_units=32, embedding_size=16)
        network = OpenWorldNetwork(body, np.unique(labels).tolist())
    loss = JointLoss(beta=0.05, margin=1.0, mining=AllPositive(), weighting=weighting)
    trainer = Trainer(loss, batches or Balanced(32), epochs=epochs, learning_rate=3e-3)
    trainer.fit(network, to_inputs(images, CPU), labels, rng=np.random.default_rng(seed), progress=progress)
    return network


def test_the_same_seed_gives_the_same_weights_and_another_seed_others(some_digits):
    images, labels = some_digits
    first, second, other = (train(images[:150], labels[:150], seed=seed).arrays() for seed in (3, 3, 4))
    assert all((first[name] == second[name]).all() for name in first)
    assert not (first["body.hidden.weight"] == other["body.hidden.weight"]).all()


@pytest.mark.parametrize("weighting", [evenly, by_triplets])
@pytest.mark.parametrize("batches", [Balanced(32), Plain(32)], ids=["balanced", "plain"])
def test_a_network_learns_five_digits(some_digits, batches, weighting):
    images, labels = some_digits
    network = train(images[:600], labels[:600], epochs=8, batches=batches, weighting=weighting)
    with torch.inference_mode():
        guesses = network(to_inputs(images[600:], CPU))[1].argmax(1).numpy()
    assert (guesses == labels[600:]).mean() > 0.95


def test_training_pulls_classes_apart(some_digits):
    images, labels = some_digits
    apart = []
    for epochs in (0, 6):
        network = train(images[:600], labels[:600], epochs=epochs)
        with torch.inference_mode():
            vectors = network.body(to_inputs(images[600:], CPU)).numpy()
        distances = np.linalg.norm(vectors[:, None] - vectors[None, :], axis=2)
        is_same = labels[600:, None] == labels[None, 600:]
        apart.append(distances[~is_same].mean() / distances[is_same].mean())
    assert apart[1] > 2 * apart[0]


def test_progress_is_told_once_per_epoch_with_a_falling_loss(some_digits):
    images, labels = some_digits
    told = []
    train(images[:200], labels[:200], epochs=4, progress=lambda *values: told.append(values))
    assert [(epoch, epochs) for epoch, epochs, _ in told] == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert told[-1][2] < told[0][2]


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
    images, labels = some_digits[0][:100].copy(), some_digits[1][:100].copy()
    inputs = to_inputs(images, CPU)
    before = inputs.clone()
    images[:] = 0
    assert torch.equal(inputs, before)
    own = labels.copy()
    train(some_digits[0][:100], labels)
    assert (labels == own).all()
