import json
import sys
from importlib import import_module

import numpy as np
import pytest
import torch
from embed.photographs import draw_photographs
from tiny_hf import PROCESSOR, VIT, Hub, edit_weights, save_model, scaled

from csim.embed.hf import HfEncoder
from csim.embed.network_trainer import seeded
from csim.embed.pretrained import open_pretrained
from csim.errors import EncoderError

CPU = torch.device("cpu")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["dinov2", "clip", "siglip", "convnext"])
def test_vectors_are_the_models_pooled_output_on_images_scaled_as_it_was_trained(tmp_path, kind):
    model = save_model(tmp_path, kind)
    encoder = HfEncoder(str(tmp_path), CPU)
    assert encoder.image_shape == (56, 56, 3)
    images = draw_photographs(10, 56)
    with torch.inference_mode():
        expected = model(pixel_values=scaled(images)).pooler_output.flatten(1).numpy()
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
    with pytest.raises(EncoderError, match="cannot load it"):
        HfEncoder(str(tmp_path), CPU)


@pytest.mark.slow
@pytest.mark.parametrize("what", ["weights", "processor"])
def test_damaged_files_are_refused(tmp_path, what):
    save_model(tmp_path)
    name = "model.safetensors" if what == "weights" else "preprocessor_config.json"
    (tmp_path / name).write_bytes((tmp_path / name).read_bytes()[:100])
    with pytest.raises(EncoderError, match="cannot load it"):
        HfEncoder(str(tmp_path), CPU)


def without_last_layer(weights):
    for name in [name for name in weights if "layer.1." in name]:
        del weights[name]


def with_renamed_norm(weights):
    weights["norm.weight"] = weights.pop("layernorm.weight")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (without_last_layer, r"missing: encoder\.layer\.1\.\S+, \S+, \S+ and 1\d more"),
        (with_renamed_norm, r"missing: layernorm\.weight"),
    ],
)
def test_missing_weights_are_refused_by_name(tmp_path, change, words):
    """transformers would fill them with random numbers, others at every start."""
    save_model(tmp_path)
    edit_weights(tmp_path, change)
    with pytest.raises(EncoderError, match=rf"must hold all weights .*; {words}; save the comp"):
        HfEncoder(str(tmp_path), CPU)


@pytest.mark.slow
def test_weights_of_another_shape_are_refused_by_name(tmp_path):
    save_model(tmp_path)
    edit_weights(tmp_path, lambda weights: weights.update({"layernorm.bias": torch.zeros(5)}))
    with pytest.raises(EncoderError, match=r"of another shape: layernorm\.bias;"):
        HfEncoder(str(tmp_path), CPU)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["classifier", "without pooler"])
def test_without_its_pooler_a_model_gives_its_class_token_each_time(tmp_path, capfd, kind):
    """Classifiers and DINO are saved so. transformers would draw the pooler at random."""
    t = import_module("transformers")
    config = t.ViTConfig(**VIT, intermediate_size=32)
    with seeded(0):
        saved = t.ViTForImageClassification(config) if kind == "classifier" else t.ViTModel(config)
    saved.eval().save_pretrained(tmp_path)
    if kind != "classifier":
        edit_weights(
            tmp_path, lambda weights: [weights.pop(f"pooler.dense.{x}") for x in ("weight", "bias")]
        )
    (tmp_path / "preprocessor_config.json").write_text(json.dumps(PROCESSOR))
    images = draw_photographs(3, 56)
    capfd.readouterr()
    first, second = (HfEncoder(str(tmp_path), CPU) for _ in range(2))
    assert capfd.readouterr() == ("", "")
    assert first.identity == second.identity
    assert (first.embed(images) == second.embed(images)).all()
    body = saved.vit if kind == "classifier" else saved
    with torch.inference_mode():
        expected = body(pixel_values=scaled(images)).last_hidden_state[:, 0].numpy()
    assert first.embed(images) == pytest.approx(expected, abs=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("source", ["./none", "/none/at/all", "a/b/c", "none/", "~/none"])
def test_a_directory_that_is_gone_is_not_looked_up_on_the_hub(source):
    with pytest.raises(EncoderError, match=f"^hf:{source} .*no such directory; check the path$"):
        HfEncoder(source, CPU)


def test_a_missing_extra_is_named_with_the_line_to_type(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(EncoderError, match=r"pip install 'csim-stream\[hf\]'"):
        HfEncoder(str(tmp_path), CPU)


@pytest.mark.slow
def test_a_name_that_no_hub_has_says_what_to_do(monkeypatch, tmp_path):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(EncoderError, match=r"hub; csim cannot get it: .*write hf:DIRECTORY"):
        HfEncoder("nobody/nothing-of-this-name", CPU)


@pytest.mark.slow
def test_a_stream_keeps_the_revision_that_it_began_with(tmp_path, monkeypatch):
    hub = Hub(tmp_path, monkeypatch)
    first, second = hub.publish("dinov2"), hub.publish("clip")
    hub.show(first)
    began_with = open_pretrained("hf:lab/tiny", CPU).identity
    hub.show(second)  # the authors publish another one
    assert began_with.revision == first
    assert open_pretrained("hf:lab/tiny", CPU, began_with).identity == began_with
    assert open_pretrained("hf:lab/tiny", CPU).identity.revision == second
    assert open_pretrained(f"hf:lab/tiny@{first}", CPU).identity.sha256 == began_with.sha256
