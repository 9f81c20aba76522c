import numpy as np
import pytest
from digit_stream import digit_stream
from tiny_encoder import counting, write_encoder

from csim.bench.methods import open_with, settings_of
from csim.bench.vector_cache import open_cached
from csim.records import Retrained
from csim.settings import Settings

IMAGES = np.random.default_rng(0).integers(0, 256, (300, 8, 8, 3), dtype=np.uint8)


@pytest.fixture
def settings(tmp_path):
    return Settings(encoder=write_encoder(tmp_path / "pixels.onnx"))


def test_an_image_is_embedded_once_on_a_machine(settings, tmp_path):
    with counting() as passes:
        first = open_cached(settings, tmp_path / "cache")
        vectors = first.embed(IMAGES)
        again = first.embed(IMAGES[::-1])
        assert sum(passes) == 300
        later = open_cached(settings, tmp_path / "cache").embed(IMAGES[:100])
        assert sum(passes) == 300
    assert (again == vectors[::-1]).all()
    assert (later == vectors[:100]).all()


def test_equal_images_in_one_batch_pass_once(settings, tmp_path):
    with counting() as passes:
        vectors = open_cached(settings, tmp_path).embed(IMAGES[[0, 1, 0]])
    assert sum(passes) == 2
    assert (vectors[0] == vectors[2]).all()


def test_a_damaged_cache_is_made_again(settings, tmp_path):
    open_cached(settings, tmp_path / "cache").embed(IMAGES)
    (file,) = (tmp_path / "cache").iterdir()
    file.write_bytes(file.read_bytes()[:500])
    with counting() as passes:
        open_cached(settings, tmp_path / "cache").embed(IMAGES)
    assert sum(passes) == 300


def test_csims_own_network_has_no_cache():
    assert open_cached(Settings()) is None


def test_logistic_regression_learns_new_classes_on_the_same_vectors(
    settings, tmp_path, monkeypatch
):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    stream = digit_stream()
    changes = {"encoder": settings.encoder}
    events = []
    method = open_with(settings_of("logistic", seed=0, budget=0.2, changes=changes))(events.append)
    method.fit(stream.warm_up, stream.warm_up_names)
    for start in range(0, 400, 16):
        method.observe(stream.images[start : start + 16])
        names = {q.id: stream.names[q.representative.position - 1] for q in method.questions()}
        method.tell(names)
    assert len(method.classes_) > len(set(stream.warm_up_names))
    assert sum(isinstance(event, Retrained) for event in events) > 2
    known = [index for index in range(400, 500) if stream.names[index] in method.classes_]
    scores = method.predict_proba(stream.images[known])
    right = method.classes_[scores.argmax(axis=1)] == np.array(stream.names)[known]
    assert right.mean() > 0.8
