import ast
import dataclasses
import inspect
import itertools
import json
from typing import get_args, get_type_hints

import numpy as np
import pytest

from csim import settings as settings_module
from csim.ask.budget import Budget
from csim.build import build, make_discovery, make_threshold
from csim.errors import CsimError, SettingsError
from csim.records import Decision
from csim.settings import Settings

KINDS = get_type_hints(Settings)
NUMBERS = {name: kind for name, kind in KINDS.items() if kind in (int, float)}
CHOICES = {name: get_args(kind) for name, kind in KINDS.items() if get_args(kind)}

# The least and the most, as the comments and the parts themselves allow; stated here a second time
# on purpose.
LIMITS = {
    "audit": (0, 1),
    "conv_layers": (0, 16),
    "channels": (1, 4096),
    "kernel": (1, 31),
    "hidden_units": (1, 10**6),
    "embedding_size": (2, 10**6),
    "scale": (0.1, 1000),
    "margin": (0, 100),
    "beta": (0, 1000),
    "batch_size": (2, 10**6),
    "epochs": (1, 10**6),
    "learning_rate": (1e-9, 10),
    "update_rate": (1e-9, 10),
    "update_growth": (0, 10),
    "update_steps": (0, 10**9),
    "update_epochs": (0, 10**6),
    "shift": (0, 1000),
    "keep": (1e-6, 1 - 1e-6),
    "alpha": (1e-6, 1 - 1e-6),
    "budget": (0, 1),
    "spread": (1, 10**9),
    "eps": (1e-6, 2),
    "min_points": (1, 10**9),
    "store_inferred": (0, 10**9),
    "store_score": (0, 1),
    "update_labels": (0, 10**9),
    "seed": (0, 2**62),
}
# These also hang together: ledger_size ≥ buffer_size, recent ≥ look and store_size > update_size.
LEAST = {
    "buffer_size": 1,
    "ledger_size": 1,
    "recent": 1,
    "ask_every": 1,
    "store_size": 2,
    "update_size": 0,
}


def test_every_number_has_its_limits():
    assert set(NUMBERS) == set(LIMITS) | set(LEAST)


def alone(name, value):
    """Return a setting with what it needs: update_epochs stands in place of update_steps."""
    return {name: value} | ({"update_steps": 0} if name == "update_epochs" else {})


def test_a_model_is_updated_by_steps_or_by_epochs_and_not_by_both():
    with pytest.raises(SettingsError, match="only one of update_steps and update_epochs"):
        Settings(update_epochs=3)
    assert Settings(update_epochs=3, update_steps=0).update_epochs == 3


@pytest.mark.parametrize(("name", "limits"), LIMITS.items())
def test_a_number_may_reach_its_limits_and_not_pass_them(name, limits):
    step = 1 if KINDS[name] is int else 1e-9
    for limit, direction in zip(limits, (-1, 1), strict=True):
        assert getattr(Settings(**alone(name, limit)), name) == limit
        beyond = limit + direction * max(step, abs(limit) * 1e-9 if step < 1 else 0)
        with pytest.raises(SettingsError, match=f"^{name} must lie between"):
            Settings(**{name: beyond})


@pytest.mark.parametrize(("name", "least"), LEAST.items())
def test_a_size_has_a_least_value(name, least):
    with pytest.raises(SettingsError, match=f"^{name} must lie between {least}"):
        Settings(**{name: least - 1})
    assert getattr(Settings(**LEAST), name) == least


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("value", [float("nan"), float("inf"), True, False, None, "5", [3], 1 + 2j])
def test_what_is_no_number_is_refused(name, value):
    with pytest.raises(SettingsError, match=f"^{name} must"):
        Settings(**{name: value})


@pytest.mark.parametrize("name", [name for name, kind in NUMBERS.items() if kind is int])
def test_a_whole_number_must_be_whole(name):
    with pytest.raises(SettingsError, match=f"^{name} must be a whole number, got 3.5"):
        Settings(**{name: 3.5})


@pytest.mark.parametrize(
    "name", ["margin", "beta", "learning_rate", "eps", "store_score", "budget"]
)
def test_a_fraction_may_be_given_as_a_whole_number(name):
    assert getattr(Settings(**{name: 1}), name) == 1


@pytest.mark.parametrize(("name", "choices"), CHOICES.items())
def test_a_choice_is_one_of_those_there_are(name, choices):
    for choice in choices:
        assert getattr(Settings(**{name: choice}), name) == choice
    for wrong in ("nonsense", "", None, 3, choices[0].upper(), [choices[0]]):
        with pytest.raises(SettingsError, match=f"^{name} must be one of {choices[0]}, .*got"):
            Settings(**{name: wrong})


@pytest.mark.parametrize(
    ("name", "value"),
    [("flip", "no"), ("flip", 1), ("batch_norm", None), ("device", 3), ("device", None)],
)
def test_a_value_of_another_type_is_refused(name, value):
    with pytest.raises(SettingsError, match=name):
        Settings(**{name: value})


