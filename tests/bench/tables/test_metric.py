"""The metric table: a row for each way of scoring, with the paper's figures beside it."""

import random

import pytest
from bench.hand_results import assert_tidy, column, legend_texts

from csim.bench.baselines.learners.catalogue import LEARNERS
from csim.bench.tables import metric
from csim.bench.tables.metric import Plan
from csim.bench.vectors.trials import METHODS, NETWORKS
from csim.errors import InputError

PLAN = Plan(splits=("S1", "S2"), seeds=(0, 1))


def hand_content(trial):
    """Return the content of a trial's file, drawn from its name."""
    chance = random.Random(trial.name)  # noqa: S311
    figures = {"accuracy": chance.uniform(30, 90), "k": 3, "size": 50, "seconds_learning": 1.0}
    figures |= {"accuracy_own_layer": chance.uniform(30, 90)} if trial.method in NETWORKS else {}
    figures |= {"steps": 7} if trial.method in LEARNERS else {}
    return {
        "method": trial.method,
        "data": trial.data,
        "split": trial.split,
        "seed": trial.seed,
        "figures": figures,
    }


def hand_sheet(plan):
    return metric.make([hand_content(trial) for trial in metric.trials(plan)], plan)


SHEET = hand_sheet(PLAN)


def test_every_method_is_tried_on_every_split_data_set_and_seed():
    found = {(t.method, t.data, t.split, t.seed) for t in metric.trials(PLAN)}
    assert found == {
        (method, data, split, seed)
        for method in METHODS
        for data in PLAN.data
        for split in ("S1", "S2")
        for seed in (0, 1)
    }
    assert {(t.thin, t.is_quick) for t in metric.trials(PLAN)} == {(1, False)}
    assert {(t.thin, t.is_quick, t.seed) for t in metric.trials(PLAN.quick())} == {(10, True, 0)}


def test_networks_have_a_row_by_their_layer_and_one_by_neighbours():
    for method in METHODS:
        ways = set(column(SHEET.table, "by", method=method))
        assert ways == ({"its own layer", "neighbours"} if method in NETWORKS else {"neighbours"})
    for trial in metric.trials(PLAN):
        figures = hand_content(trial)["figures"]
        wanted = {
            "method": trial.method,
            "data_set": trial.data,
            "split": trial.split,
            "seed": trial.seed,
        }
        accuracies = dict(
            zip(
                column(SHEET.table, "by", **wanted),
                column(SHEET.table, "accuracy %", **wanted),
                strict=True,
            )
        )
        assert accuracies["neighbours"] == figures["accuracy"]
        assert accuracies.get("its own layer") == figures.get("accuracy_own_layer")


def test_the_ratio_is_to_the_best_of_the_same_data_set_split_and_seed():
    for data in PLAN.data:
        wanted = {"data_set": data, "split": "S1", "seed": 1}
        accuracies, ratios = (
            column(SHEET.table, name, **wanted) for name in ("accuracy %", "ratio")
        )
        assert max(ratios) == 1
        assert ratios == [pytest.approx(accuracy / max(accuracies)) for accuracy in accuracies]


def test_what_the_paper_prints_stands_beside_what_it_is_like():
    wanted = {"data_set": "mnist", "split": "S2", "seed": 0}
    by = dict(
        zip(
            zip(
                column(SHEET.table, "method", **wanted),
                column(SHEET.table, "by", **wanted),
                strict=True,
            ),
            column(SHEET.table, "reported accuracy %", **wanted),
            strict=True,
        )
    )
    assert by == {
        ("pixels", "neighbours"): "",
        ("pca", "neighbours"): "",
        ("lmnn", "neighbours"): "95.17 ± 0.12",
        ("hdml", "neighbours"): "91.34 ± 0.20",
        ("gb-lmnn", "neighbours"): "94.21 ± 0.08",
        ("sklr", "neighbours"): "93.33 ± 0.21",
        ("paper", "its own layer"): "95.96 ± 0.98",
        ("paper", "neighbours"): "",
        ("default", "its own layer"): "",
        ("default", "neighbours"): "",
    }


@pytest.mark.parametrize(
    "plan", [PLAN, Plan(), Plan(data=("digits",), methods=("pixels", "default")), Plan().quick()]
)
def test_the_picture_is_tidy_and_has_a_line_per_method(plan):
    picture = hand_sheet(plan).picture
    assert_tidy(picture)
    assert [axes.get_title() for axes in picture.axes] == [
        f"{data}, {split}" for split in plan.splits for data in plan.data
    ]
    assert [text.get_text() for text in picture.axes[0].get_yticklabels()] == list(plan.methods)
    assert set(legend_texts(picture)) <= {
        "by neighbours",
        "by its own layer",
        "as the paper reports",
        "reported, other images",
    }


def test_files_and_command_tell_what_was_made():
    assert SHEET.table.name == "metric-S1-S2"
    assert hand_sheet(Plan(data=("mnist",), splits=("S1",))).table.name == "metric-mnist-S1"
    assert hand_sheet(Plan()).table.name == "metric"
    assert hand_sheet(Plan().quick()).table.name == "metric-quick"
    assert SHEET.table.command == "csim bench metric --split S1 --split S2 --seed 0 --seed 1"
    own = Plan(data=("digits",), methods=("pca",), splits=("S1",), seeds=(4,))
    assert (
        hand_sheet(own).table.command
        == "csim bench metric --split S1 --dataset digits --method pca --seed 4"
    )
    assert "every 10th image" in hand_sheet(Plan().quick()).table.markdown()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"data": ("mnits",)}, "the data set must be one of"),
        ({"methods": ("ecsminer",)}, "the method must be one of pixels"),
        ({"splits": ("S3",)}, "the split must be one of S1, S2; got 'S3'"),
    ],
)
def test_unknown_words_are_refused(given, message):
    with pytest.raises(InputError, match=message):
        Plan(**given)
