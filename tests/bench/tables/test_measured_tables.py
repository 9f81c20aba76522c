"""Measured tables on scikit-learn's digits, two epochs: their rows, and what always holds."""

from dataclasses import replace

import pytest
import torch
from torch.nn import functional

from csim.bench.datasets.digits import digits
from csim.bench.layout.rows import measure_all
from csim.bench.speed import races
from csim.bench.tables import beta, closed_set, junk, mining, speed
from csim.bench.vectors.samples import cut
from csim.embed.losses import log_distance_matrix
from csim.settings import Settings
from csim.threads import one_thread

pytestmark = pytest.mark.slow

SETTINGS = Settings.paper(epochs=2)


@pytest.fixture(scope="module")
def split():
    return cut(digits(), 500)


@pytest.fixture(scope="module")
def mining_table(split):
    return mining.make(*split, settings=SETTINGS, seeds=[3, 4], per_class=40)


def test_mining_compares_three_readings_at_two_weights_and_alone_beside_none(mining_table):
    settings = [(row["triplets"], row["β"]) for row in mining_table.rows if row["seed"] == 3]
    readings = ["all-positive", "batch-hard", "literal"]
    expected = [
        (reading, weight) for weight in ("0.05", "1.0", "triplets alone") for reading in readings
    ]
    assert settings == [("none", "0.0"), *expected]
    assert len(mining_table.rows) == 20


def test_without_cross_entropy_nothing_is_said_by_the_untrained_layer(mining_table):
    for row in mining_table.rows:
        is_alone = row["β"] == "triplets alone"
        assert (row["accuracy %"] is None) == (row["AUC sigmoid"] is None) == is_alone
        assert 0 <= row["kNN %"] <= 100
        assert 0 <= row["AUC 5th neighbour"] <= 1
        assert 0 < row["within"] < row["between"]


def test_the_readings_differ_and_the_weight_counts(mining_table):
    figures = [row["between"] for row in mining_table.rows if row["seed"] == 3]
    assert len(set(figures)) == len(figures)


def test_the_triplet_loss_alone_pushes_classes_apart(mining_table):
    between = {
        (row["triplets"], row["β"]): row["between"] for row in mining_table.rows if row["seed"] == 3
    }
    assert between["all-positive", "triplets alone"] > between["none", "0.0"]


def test_beta_judges_by_images_of_the_training_part(split):
    train, _ = split
    table = beta.make(train, settings=SETTINGS, seeds=[100], per_class=40)
    assert [row["β"] for row in table.rows] == ["0.0", "0.01", "0.05", "0.2", "1.0"]
    assert all(row["closed set %"] > 20 for row in table.rows)  # ten classes: 10 by chance
    assert table.command == "csim bench beta --seed 100"


def test_closed_set_has_a_row_per_data_set_and_seed(split):
    table = closed_set.make(
        {"digits": split, "again": split}, settings=SETTINGS, seeds=[0, 1], per_class=40
    )
    assert [(row["data set"], row["seed"]) for row in table.rows] == [
        ("digits", 0), ("digits", 1), ("again", 0), ("again", 1),
    ]  # fmt: skip
    accuracies = [row["accuracy %"] for row in table.rows]
    assert accuracies[:2] == accuracies[2:]  # the same seed, the same figure
    assert accuracies[0] != accuracies[1]


def test_several_processes_give_the_same_figures_in_the_same_order(split):
    one, two = (
        closed_set.make(
            {"digits": split}, settings=SETTINGS, seeds=[0, 1], per_class=40, jobs=jobs
        ).rows
        for jobs in (1, 2)
    )
    assert one == two


def test_progress_counts_every_case_and_the_thread_count_is_restored():
    threads = torch.get_num_threads()
    seen = []
    rows = measure_all(
        lambda case: {"threads": torch.get_num_threads()},
        "ab",
        on_done=lambda *done: seen.append(done),
    )
    assert rows == [{"threads": 1}] * 2
    assert seen == [(1, 2), (2, 2)]
    assert torch.get_num_threads() == threads


def test_the_cube_of_the_race_is_the_sum_over_triplets():
    generator = torch.Generator().manual_seed(1)
    vectors = functional.normalize(
        torch.randn(9, 4, generator=generator, dtype=torch.float64), dim=1
    )
    columns = torch.arange(9) % 3
    distances = log_distance_matrix(vectors)
    losses = [
        float(distances[a, p] + 0.2 - distances[a, n])
        for a in range(9) for p in range(9) for n in range(9)
        if a != p and columns[a] == columns[p] != columns[n]
    ]  # fmt: skip
    hard = [loss for loss in losses if loss > 0]
    assert 0 < len(hard) < len(losses)
    assert float(races.cube_loss(distances, columns, 0.2)) == pytest.approx(sum(hard) / len(hard))


def test_races_run_on_any_images(split):
    train, _ = split
    with one_thread():
        pairs = [
            races.race_losses(size=16, rounds=1),
            speed.race_training(train, SETTINGS, rounds=1, per_class=40),
            *speed.race_observing(train, 16, rounds=3, per_class=40),
            races.race_help(rounds=1),
        ]
    assert all(ours > 0 and other > 0 for ours, other in pairs)


def test_a_race_takes_turns():
    turns = []
    races.race(lambda: turns.append("ours"), lambda: turns.append("other"), rounds=3)
    assert turns == ["ours", "other"] * 3


def test_junk_is_asked_about_less_often_if_the_person_says_so():
    settings = replace(junk.SETTINGS, epochs=2, update_steps=20)
    table = junk.make(digits(), seeds=[0], settings=settings)
    skips, says = table.rows
    assert (skips["the person"], says["the person"]) == ("skips", "says junk")
    assert 0 < says["questions about it"] < skips["questions about it"]
    assert says["with a class %"] < skips["with a class %"]
    assert table.command == "csim bench junk --seed 0"
