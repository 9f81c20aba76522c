import json

import numpy as np
import pytest
from digit_stream import SMALL, digit_stream, fitted
from safetensors import safe_open
from safetensors.numpy import save_file

from csim import checkpoint
from csim.classifier import StreamClassifier
from csim.errors import CheckpointError, NotFittedError
from csim.settings import Settings


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    clf = fitted()
    clf.observe(digit_stream().images[:100])
    path = tmp_path_factory.mktemp("saved") / "stream.csim"
    clf.save(path)
    return path


def test_a_state_of_any_depth_survives(tmp_path):
    state = {
        "a": [1, {"b": np.arange(3.0)}, "text", None, True],
        "c": np.zeros((0, 2), np.uint8),
        "big": 2**127 - 1,
    }
    state["one"] = np.array(2.5)
    checkpoint.write(tmp_path / "x", state)
    again = checkpoint.read(tmp_path / "x")
    assert again["a"][1]["b"].tolist() == [0, 1, 2]
    assert again["a"][2:] == ["text", None, True]
    assert again["c"].shape == (0, 2)
    assert again["big"] == 2**127 - 1
    assert (again["one"].shape, float(again["one"])) == ((), 2.5)


def test_a_file_holds_no_pickle_and_can_be_read_by_others(saved):
    with safe_open(saved, framework="numpy") as file:
        assert file.metadata()["csim"] == str(checkpoint.FORMAT)
        assert json.loads(file.metadata()["state"])["settings"]["recent"] == 200
        assert any("hidden" in name for name in file.keys())  # noqa: SIM118


@pytest.mark.parametrize("share", [0, 0.001, 0.3, 0.9, 0.999])
def test_a_truncated_file_is_refused(saved, tmp_path, share):
    content = saved.read_bytes()
    (tmp_path / "cut").write_bytes(content[: int(len(content) * share)])
    with pytest.raises(CheckpointError, match="not a whole csim file"):
        StreamClassifier.load(tmp_path / "cut")


def test_a_flipped_bit_anywhere_is_noticed(saved, tmp_path):
    content = bytearray(saved.read_bytes())
    rng = np.random.default_rng(0)
    for place in rng.integers(8, len(content), 25):
        damaged = bytearray(content)
        damaged[place] ^= 1 << int(rng.integers(8))
        (tmp_path / "flipped").write_bytes(damaged)
        with pytest.raises(CheckpointError):
            StreamClassifier.load(tmp_path / "flipped")


def test_a_foreign_file_is_refused(tmp_path):
    (tmp_path / "text").write_text("hello")
    with pytest.raises(CheckpointError, match="not a whole csim file"):
        StreamClassifier.load(tmp_path / "text")
    save_file({"weights": np.zeros(3)}, tmp_path / "other.safetensors")
    with pytest.raises(CheckpointError, match="was not written by csim"):
        StreamClassifier.load(tmp_path / "other.safetensors")


@pytest.mark.parametrize(
    ("written", "advice"),
    [
        (0, "the csim that wrote it"),
        (3, "the csim that wrote it"),
        (checkpoint.FORMAT + 1, "a newer csim"),
    ],
)
def test_a_file_of_another_format_is_refused_and_one_is_told_what_reads_it(
    saved, tmp_path, written, advice
):
    with safe_open(saved, framework="numpy") as file:
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        header = file.metadata() | {"csim": str(written)}
    save_file(arrays, tmp_path / "other", metadata=header)
    reads = f"this program reads {checkpoint.FORMAT}"
    with pytest.raises(CheckpointError, match=f"has format {written}, {reads}; use {advice}$"):
        StreamClassifier.load(tmp_path / "other")


def test_the_number_of_the_format_is_judged_before_anything_else_is_read(tmp_path):
    header = {"csim": "1", "state": "no JSON at all", "sha256": "0"}
    save_file({"weights": np.zeros(3)}, tmp_path / "old", metadata=header)
    with pytest.raises(CheckpointError, match="has format 1"):
        StreamClassifier.load(tmp_path / "old")