def test_a_ledger_smaller_than_the_buffer_is_refused():
    with pytest.raises(
        SettingsError, match=r"ledger_size must be at least buffer_size \(50\), got 49"
    ):
        Settings(buffer_size=50, ledger_size=49)
    assert Settings(buffer_size=50, ledger_size=50)


@pytest.mark.parametrize(
    ("rate", "ask_every", "sample_every"),
    [
        (0, 125, 1),
        (300, 125, 1),
        (1_000, 400, 1),
        (5_000, 2_000, 1),
        (5_010, 2_004, 2),
        (10_000, 4_000, 2),
        (12_000, 4_800, 3),
        (20_000, 8_000, 4),
    ],
)
def test_a_faster_stream_is_searched_less_often_and_then_by_a_sample(rate, ask_every, sample_every):
    fast = Settings().for_rate(rate)
    assert (fast.ask_every, fast.recent) == (ask_every, 2_000)
    assert make_discovery(fast).pool.sample_every == sample_every


def test_a_rate_never_makes_a_stream_search_more_often_than_its_settings_say():
    assert Settings(ask_every=900).for_rate(1_000).ask_every == 900


@pytest.mark.parametrize("kernel", [2, 4, 30])
def test_a_kernel_without_a_middle_is_refused(kernel):
    with pytest.raises(SettingsError, match=f"kernel must be an odd number, got {kernel}"):
        Settings(kernel=kernel)


@pytest.mark.parametrize("update_size", [20, 21])
def test_a_class_that_could_never_be_learned_is_refused(update_size):
    with pytest.raises(
        SettingsError, match=rf"update_size must be less than store_size \(20\), got {update_size}"
    ):
        Settings(store_size=20, update_size=update_size)
    assert Settings(store_size=20, update_size=19)


def test_the_papers_preset_differs_exactly_where_the_paper_does():
    ours = Settings().to_dict()
    papers = Settings.paper().to_dict()
    assert {name: papers[name] for name in ours if ours[name] != papers[name]} == {
        "conv_layers": 1,
        "channels": 20,
        "kernel": 5,
        "batch_norm": False,
        "scale": 5.0,
        "beta": 0.01,
        "class_loss": "triplets",
        "epochs": 10,
        "update_steps": 0,
        "update_rate": 1e-3,  # with steps of your own; the preset takes none
        "batches": "plain",
        "shift": 0,
        "threshold": "mean-bound-model",
        "alpha": 0.5,
        "questions": "rejected",
        "budget": 1.0,
        "representative": "random",
        "store_size": 200,
        "store_inferred": 200,
        "store_score": 0.99,
        "eviction": "oldest",
        "update_size": 100,
        "update_labels": 0,
    }


def test_the_papers_values_are_the_papers():
    """The table of the paper's defaults: n, S_B, S_D, S_update, T_D, γ, mini-batch, epochs."""
    papers = Settings.paper()
    assert (papers.hidden_units, papers.buffer_size, papers.store_size, papers.update_size) == (
        200,
        1000,
        200,
        100,
    )
    assert (papers.store_score, papers.margin, papers.batch_size, papers.epochs) == (
        0.99,
        1,
        64,
        10,
    )
    assert (papers.threshold, papers.mining, papers.conv_layers) == (
        "mean-bound-model",
        "all-positive",
        1,
    )


def test_the_paper_asks_about_rejected_images_without_a_budget_and_trains_for_new_classes_only():
    papers = Settings.paper()
    assert (papers.questions, papers.budget, papers.update_labels, papers.update_steps) == (
        "rejected",
        1,
        0,
        0,
    )


def test_the_papers_preset_can_be_changed_and_is_checked_too():
    assert Settings.paper(seed=4, eviction="protect-told").eviction == "protect-told"
    with pytest.raises(SettingsError, match="beta"):
        Settings.paper(beta=-1)


def test_the_preset_for_photographs_searches_and_learns_more_often_and_changes_nothing_else():
    ours = Settings().to_dict()
    photographs = Settings.photographs().to_dict()
    assert {name: photographs[name] for name in ours if ours[name] != photographs[name]} == {
        "encoder": "lite0",
        "ask_every": 40,
        "update_labels": 5,
    }


@pytest.mark.parametrize(
    ("budget", "ask_every"), [(0, 125), (0.01, 125), (0.02, 100), (0.04, 50), (0.05, 40), (1, 40)]
)
def test_for_photographs_a_search_comes_when_the_budget_allows_two_questions(budget, ask_every):
    assert Settings.photographs(budget=budget).ask_every == ask_every


def test_the_preset_for_photographs_can_be_changed_and_is_checked_too():
    changed = Settings.photographs(encoder="lite2", ask_every=200, update_labels=7)
    assert (changed.encoder, changed.ask_every, changed.update_labels) == ("lite2", 200, 7)
    for name in ("ask_every", "budget"):
        with pytest.raises(SettingsError, match=name):
            Settings.photographs(**{name: -1})


