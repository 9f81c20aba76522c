"""With a frozen encoder every image passes through it once, whatever happens to it later."""

import numpy as np
import pytest
from digit_stream import SMALL, digit_stream, of, truth_of
from tiny_encoder import counting, write_encoder

from csim import checkpoint
from csim.classifier import StreamClassifier
from csim.errors import CheckpointError, EncoderError, InputError
from csim.records import Asked, Item, Retrained, Revised, stack
from csim.settings import Settings


@pytest.fixture(scope="module")
def name(tmp_path_factory):
    return write_encoder(tmp_path_factory.mktemp("encoder") / "pixels.onnx")


def fitted(name, **changes):
    stream = digit_stream()
    settings = Settings(**SMALL | {"encoder": name, "update_labels": 5} | changes)
    return StreamClassifier(settings).fit(stream.warm_up, stream.warm_up_names)


def feed(clf, images, truth):
    """Show images in small batches and answer all questions; return the events."""
    events = []
    for start in range(0, len(images), 40):
        events += clf.observe(images[start : start + 40])
        answers = {q.id: truth[q.representative.id] for q in clf.questions()}
        events += clf.tell(answers)
    return events


def test_an_image_passes_once_though_models_change_and_recent_images_are_decided_again(name):
    stream = digit_stream()
    with counting() as passes:
        clf = fitted(name)
        assert sum(passes) == len(stream.warm_up)
        events = feed(clf, stream.images[:400], truth_of(stream))
        assert sum(passes) == len(stream.warm_up) + 400
    assert len(of(Retrained, events)) >= 3
    assert of(Revised, events)
    assert of(Asked, events)


def test_after_loading_nothing_passes_again(name, tmp_path):
    stream = digit_stream()
    clf = fitted(name)
    feed(clf, stream.images[:200], truth_of(stream))
    clf.save(tmp_path / "saved")
    with counting() as passes:
        again = StreamClassifier.load(tmp_path / "saved")
        assert passes == []
        after = feed(again, stream.images[200:320], truth_of(stream))
        assert sum(passes) == 120
    assert after == feed(clf, stream.images[200:320], truth_of(stream))


def test_images_of_any_size_and_colour_are_taken(name):
    stream = digit_stream()
    clf = fitted(name)
    large = stream.images[:6].repeat(40, axis=1).repeat(40, axis=2)  # (6, 320, 320)
    colour = np.stack([large] * 3, axis=3)
    small = clf.predict_proba(stream.images[:6])
    assert clf.predict_proba(colour) == pytest.approx(small, abs=0.02)
    mixed = [large[0], colour[1], stream.images[2]]
    assert clf.predict_proba(mixed) == pytest.approx(small[:3], abs=0.02)
    assert clf.predict_proba(stream.images[:0]).shape == (0, 3)


def test_what_is_remembered_of_a_photograph_is_a_vector_and_a_small_picture(tmp_path):
    name = write_encoder(tmp_path / "large.onnx", side=160)
    stream = digit_stream()
    clf = StreamClassifier(Settings(**SMALL | {"encoder": name}))
    clf.fit(stream.warm_up[::4], stream.warm_up_names[::4])
    clf.observe(stream.images[:3].repeat(40, axis=1).repeat(40, axis=2))
    for item in clf._engine.discovery.pool.items():
        assert item.frozen.dtype == np.float16
        assert item.frozen.shape == (3 * 160 * 160,)
        assert item.image.shape == (96, 96, 3)


def test_another_encoder_is_refused_at_loading(tmp_path):
    path = tmp_path / "pixels.onnx"
    clf = fitted(write_encoder(path))
    clf.save(tmp_path / "saved")
    write_encoder(path, sign=-1.0)
    with pytest.raises(EncoderError, match=r"the encoder must be onnx:.* as before; got onnx:"):
        StreamClassifier.load(tmp_path / "saved")
    path.unlink()
    with pytest.raises(EncoderError, match="check the path"):
        StreamClassifier.load(tmp_path / "saved")


def test_settings_and_an_encoder_of_yours_must_not_both_name_one(name):
    class Pixels:
        def embed(self, images):
            return images.reshape(len(images), -1)

    stream = digit_stream()
    clf = StreamClassifier(Settings(encoder=name), encoder=Pixels())
    with pytest.raises(EncoderError, match="leave one out"):
        clf.fit(stream.warm_up, stream.warm_up_names)


def test_a_file_of_the_format_before_is_given_its_vectors(tmp_path, monkeypatch):
    class Pixels:
        def embed(self, images):
            return images.reshape(len(images), -1).astype(float)

    stream = digit_stream()
    clf = StreamClassifier(Settings(**SMALL), encoder=Pixels())
    clf.fit(stream.warm_up, stream.warm_up_names)
    clf.observe(stream.images[:130])
    clf.save(tmp_path / "new")
    state = checkpoint.read(tmp_path / "new")
    del state["image_shape"], state["model"]["encoder"]
    state["model"]["image_shape"] = [8, 8]
    for part in (state["store"], state["discovery"]["pool"], state["dialogue"]["ledger"]):
        del part["items"]["frozen"]
    with monkeypatch.context() as patch:
        patch.setattr(checkpoint, "FORMAT", 5)
        checkpoint.write(tmp_path / "old", state)
    again = StreamClassifier.load(tmp_path / "old", encoder=Pixels())
    images = stream.images[130:260]
    assert again.observe(images) == clf.observe(images)
    with pytest.raises(CheckpointError, match="needs the encoder"):
        StreamClassifier.load(tmp_path / "old")


def test_an_encoder_that_returns_nan_leaves_the_stream_as_it_was(tmp_path):
    class Failing:
        def __init__(self):
            self.value = 1.0

        def embed(self, images):
            return images.reshape(len(images), -1) * self.value

    stream = digit_stream()
    encoder = Failing()
    clf = StreamClassifier(Settings(**SMALL), encoder=encoder)
    clf.fit(stream.warm_up, stream.warm_up_names)
    encoder.value = np.nan
    with pytest.raises(InputError, match="not a finite number"):
        clf.observe(stream.images[:5])
    encoder.value = 1.0
    assert clf.observe(stream.images[:1])[0].position == 1


def test_models_see_the_vector_of_an_item_that_has_one():
    image = np.zeros((8, 8), np.uint8)
    vectors = np.eye(2, dtype=np.float16)
    items = [Item(str(index), index, image, vector) for index, vector in enumerate(vectors)]
    assert (stack(items) == vectors).all()
    assert stack([Item("a", 1, image)]).shape == (1, 8, 8)
