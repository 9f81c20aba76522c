"""The exported graph, run by ONNX Runtime alone, decides as the stream does."""

import json

import numpy as np
import onnxruntime
import pytest
from digit_stream import digit_stream
from export.hostile_folder import change
from export.test_model import engine_of

from csim.errors import InputError
from csim.export.onnx_model import _payload, write_onnx
from csim.folder.reader import Reader
from csim.folder.send import send
from csim.messages import MergeClasses, RemoveClass

IMAGES = np.asarray(digit_stream().images, np.uint8)


def opened(content):
    return onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])


def run(session, images=IMAGES):
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, {"images": images}), strict=True))


def exported(folder, path):
    with Reader(folder) as reader:
        write_onnx(reader, path)
    return opened(path.read_bytes())


def test_the_graph_decides_as_the_stream_does(lived, tmp_path):
    session = exported(lived, tmp_path / "model.onnx")
    seen = run(session)
    engine = engine_of(lived)
    views = engine.gallery._encoder.view(IMAGES)
    scores = engine.head.scores(views.vectors)
    decisions = engine.head.decide(scores)
    assert np.abs(seen["vectors"] - views.vectors).max() < 1e-4
    assert np.abs(seen["features"] - views.features).max() < 1e-4
    assert np.abs(seen["probabilities"] - scores).max() < 1e-4
    assert seen["class_id"].tolist() == [decision.class_id for decision in decisions]
    assert seen["accepted"].tolist() == [decision.is_accepted for decision in decisions]
    assert set(seen["accepted"].tolist()) == {False, True}


def test_its_metadata_name_the_classes_of_its_columns(lived, tmp_path):
    session = exported(lived, tmp_path / "model.onnx")
    metadata = session.get_modelmeta().custom_metadata_map
    names = engine_of(lived).dialogue.catalogue.names()
    classes = json.loads(metadata["classes"])
    assert {entry["class_id"]: entry["name"] for entry in classes} == {
        class_id: names[class_id] for class_id in engine_of(lived).head.class_ids
    }
    assert len(classes) == run(session)["probabilities"].shape[1]


@pytest.mark.parametrize("count", [0, 1, 7])
def test_a_batch_may_have_any_size(lived, tmp_path, count):
    seen = run(exported(lived, tmp_path / "model.onnx"), IMAGES[:count])
    assert {len(output) for output in seen.values()} == {count}


def test_merged_classes_share_a_column_and_removed_ones_have_none(folder, tmp_path):
    before = run(exported(folder, tmp_path / "before.onnx"))["probabilities"]
    first, second, third = engine_of(folder).model.class_ids[:3]
    send(folder, [MergeClasses(second, first), RemoveClass(third)])
    after = run(exported(folder, tmp_path / "after.onnx"))["probabilities"]
    assert (after[:, 0] == before[:, :2].max(axis=1)).all()
    assert (after[:, 1:] == before[:, 3:]).all()


@pytest.mark.parametrize(("lowest", "accepts"), [(0.9, [True, True]), (2.0, [False, False])])
def test_by_the_papers_rule_any_class_may_accept(lived, lowest, accepts):
    """A threshold below every score of a class that is never the best accepts everything."""
    engine = engine_of(lived)
    class_ids = engine.model.class_ids
    columns = [{"class_id": c, "name": str(c), "threshold": lowest} for c in class_ids]
    columns[-1]["threshold"] = 0.0 if lowest < 1 else lowest
    card = {"columns": columns, "settings": {"threshold": "mean-bound"}}
    seen = run(opened(_payload(engine.model, card)), IMAGES[:2])
    assert seen["accepted"].tolist() == accepts


def test_without_thresholds_nothing_is_written(folder, tmp_path):
    change(folder, "UPDATE snapshots SET model = 1")
    (tmp_path / "out").mkdir()
    with Reader(folder) as reader, pytest.raises(InputError, match="no thresholds for model"):
        write_onnx(reader, tmp_path / "out/model.onnx")
    assert list((tmp_path / "out").iterdir()) == []
