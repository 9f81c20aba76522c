import json
import sys
from importlib import import_module

import numpy as np
import pytest
import torch
from embed.photographs import draw_photographs

from csim.embed.hf import HfEncoder
from csim.embed.network_trainer import seeded
from csim.embed.pretrained import open_pretrained
from csim.errors import EncoderError

CPU = torch.device("cpu")
VIT = {
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "image_size": 56,
    "patch_size": 14,
}
PROCESSOR = {
    "size": {"shortest_edge": 64},
    "do_center_crop": True,
    "crop_size": {"height": 56, "width": 56},
    "image_mean": [0.5, 0.4, 0.3],
    "image_std": [0.2, 0.3, 0.4],
    "rescale_factor": 1 / 255,
}


def make_model(kind):
    t = import_module("transformers")  # takes seconds

    with seeded(0):
        if kind == "dinov2":
            return t.Dinov2Model(t.Dinov2Config(**VIT))
        if kind == "clip":
            return t.CLIPVisionModel(t.CLIPVisionConfig(**VIT, intermediate_size=32))
        if kind == "siglip":
            return t.SiglipVisionModel(t.SiglipVisionConfig(**VIT, intermediate_size=32))
        return t.ConvNextModel(
            t.ConvNextConfig(hidden_sizes=[4, 8, 8, 16], depths=[1, 1, 1, 1], image_size=56)
        )


def save_model(folder, kind="dinov2", **changes):
    model = make_model(kind).eval()
    model.save_pretrained(folder)
    (folder / "preprocessor_config.json").write_text(json.dumps(PROCESSOR | changes))
    return model


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["dinov2", "clip", "siglip", "convnext"])
def test_vectors_are_the_models_pooled_output_on_images_scaled_as_it_was_trained(tmp_path, kind):
    model = save_model(tmp_path, kind)
    encoder = HfEncoder(str(tmp_path), CPU)
    assert encoder.image_shape == (56, 56, 3)
    images = draw_photographs(10, 56)
    scaled = (images / 255 - PROCESSOR["image_mean"]) / PROCESSOR["image_std"]
    with torch.inference_mode():
        inputs = torch.from_numpy(scaled.transpose(0, 3, 1, 2)).float()
        expected = model(pixel_values=inputs).pooler_output.flatten(1).numpy()
    assert encoder.embed(images) == pytest.approx(expected, abs=1e-4)
    assert np.abs(expected[0] - expected[1]).max() > 1e-3


@pytest.mark.slow
def test_of_a_model_with_a_tower_for_text_only_the_images_count(tmp_path):
    t = import_module("transformers")

    text = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "vocab_size": 99}
    config = t.CLIPConfig(text_config=text, vision_config=VIT, projection_dim=12)
    with seeded(0):
        t.CLIPModel(config).save_pretrained(tmp_path)
    (tmp_path / "preprocessor_config.json").write_text(json.dumps(PROCESSOR))
    assert HfEncoder(str(tmp_path), CPU).embed(draw_photographs(2, 56)).shape == (2, 12)


@pytest.mark.slow
def test_other_weights_have_another_identity(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        save_model(tmp_path / name)
    one = HfEncoder(str(tmp_path / "one"), CPU).identity
    weights = tmp_path / "two" / "model.safetensors"
    content = bytearray(weights.read_bytes())
    content[-1] ^= 1
    weights.write_bytes(content)
    two = HfEncoder(str(tmp_path / "two"), CPU).identity
    assert one.sha256 != two.sha256
    assert one.name == f"hf:{tmp_path / 'one'}"


@pytest.mark.slow
def test_a_model_without_safetensors_is_refused(tmp_path):
    model = save_model(tmp_path)
    (tmp_path / "model.safetensors").unlink()
    torch.save(model.state_dict(), tmp_path / "pytorch_model.bin")
    with pytest.raises(EncoderError, match=r"weights as \.safetensors"):
        HfEncoder(str(tmp_path), CPU)


@pytest.mark.slow
def test_code_that_comes_with_a_model_is_not_run(tmp_path):
    save_model(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    config |= {"model_type": "mine", "auto_map": {"AutoModel": "mine.Mine", "AutoConfig": "mine.C"}}
    (tmp_path / "config.json").write_text(json.dumps(config))
    (tmp_path / "mine.py").write_text("raise SystemExit('its code was run')")
    with pytest.raises(EncoderError, match="cannot be loaded"):
        HfEncoder(str(tmp_path), CPU)


@pytest.mark.slow
@pytest.mark.parametrize("what", ["weights", "processor"])
def test_damaged_files_are_refused(tmp_path, what):
    save_model(tmp_path)
    name = "model.safetensors" if what == "weights" else "preprocessor_config.json"
    (tmp_path / name).write_bytes((tmp_path / name).read_bytes()[:100])
    with pytest.raises(EncoderError, match="cannot be loaded"):
        HfEncoder(str(tmp_path), CPU)


def test_a_missing_extra_is_named_with_the_line_to_type(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(EncoderError, match=r"pip install 'csim-stream\[hf\]'"):
        HfEncoder(str(tmp_path), CPU)


@pytest.mark.slow
def test_a_name_that_no_hub_has_says_what_to_do(monkeypatch, tmp_path):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(EncoderError, match="write hf:DIRECTORY"):
        HfEncoder("nobody/nothing-of-this-name", CPU)


@pytest.mark.slow
def test_a_stream_keeps_the_revision_that_it_began_with(tmp_path, monkeypatch):
    constants = import_module("huggingface_hub.constants")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    first, second = "a" * 40, "b" * 40
    model = tmp_path / "models--lab--tiny"
    for revision, kind in ((first, "dinov2"), (second, "clip")):
        (model / "snapshots" / revision).mkdir(parents=True)
        save_model(model / "snapshots" / revision, kind)
    (model / "refs").mkdir()
    (model / "refs" / "main").write_text(first)
    began_with = open_pretrained("hf:lab/tiny", CPU).identity
    (model / "refs" / "main").write_text(second)  # the authors publish another one
    assert began_with.revision == first
    assert open_pretrained("hf:lab/tiny", CPU, began_with).identity == began_with
    assert open_pretrained("hf:lab/tiny", CPU).identity.revision == second
    assert open_pretrained(f"hf:lab/tiny@{first}", CPU).identity.sha256 == began_with.sha256
