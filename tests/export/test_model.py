import hashlib
import json
import re
from pathlib import Path
from typing import get_args, get_type_hints

import numpy as np
import pytest
import torch
from digit_folder import rows
from digit_stream import digit_stream
from export.hostile_folder import change
from safetensors import safe_open
from safetensors.numpy import load_file

from csim import __version__, checkpoint
from csim.build import build, make_body
from csim.decide.scores import one_vs_rest
from csim.embed.encoder import WhitenedVectors
from csim.embed.inputs import to_inputs
from csim.embed.network import OpenWorldNetwork
from csim.embed.whitening import Whitening
from csim.errors import CheckpointError, InputError
from csim.export.model import _ACCEPT, _payload, write_model
from csim.folder.layout import Layout
from csim.folder.reader import Reader
from csim.folder.send import send
from csim.messages import MergeClasses, RemoveClass
from csim.records import (
    EncoderId,
    Job,
    Model,
)
from csim.retrain.frozen_trainer import FrozenTrainer
from csim.settings import Settings

DOCS = Path(__file__).parents[2] / "docs/export.md"


def exported(folder, path, **options):
    with Reader(folder) as reader:
        card = write_model(reader, path, **options)
    assert (
        json.loads(
            path.with_name(f"{path.name}.json").read_text("utf-8"), parse_constant=pytest.fail
        )
        == card
    )
    return card, load_file(path.with_name(f"{path.name}.safetensors"))


def engine_of(folder):
    """Return an engine as the folder's newest snapshot has it."""
    layout = Layout(folder)
    query = "SELECT step, model FROM snapshots ORDER BY step DESC LIMIT 1"
    ((step, version),) = rows(folder, query)
    with Reader(folder) as reader:
        engine = build(reader.config.settings).engine
    state = checkpoint.read(layout.snapshot(step))
    engine.restore(state, checkpoint.model_from(checkpoint.read(layout.model(version))))
    return engine


def test_the_card_can_tell_how_each_threshold_accepts():
    choices = get_args(get_type_hints(Settings)["threshold"])
    assert set(_ACCEPT) == set(choices)
    assert _ACCEPT["mean-bound-model"] == _ACCEPT["mean-bound"] != _ACCEPT["quantile"]


def test_the_arrays_are_those_of_the_model_in_use(lived, tmp_path):
    card, arrays = exported(lived, tmp_path / "model")
    model = engine_of(lived).model
    assert card["model"] == model.version > 1
    assert set(arrays) == {"weights", "bias", *(f"network.{name}" for name in model.network)}
    np.testing.assert_array_equal(arrays["weights"], model.weights)
    np.testing.assert_array_equal(arrays["bias"], model.bias)
    for name, array in model.network.items():
        np.testing.assert_array_equal(arrays[f"network.{name}"], array)


def test_the_card_tells_what_the_model_is(lived, tmp_path):
    card, _ = exported(lived, tmp_path / "model")
    row = rows(lived, "SELECT images, position, installed_at FROM models ORDER BY version DESC")[0]
    with Reader(lived) as reader:
        settings = reader.config.settings
        shape = reader.config.image_shape
    assert (card["images"], card["position"], card["in_use_from"]) == row
    assert Settings.from_dict(card["settings"]) == settings
    assert tuple(card["image_shape"]) == shape
    assert card["made_by"] == f"csim {__version__}"
    assert (
        card["sha256"] == hashlib.sha256((tmp_path / "model.safetensors").read_bytes()).hexdigest()
    )
    assert card["file"] == "model.safetensors"
    assert len(card["use"]) == 5
    with safe_open(tmp_path / "model.safetensors", framework="numpy") as file:
        assert file.metadata() == {"made_by": f"csim {__version__}"}


def test_columns_and_thresholds_are_those_that_the_stream_decides_by(lived, tmp_path):
    card, _ = exported(lived, tmp_path / "model")
    engine = engine_of(lived)
    names = engine.dialogue.catalogue.names()
    state = engine.head.state()
    lowest = dict(zip(state["class_ids"], state["lowest"].tolist(), strict=True))
    assert [column["class_id"] for column in card["columns"]] == list(engine.model.class_ids)
    for column in card["columns"]:
        assert column["name"] == names[column["class_id"]]
        assert column["threshold"] == max(lowest[column["class_id"]], 0.0)
    assert card["thresholds_from"] == engine.position == 230


def recipe(name="scores"):
    """Return a function of the docs, for the model in the folder that we stand in."""
    blocks = re.findall(
        r"^```py\n(.*?)^```", DOCS.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE
    )
    space = {}
    exec(compile("\n".join(blocks), str(DOCS), "exec"), space)  # noqa: S102
    return space[name]


def test_the_recipe_of_the_docs_gives_the_stream_its_own_scores(lived, tmp_path, monkeypatch):
    _, arrays = exported(lived, tmp_path / "model")
    monkeypatch.chdir(tmp_path)
    images = np.asarray(digit_stream().images, np.uint8)[:50]
    engine = engine_of(lived)
    theirs = engine.head.scores(engine.gallery.embed(images))
    np.testing.assert_allclose(recipe()(images), theirs, atol=1e-4)
    assert arrays["weights"].shape[0] == theirs.shape[1]


