"""Methods by name: what each is, and how it is changed."""

import pytest
from bench.nearest_mean import few_digits

from csim.bench.methods import OURS, open_with, settings_of
from csim.bench.run import run
from csim.bench.scenario import paper_stream
from csim.errors import InputError, SettingsError
from csim.metrics.figures import summarise
from csim.settings import Settings

SMALL = {
    **{"channels": 4, "hidden_units": 16, "embedding_size": 16, "epochs": 2, "update_steps": 5},
    **{"ask_every": 20, "buffer_size": 20, "update_size": 5},
}


def test_two_methods_are_the_presets():
    assert settings_of("paper", seed=3, changes={}) == Settings.paper(seed=3)
    assert settings_of("default", seed=3, changes={}) == Settings(seed=3)


@pytest.mark.parametrize("encoder", ["lite0", "hf:some/model"])
def test_with_a_pretrained_encoder_the_default_is_the_preset_for_photographs(encoder):
    changes = {"encoder": encoder}
    preset = Settings.photographs(encoder=encoder, seed=3)
    assert settings_of("default", seed=3, changes=changes) == preset
    few = settings_of("default", seed=3, budget=0.01, changes=changes)
    assert few == Settings.photographs(encoder=encoder, seed=3, budget=0.01)
    mine = settings_of("default", seed=3, changes=changes | {"ask_every": 77})
    assert mine.ask_every == 77
    assert settings_of("default", seed=3, changes={"encoder": "own"}) == Settings(seed=3)
    assert settings_of("paper", seed=3, changes=changes) == Settings.paper(seed=3, encoder=encoder)


@pytest.mark.parametrize("encoder", ["own", "lite0"])
@pytest.mark.parametrize("method", ["least-sure", "random"])
def test_those_it_is_compared_with_differ_in_their_questions_alone(method, encoder):
    changes = {"encoder": encoder}
    own = settings_of(method, seed=0, budget=0.02, changes=changes).to_dict()
    default = settings_of("default", seed=0, budget=0.02, changes=changes).to_dict()
    assert own == default | {"questions": method}
    assert settings_of(method, seed=0, changes=changes).budget == 0.02


@pytest.mark.parametrize("method", OURS)
def test_seed_budget_and_changes_reach_the_settings_and_nothing_else_moves(method):
    plain = settings_of(method, seed=0, changes={}).to_dict()
    changed = settings_of(
        method, seed=9, budget=0.1, changes={"epochs": 4, "margin": 0.5}
    ).to_dict()
    assert changed == plain | {"seed": 9, "budget": 0.1, "epochs": 4, "margin": 0.5}


def test_without_a_budget_the_method_keeps_its_own():
    assert settings_of("default", seed=0, changes={}).budget == Settings().budget
    assert settings_of("random", seed=0, budget=0, changes={}).budget == 0


@pytest.mark.parametrize(
    ("written", "meant"), [("Papr", "paper"), ("least_sure", "least-sure"), ("DEFAULT", "default")]
)
def test_an_unknown_method_is_told_the_names_and_the_nearest(written, meant):
    with pytest.raises(
        InputError, match=f"one of paper, default, .*; got '{written}'; is it {meant}?"
    ):
        settings_of(written, seed=0, changes={})


def test_a_name_like_no_method_gets_no_guess():
    with pytest.raises(InputError, match=r"got 'xyz'$"):
        settings_of("xyz", seed=0, changes={})


@pytest.mark.parametrize("name", ["seed", "budget"])
def test_what_is_given_on_its_own_is_not_changed_behind_its_back(name):
    with pytest.raises(
        InputError, match=f"{name} must not be among the changed settings; give it .* --{name}"
    ):
        settings_of("default", seed=0, changes={name: 1})


@pytest.mark.parametrize(
    "changes", [{"epochs": 0}, {"epoch": 3}, {"epochs": "many"}, {"buffer_size": 10**6}]
)
def test_impossible_settings_are_refused(changes):
    with pytest.raises(SettingsError, match=f"{next(iter(changes))}|ledger_size"):
        settings_of("default", seed=0, changes=changes)


def test_a_method_is_opened_with_its_settings_and_tells_every_event():
    told = []
    data = few_digits(20)
    settings = settings_of("paper", seed=5, changes=SMALL)
    method = open_with(settings)(told.append)
    method.fit(data.images, data.names)
    assert method.settings == settings
    assert len(told) == 11  # ten classes and a model


@pytest.mark.parametrize("method", OURS)
def test_every_method_runs_and_keeps_to_its_budget(method):
    stream = paper_stream(few_digits(), known_share=0.3, seed=1)
    done = run(stream, open_with(settings_of(method, seed=1, budget=0.1, changes=SMALL)))
    figures = summarise(done.events, done.truth)
    assert 0 < figures.labels_percent <= 10
    assert figures.images == len(stream.images)
