import pytest

from csim.bench.baselines.echo_d import EchoSettings
from csim.bench.baselines.ecsminer import EcsMinerSettings
from csim.bench.baselines.features import NetworkVectors, Pixels, make_extractor
from csim.bench.baselines.senc_mas import SencSettings
from csim.bench.methods import BASELINES, METHODS, OURS, open_with, settings_of
from csim.errors import InputError, SettingsError


@pytest.mark.parametrize(
    ("kind", "values", "message"),
    [
        (EcsMinerSettings, {"chunk": 3}, "chunk must be a whole number of at least 10, got 3"),
        (EcsMinerSettings, {"wait": 1.5}, "wait must be a whole number of at least 0, got 1.5"),
        (
            EcsMinerSettings,
            {"models": True},
            "models must be a whole number of at least 1, got True",
        ),
        (
            EcsMinerSettings,
            {"boundary": "all"},
            "boundary must be one of nearest, union; got 'all'",
        ),
        (
            EcsMinerSettings,
            {"slack": float("nan")},
            "slack must be a number of at least 0, got nan",
        ),
        (EchoSettings, {"share": 1.2}, "share must be at most 1, got 1.2"),
        (
            EchoSettings,
            {"confidence": "high"},
            "confidence must be one of calibrated, released; got 'high'",
        ),
        (EchoSettings, {"window": 5}, "window must be a whole number of at least 200, got 5"),
        (SencSettings, {"score": "cosine"}, "score must be one of energy, inner; got 'cosine'"),
        (SencSettings, {"reject": -0.1}, "reject must be a number of at least 0, got -0.1"),
        (
            SencSettings,
            {"features": "raw"},
            "features must be one of unit, byte, network; got 'raw'",
        ),
    ],
)
def test_a_bad_setting_is_refused(kind, values, message):
    with pytest.raises(SettingsError, match=f"^{message}$"):
        kind(**values)


def test_a_setting_that_does_not_exist_is_refused():
    with pytest.raises(
        SettingsError, match=r"'chunks' is not a setting of this baseline; choose from .*chunk"
    ):
        settings_of("ecsminer", seed=0, changes={"chunks": 5})


@pytest.mark.parametrize("method", ["ecsminer", "echo-d-vectors"])
def test_a_baseline_without_an_encoder_names_the_option(method):
    with pytest.raises(InputError, match=f"^{method} takes no encoder; leave out --encoder"):
        settings_of(method, seed=0, changes={"encoder": "lite0"})


@pytest.mark.parametrize("method", METHODS)
def test_every_method_can_be_opened_with_its_settings(method):
    settings = settings_of(method, seed=3, changes={})
    assert settings.to_dict()["seed"] == 3
    assert open_with(settings)(lambda _: None).training_seconds == 0


def test_ours_come_first_and_vectors_are_those_of_our_network():
    assert METHODS == OURS + BASELINES
    for name in ("ecsminer", "echo-d", "senc-mas"):
        assert settings_of(name, seed=0, changes={}).features == "unit"
        assert settings_of(f"{name}-vectors", seed=0, changes={}).features == "network"
    assert isinstance(make_extractor("network", 0), NetworkVectors)
    assert isinstance(make_extractor("byte", 0), Pixels)


def test_a_budget_is_the_share_of_echo_d_and_nothing_to_the_others():
    assert settings_of("echo-d", seed=0, budget=0.3, changes={}).share == 0.3
    with pytest.raises(InputError, match="ecsminer has no budget"):
        settings_of("ecsminer", seed=0, budget=0.3, changes={})
