import hashlib
import sys

import numpy as np
import onnx
import pytest
from embed.photographs import draw_photographs
from onnx import TensorProto, helper

from csim.embed.onnx import OnnxEncoder
from csim.errors import EncoderError


def write_network(path, *, shape=("n", 3, 16, 16), kind=TensorProto.FLOAT, metadata=None):
    """Write a network that returns the mean of each channel."""
    axes = [2, 3] if shape[1] == 3 else [1, 2]
    nodes = [
        helper.make_node("Cast", ["x"], ["y"], to=TensorProto.FLOAT),
        helper.make_node("ReduceMean", ["y"], ["z"], axes=axes, keepdims=0),
    ]
    inputs = [helper.make_tensor_value_info("x", kind, shape)]
    outputs = [helper.make_tensor_value_info("z", TensorProto.FLOAT, (shape[0], 3))]
    graph = helper.make_graph(nodes, "means", inputs, outputs)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    helper.set_model_props(model, metadata or {})
    onnx.save(model, path)
    return str(path)


@pytest.mark.parametrize("first", ["n", 1])
def test_a_float_network_gets_values_of_0_to_1(tmp_path, first):
    encoder = OnnxEncoder(write_network(tmp_path / "a.onnx", shape=(first, 3, 16, 16)))
    images = draw_photographs(11, 16)
    assert encoder.image_shape == (16, 16, 3)
    assert encoder.embed(images) == pytest.approx(images.mean(axis=(1, 2)) / 255, abs=1e-5)


def test_mean_and_std_in_the_metadata_scale_the_values(tmp_path):
    metadata = {"mean": "0.5, 0.4, 0.3", "std": "0.1,0.2,0.4"}
    encoder = OnnxEncoder(write_network(tmp_path / "a.onnx", metadata=metadata))
    images = draw_photographs(2, 16)
    scaled = (images.mean(axis=(1, 2)) / 255 - [0.5, 0.4, 0.3]) / [0.1, 0.2, 0.4]
    assert encoder.embed(images) == pytest.approx(scaled, abs=1e-4)


def test_a_network_of_bytes_gets_the_pixels(tmp_path):
    path = write_network(tmp_path / "a.onnx", shape=("n", 16, 24, 3), kind=TensorProto.UINT8)
    images = draw_photographs(3, 24)[:, :16]
    assert OnnxEncoder(path).embed(images) == pytest.approx(images.mean(axis=(1, 2)), abs=1e-3)


@pytest.mark.parametrize(
    "shape", [("n", 1, 16, 16), ("n", 3, "h", 16), ("n", 3, 16), ("n", 3, 4, 4)]
)
def test_a_network_of_another_input_is_refused(tmp_path, shape):
    path = tmp_path / "a.onnx"
    node = helper.make_node("Identity", ["x"], ["z"])
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)]
    outputs = [helper.make_tensor_value_info("z", TensorProto.FLOAT, shape)]
    graph = helper.make_graph([node], "same", inputs, outputs)
    onnx.save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), path
    )
    with pytest.raises(EncoderError, match="export it again"):
        OnnxEncoder(str(path))


def test_bad_numbers_in_the_metadata_are_refused(tmp_path):
    path = write_network(tmp_path / "a.onnx", metadata={"mean": "0.5"})
    with pytest.raises(EncoderError, match="three numbers"):
        OnnxEncoder(path)


def test_a_damaged_file_is_refused(tmp_path):
    path = write_network(tmp_path / "a.onnx")
    (tmp_path / "a.onnx").write_bytes((tmp_path / "a.onnx").read_bytes()[:60])
    with pytest.raises(EncoderError, match="cannot load it"):
        OnnxEncoder(path)


def test_a_missing_file_and_a_missing_extra_say_what_to_do(tmp_path, monkeypatch):
    with pytest.raises(EncoderError, match="check the path"):
        OnnxEncoder(str(tmp_path / "none.onnx"))
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(EncoderError, match=r"pip install 'csim-stream\[onnx\]'"):
        OnnxEncoder(str(tmp_path / "none.onnx"))


def test_the_identity_is_the_files_sha256(tmp_path):
    path = write_network(tmp_path / "a.onnx")
    expected = hashlib.sha256((tmp_path / "a.onnx").read_bytes()).hexdigest()
    assert OnnxEncoder(path).identity.sha256 == expected
    assert np.isfinite(OnnxEncoder(path).embed(draw_photographs(1, 16))).all()