@pytest.mark.parametrize(
    "settings",
    [Settings(), Settings.paper(), Settings.photographs(), Settings(seed=7, keep=0.9, flip=True)],
)
def test_settings_survive_the_way_through_json(settings):
    assert Settings.from_dict(json.loads(json.dumps(settings.to_dict()))) == settings


def test_from_dict_fills_in_what_is_missing_and_refuses_what_is_unknown():
    assert Settings.from_dict({"seed": 3}) == Settings(seed=3)
    with pytest.raises(SettingsError, match="no setting is called 'bufer_size'"):
        Settings.from_dict({"bufer_size": 3})
    with pytest.raises(SettingsError, match="epochs"):
        Settings.from_dict({"epochs": 0})


def test_settings_cannot_be_changed_afterwards():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Settings().seed = 3


def test_a_dict_of_settings_is_the_callers_own():
    settings = Settings()
    settings.to_dict()["seed"] = 99
    assert settings.seed == 0


def test_a_refusal_can_be_caught_as_ours_and_as_pythons():
    assert issubclass(SettingsError, CsimError)
    assert issubclass(SettingsError, ValueError)


def test_there_are_fewer_than_forty_five_settings():
    assert len(dataclasses.fields(Settings)) < 45


@pytest.mark.parametrize("name", ["own", "lite0", "lite2", "hf:a/b", "onnx:/x/y.onnx"])
def test_an_encoder_is_a_name_or_a_kind_with_a_path(name):
    assert Settings(encoder=name).encoder == name


def test_every_setting_has_a_comment_above_it():
    source = inspect.getsource(settings_module)
    lines = source.splitlines()
    (made,) = [
        n for n in ast.parse(source).body if isinstance(n, ast.ClassDef) and n.name == "Settings"
    ]
    fields = {node.target.id: node.lineno for node in made.body if isinstance(node, ast.AnnAssign)}
    assert set(fields) == {field.name for field in dataclasses.fields(Settings)}
    for name, line in fields.items():
        above = list(
            itertools.takewhile(
                lambda text: text.strip().startswith("# "), reversed(lines[: line - 1])
            )
        )
        words = [text for text in above if not text.strip().startswith("# --")]
        assert words, f"{name} has no comment"
        assert len(" ".join(words).split()) >= 5, f"the comment of {name} says nothing"


@pytest.mark.parametrize(
    ("name", "choice"), [(name, choice) for name, choices in CHOICES.items() for choice in choices]
)
def test_every_choice_can_be_built(name, choice):
    assert build(Settings(**{name: choice})).engine.position == 0


@pytest.mark.parametrize("budget", [0, 0.02, 1])
def test_the_budget_is_that_of_the_settings(budget):
    assert build(Settings(budget=budget)).engine.dialogue.budget.left(1000) == Budget(budget).left(
        1000
    )


@pytest.mark.parametrize("threshold", ["mean-bound", "quantile"])
@pytest.mark.parametrize("questions", ["least-sure", "random"])
def test_no_image_is_rejected_where_questions_are_about_single_images(questions, threshold):
    rule = make_threshold(Settings(questions=questions, threshold=threshold))
    rule.fit({0: [0.9] * 100})
    assert rule.passes([0], np.zeros((1, 1))).all()


def test_over_frozen_vectors_a_class_that_no_held_out_image_was_given_rejects_nothing():
    for is_frozen in (False, True):
        rule = make_threshold(Settings(), is_frozen=is_frozen)
        rule.fit({0: [0.9] * 100, 1: []})
        assert rule.passes([1], np.zeros((1, 1))).all() == is_frozen
        assert not rule.passes([0], np.zeros((1, 1))).any()


@pytest.mark.parametrize("questions", ["new-or-doubtful", "doubtful", "least-sure", "random"])
def test_searches_follow_ask_every_and_the_recent_window_follows_recent(make_item, questions):
    pool = make_discovery(Settings(questions=questions, ask_every=3, recent=7)).pool
    for position in range(1, 12):
        pool.add(
            [make_item(str(position), position)],
            [Decision(0, 0.5, is_accepted=position % 2 == 0)],
        )
    assert [arrivals for arrivals in range(6) if pool.is_due(arrivals)] == [3, 4, 5]
    assert [int(item.id) for item, _ in pool.revisable(11)] == [4, 5, 6, 7, 8, 9, 10, 11]


def test_rejected_images_wait_in_a_buffer_of_the_size_that_the_settings_say(make_item):
    pool = make_discovery(Settings(questions="rejected", buffer_size=2)).pool
    due = []
    for position in range(1, 6):
        pool.add(
            [make_item(str(position), position)],
            [Decision(0, 0.5, is_accepted=position % 2 == 0)],
        )
        due.append(pool.is_due(position))
    assert due == [False, False, True, True, True]
    assert [item.id for item in pool.items()] == ["1", "3", "5"]


@pytest.mark.parametrize(
    "make", [lambda: Settings(look=20), lambda: Settings.from_dict({"look": 20})]
)
def test_the_old_name_of_a_setting_is_refused_with_its_new_one(make):
    with pytest.raises(SettingsError, match="'look' has a new name; write 'ask_every' instead"):
        make()
