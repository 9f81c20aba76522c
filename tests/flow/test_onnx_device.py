"""A stream that embeds with ONNX Runtime, beside the same stream with torch."""

import sys

import numpy as np
import pytest
from digit_stream import SMALL, digit_stream, fitted, of

from csim.classifier import StreamClassifier
from csim.embed.graph import GraphEncoder
from csim.errors import EncoderError, SettingsError
from csim.records import Accepted, Asked, Rejected
from csim.settings import Settings

IMAGES = digit_stream().images[:300]


@pytest.fixture(scope="module")
def by_torch():
    return fitted(Settings(**SMALL))


@pytest.fixture(scope="module")
def by_graph():
    return fitted(Settings(**SMALL, device="onnx"))


def test_both_train_the_same_weights(by_torch, by_graph):
    ours = by_graph._engine.model.network
    theirs = by_torch._engine.model.network
    assert all((ours[name] == theirs[name]).all() for name in theirs)


def test_the_graph_embeds_and_nothing_else(by_graph):
    assert isinstance(by_graph._engine.gallery._encoder, GraphEncoder)


def test_scores_differ_by_rounding_alone(by_torch, by_graph):
    difference = by_torch.predict_proba(IMAGES) - by_graph.predict_proba(IMAGES)
    assert np.abs(difference).max() < 1e-4
    assert np.abs(by_torch.transform(IMAGES) - by_graph.transform(IMAGES)).max() < 1e-4


def test_images_get_the_same_decisions_and_questions():
    seen = []
    for device in ("cpu", "onnx"):
        events = fitted(Settings(**SMALL, device=device)).observe(IMAGES)
        seen.append(
            [
                [(e.item_id, e.class_id) for e in of(Accepted, events)],
                [e.item_id for e in of(Rejected, events)],
                [e.question.representative.id for e in of(Asked, events)],
            ]
        )
    assert seen[0] == seen[1]
    assert all(seen[0])


def test_a_saved_stream_says_what_embeds_it(by_graph, tmp_path):
    by_graph.save(tmp_path / "stream")
    again = StreamClassifier.load(tmp_path / "stream")
    assert again.settings.device == "onnx"
    assert (again.transform(IMAGES) == by_graph.transform(IMAGES)).all()


@pytest.mark.parametrize("module", ["onnxruntime", "onnx"])
def test_without_the_extra_the_error_says_what_to_install(monkeypatch, module):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(EncoderError, match=r"device=\"onnx\".*pip install 'csim-stream\[onnx\]'"):
        fitted(Settings(**SMALL, device="onnx"))


def test_an_unknown_device_is_refused_with_the_names_that_are_known():
    with pytest.raises(SettingsError, match='device must be "auto", "onnx" or one that torch'):
        fitted(Settings(**SMALL, device="abacus"))
