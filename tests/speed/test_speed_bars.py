"""How fast it must be. Every bar is a ratio inside one run, so that a slow machine is no failure."""

import pytest

from csim.bench.tables import speed
from csim.settings import Settings

pytestmark = pytest.mark.slow


def test_the_triplet_loss_is_twenty_times_as_fast_as_the_cube():
    ours, cube = speed.race_losses(size=256)
    assert cube / ours >= speed.LOSS_BAR


@pytest.mark.data
def test_the_joint_loss_trains_at_most_half_as_long_again_as_cross_entropy(split_of):
    train, _ = split_of("fashion-mnist")
    joint, cross_entropy = speed.race_training(train, Settings.paper(epochs=1), rounds=7)
    assert joint / cross_entropy <= speed.TRAINING_BAR


@pytest.mark.data
def test_observing_reaches_seventy_percent_of_the_bare_network(split_of):
    train, _ = split_of("fashion-mnist")
    observe, network = speed.race_observing(train)
    assert network / observe >= speed.OBSERVE_BAR