def test_a_missing_file_or_a_folder_is_refused(tmp_path):
    with pytest.raises(CheckpointError, match="there is no file"):
        StreamClassifier.load(tmp_path / "nothing")
    with pytest.raises(CheckpointError, match="it is a folder"):
        StreamClassifier.load(tmp_path)


def test_a_file_of_a_stream_folder_is_refused_with_what_reads_it(saved, tmp_path):
    clf = StreamClassifier.load(saved)
    for name, state in (
        ("model", checkpoint.model_state(clf._model)),
        ("snapshot", clf._engine.state()),
    ):
        checkpoint.write(tmp_path / name, state)
        with pytest.raises(CheckpointError, match=r"part of a stream folder.*csim run"):
            StreamClassifier.load(tmp_path / name)


def test_a_failed_write_leaves_the_old_file_and_nothing_else(saved, tmp_path):
    path = tmp_path / "stream.csim"
    path.write_bytes(saved.read_bytes())
    with pytest.raises(TypeError):
        checkpoint.write(path, {"cannot": object()})
    assert path.read_bytes() == saved.read_bytes()
    assert list(tmp_path.iterdir()) == [path]


def test_an_unfitted_classifier_has_nothing_to_save(tmp_path):
    with pytest.raises(NotFittedError):
        StreamClassifier().save(tmp_path / "x")
    assert list(tmp_path.iterdir()) == []


def test_recent_images_and_their_classes_are_saved_and_may_still_be_revised(tmp_path):
    clf = fitted()
    clf.observe(digit_stream().images[:70])
    clf.save(tmp_path / "x")
    again = StreamClassifier.load(tmp_path / "x")
    one, other = (each._engine.discovery.pool for each in (clf, again))
    assert len(one) > 60
    assert one.revisable(70) == other.revisable(70)
    assert all((a.image == b.image).all() for a, b in zip(one.items(), other.items(), strict=True))
    assert again.classes.remove(0) == clf.classes.remove(0)
    assert one.revisable(70) == other.revisable(70)


def test_loading_says_nothing_and_trains_nothing(saved):
    heard = []
    clf = StreamClassifier.load(saved, on_event=heard.append)
    assert heard == []
    assert clf.training_seconds == 0


class Pixels:
    def embed(self, images):
        return images.reshape(len(images), -1).astype(float)


def test_a_foreign_encoder_must_be_given_back_at_loading(tmp_path, saved):
    clf = fitted(Settings(**SMALL), encoder=Pixels())
    clf.save(tmp_path / "foreign")
    with pytest.raises(CheckpointError, match="needs the encoder"):
        StreamClassifier.load(tmp_path / "foreign")
    with pytest.raises(CheckpointError, match="without an encoder"):
        StreamClassifier.load(saved, encoder=Pixels())
    again = StreamClassifier.load(tmp_path / "foreign", encoder=Pixels())
    images = digit_stream().images[:50]
    assert (again.predict_proba(images) == clf.predict_proba(images)).all()


def test_a_file_of_the_format_before_is_read_as_it_was_meant(tmp_path, monkeypatch):
    clf = fitted(Settings(**SMALL))
    clf.observe(digit_stream().images[:130])
    clf.save(tmp_path / "new")
    state = checkpoint.read(tmp_path / "new")
    settings = state["settings"]
    settings["look"] = settings.pop("ask_every")
    state["discovery"]["pool"]["last_look"] = state["discovery"].pop("last_search")
    del state["gallery"]
    with monkeypatch.context() as patch:
        patch.setattr(checkpoint, "FORMAT", 4)
        checkpoint.write(tmp_path / "old", state)
    again = StreamClassifier.load(tmp_path / "old")
    assert again.settings == clf.settings
    images = digit_stream().images[130:260]
    assert again.observe(images) == clf.observe(images)
