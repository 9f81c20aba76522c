"""Small models of transformers that are quick to make, and a hub in a local folder."""

import json
from importlib import import_module

import torch
from safetensors.torch import load_file, save_file

from csim.embed.network_trainer import seeded

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


def make_model(kind, seed=0):
    t = import_module("transformers")  # takes seconds

    with seeded(seed):
        if kind == "dinov2":
            return t.Dinov2Model(t.Dinov2Config(**VIT))
        if kind == "clip":
            return t.CLIPVisionModel(t.CLIPVisionConfig(**VIT, intermediate_size=32))
        if kind == "siglip":
            return t.SiglipVisionModel(t.SiglipVisionConfig(**VIT, intermediate_size=32))
        return t.ConvNextModel(
            t.ConvNextConfig(hidden_sizes=[4, 8, 8, 16], depths=[1, 1, 1, 1], image_size=56)
        )


def save_model(folder, kind="dinov2", seed=0):
    model = make_model(kind, seed).eval()
    model.save_pretrained(folder)
    (folder / "preprocessor_config.json").write_text(json.dumps(PROCESSOR))
    return model


def scaled(images):
    """Return the inputs that PROCESSOR makes of images."""
    values = (images / 255 - PROCESSOR["image_mean"]) / PROCESSOR["image_std"]
    return torch.from_numpy(values.transpose(0, 3, 1, 2)).float()


def edit_weights(folder, change):
    """Let `change` edit the tensors of a saved model."""
    weights = load_file(folder / "model.safetensors")
    change(weights)
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})


class Hub:
    """The local cache of the hub, which holds the model lab/tiny; nothing is downloaded."""

    def __init__(self, cache, monkeypatch):
        constants = import_module("huggingface_hub.constants")
        monkeypatch.setattr(constants, "HF_HUB_CACHE", str(cache))
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
        self._model = cache / "models--lab--tiny"
        (self._model / "refs").mkdir(parents=True)
        self._revisions = []

    def publish(self, kind="dinov2", seed=0):
        """Add a revision with a model; return its name."""
        revision = f"{len(self._revisions):040x}"
        self._revisions.append(revision)
        folder = self._model / "snapshots" / revision
        folder.mkdir(parents=True)
        save_model(folder, kind, seed)
        return revision

    def show(self, revision):
        """Make a revision the newest one."""
        (self._model / "refs" / "main").write_text(revision)
