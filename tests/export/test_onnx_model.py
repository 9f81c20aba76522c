"""The exported graph, run by ONNX Runtime alone, decides as the stream does."""

import json
from dataclasses import replace

import numpy as np
import onnxruntime
import pytest
from digit_stream import digit_stream
from export.hostile_folder import change
from export.test_model import engine_of

from csim.classifier import StreamClassifier
from csim.errors import InputError
from csim.export.onnx_model import _payload, write_onnx
from csim.folder.reader import Reader
from csim.folder.send import send
from csim.messages import MergeClasses, RemoveClass
from csim.records import EncoderId
from csim.settings import Settings

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


def colours(count):
    """Return photographs of a red, a green and a blue kind, each a little different."""
    rng = np.random.default_rng(0)
    base = 60 + 120 * np.eye(3)[np.arange(count) % 3]
    coarse = rng.normal(0, 25, (count, 8, 8, 3)).repeat(28, 1).repeat(28, 2)
    images = (base[:, None, None] + coarse).clip(0, 255).astype(np.uint8)
    return images, np.array(["red", "green", "blue"])[np.arange(count) % 3]


def card_of(engine):
    fitted = engine.head.state()
    columns = [
        {"class_id": class_id, "name": str(class_id), "threshold": lowest}
        for class_id, lowest in zip(fitted["class_ids"], fitted["lowest"].tolist(), strict=True)
    ]
    return {"columns": columns, "settings": {"threshold": "quantile"}}


def test_the_graph_of_a_pretrained_encoder_holds_it_and_decides_as_csim_does():
    images, names = colours(48)
    classifier = StreamClassifier(Settings(encoder="lite0")).fit(images[:36], names[:36])
    engine = classifier._engine
    engine.refresh()
    strange = np.random.default_rng(1).integers(0, 256, (3, 224, 224, 3), np.uint8)
    shown = np.concatenate([images[36:], strange])
    seen = run(opened(_payload(engine.model, card_of(engine))), shown)
    assert np.abs(seen["vectors"] - classifier.transform(shown)).max() < 1e-4
    assert (seen["features"] == seen["vectors"]).all()
    assert np.abs(seen["probabilities"] - classifier.predict_proba(shown)).max() < 1e-4
    given = np.where(seen["accepted"], seen["class_id"], -1)
    id_of = {summary.name: summary.id for summary in classifier.classes}
    expected = [-1 if name is None else id_of[name] for name in classifier.predict(shown)]
    assert given.tolist() == expected
    assert set(seen["accepted"].tolist()) == {False, True}


def test_the_best_class_is_right_however_low_the_scores(lived):
    engine = engine_of(lived)
    model = replace(engine.model, bias=engine.model.bias - 60)
    seen = run(opened(_payload(model, card_of(engine))))
    engine.head.install(model, lambda c: c)
    scores = engine.head.scores(engine.gallery._encoder.view(IMAGES).vectors)
    assert scores.max() < 1e-15
    assert seen["class_id"].tolist() == engine.head.classes(scores)[0]
    assert len(set(seen["class_id"].tolist())) > 1


def test_a_graph_of_another_encoder_is_refused(lived):
    engine = engine_of(lived)
    model = replace(engine.model, encoder=EncoderId("onnx:eyes.onnx", "ab12"))
    card = {"columns": [{"class_id": 1, "name": "a", "threshold": 0.5}], "settings": {}}
    with pytest.raises(
        InputError, match=r"own network and lite0 to lite2 .* onnx:eyes\.onnx; export"
    ):
        _payload(model, card)