@pytest.mark.parametrize("shape", [(8, 8), (9, 11), (13, 10, 3)])
@pytest.mark.parametrize(
    "changes", [{}, {"batch_norm": False}, {"conv_layers": 3, "kernel": 5}, {"conv_layers": 1}]
)
def test_the_recipe_of_the_docs_holds_for_other_networks(tmp_path, monkeypatch, shape, changes):
    settings = Settings(channels=4, hidden_units=20, embedding_size=10, **changes)
    torch.manual_seed(0)
    network = OpenWorldNetwork(make_body(settings, shape), [3, 5, 8])
    for name, tensor in network.state_dict().items():
        if "running" in name:  # as after training
            tensor.uniform_(0.1, 2.0)
    weights = network.one_vs_rest.weights().detach().numpy()
    bias = network.one_vs_rest.bias.detach().numpy()
    model = Model(1, (3, 5, 8), shape, network.arrays(), weights, bias, np.zeros((0, 10)))
    (tmp_path / "model.safetensors").write_bytes(_payload(model))
    (tmp_path / "model.json").write_text(json.dumps({"settings": settings.to_dict()}))
    monkeypatch.chdir(tmp_path)
    images = np.random.default_rng(0).integers(0, 256, (6, *shape), np.uint8)
    with torch.inference_mode():
        theirs = torch.sigmoid(network.eval()(to_inputs(images, torch.device("cpu")))[1]).numpy()
    np.testing.assert_allclose(recipe()(images), theirs, atol=1e-5)


def test_the_recipe_of_the_docs_holds_for_models_on_frozen_vectors(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    labels = np.repeat([3, 5, 8], 10)
    inputs = rng.normal(labels[:, None], 2, (30, 12)).astype(np.float32)
    trainer = FrozenTrainer(EncoderId("lite0", "0" * 64), expect=False)
    model = trainer.train(Job(1, 0, inputs, labels, np.ones(30, bool)))
    (tmp_path / "model.safetensors").write_bytes(_payload(model))
    (tmp_path / "model.json").write_text("{}")
    monkeypatch.chdir(tmp_path)
    vectors = WhitenedVectors(Whitening.from_arrays(model.network)).embed(inputs)
    theirs = one_vs_rest(vectors, model.weights, model.bias)
    np.testing.assert_allclose(recipe("scores_of_vectors")(inputs), theirs, atol=1e-5)


def test_classes_that_were_merged_or_removed_keep_their_columns(folder, tmp_path):
    before, _ = exported(folder, tmp_path / "before")
    first, second, third = (column["class_id"] for column in before["columns"][:3])
    send(folder, [MergeClasses(second, first), RemoveClass(third)])
    after, arrays = exported(folder, tmp_path / "after")
    assert [column["class_id"] for column in after["columns"][:3]] == [first, first, None]
    assert after["columns"][1]["name"] == before["columns"][0]["name"]
    assert after["columns"][2] == {"class_id": None, "name": None, "threshold": None}
    assert len(arrays["weights"]) == len(after["columns"])


def test_thresholds_out_of_reach_are_null(folder, tmp_path):
    change(folder, "UPDATE snapshots SET model = 1")
    card, _ = exported(folder, tmp_path / "model")
    assert card["thresholds_from"] is None
    assert {column["threshold"] for column in card["columns"]} == {None}


def test_a_folder_without_a_stream_has_its_first_model(fresh, tmp_path):
    card, arrays = exported(fresh, tmp_path / "model")
    assert (card["model"], card["images"], card["position"]) == (1, 90, 0)
    assert len(arrays["bias"]) == len(card["columns"])


def test_the_ending_may_be_given_or_not(fresh, tmp_path):
    with Reader(fresh) as reader:
        write_model(reader, tmp_path / "birds.v2.safetensors")
        write_model(reader, tmp_path / "cranes.v2")
    names = {"birds.v2.safetensors", "birds.v2.json", "cranes.v2.safetensors", "cranes.v2.json"}
    assert {file.name for file in tmp_path.iterdir()} == names


@pytest.mark.parametrize("there", ["model.json", "model.safetensors"])
def test_neither_file_is_replaced_unless_told(fresh, tmp_path, there):
    (tmp_path / there).write_text("precious")
    with Reader(fresh) as reader, pytest.raises(InputError, match=f"{there} must not exist yet"):
        write_model(reader, tmp_path / "model")
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [(there, "precious")]
    assert exported(fresh, tmp_path / "model", overwrite=True)[0]["model"] == 1


def test_a_damaged_model_is_told_and_nothing_written(folder, tmp_path):
    with Reader(folder) as reader:
        version = reader.models.in_use()
        file = Layout(folder).model(version)
        content = bytearray(file.read_bytes())
        content[-5] ^= 1
        file.write_bytes(content)
        (tmp_path / "out").mkdir()
        with pytest.raises(CheckpointError, match="damaged"):
            write_model(reader, tmp_path / "out/model")
    assert list((tmp_path / "out").iterdir()) == []


def test_a_model_that_is_replaced_while_it_is_read_gives_way_to_the_newer(folder, tmp_path):
    """The engine may delete an old model's file between the look at its number and the reading."""

    class Slow:
        looks = 0

        def __init__(self, models):
            self._models = models

        def __getattr__(self, name):
            return getattr(self._models, name)

        def in_use(self):
            self.looks += 1
            if self.looks == 1:
                return 10**5  # a model that was in use a moment ago
            return self._models.in_use()

    with Reader(folder) as reader:
        models = reader.models
        reader.models = Slow(models)
        card = write_model(reader, tmp_path / "model")
        assert reader.models.looks > 1
        assert card["model"] == models.in_use()
