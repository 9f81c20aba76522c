"""A stream folder with a frozen encoder: each image passes once, and vectors replace pixels."""

import shutil
from dataclasses import asdict, replace

import numpy as np
import pytest
from colour_folder import SHAPE, colour, make_colour
from digit_folder import SETTINGS, rows
from folder.in_process import InProcessTrainer
from folder.story import knowledge, reply
from safetensors.numpy import load_file
from tiny_encoder import counting, write_encoder

from csim import checkpoint
from csim.errors import EncoderError, InputError
from csim.export.model import write_model
from csim.folder.layout import Config, Layout
from csim.folder.make import make
from csim.folder.reader import Reader
from csim.folder.stream import Stream
from csim.records import View
from csim.sources.arrival import Arrival
from csim.sources.decode import decode


@pytest.fixture(scope="module")
def name(tmp_path_factory):
    return write_encoder(tmp_path_factory.mktemp("encoder") / "pixels.onnx")


@pytest.fixture(scope="module")
def base(name, tmp_path_factory):
    return make_colour(tmp_path_factory.mktemp("base") / "stream", name)


@pytest.fixture
def folder(base, tmp_path):
    return shutil.copytree(base, tmp_path / "stream")


def run(folder, images, size=30):
    with Stream(folder, trainer=InProcessTrainer) as stream:
        for start in range(0, len(images), size):
            stream.take(images[start : start + size])
            reply(folder)
        return knowledge(stream)


def test_an_image_passes_once_and_a_restart_needs_no_pass(folder, tmp_path):
    images = colour(300)
    with counting() as passes:
        with Stream(folder, trainer=InProcessTrainer) as stream:
            for start in range(0, 300, 30):
                stream.take(images[start : start + 30])
                reply(folder)
            assert sum(passes) == 300
            killed = shutil.copytree(folder, tmp_path / "killed")  # no snapshot of its end
            before = knowledge(stream)
        with Stream(killed, trainer=InProcessTrainer) as stream:
            assert knowledge(stream) == before
        assert sum(passes) == 300
    assert rows(folder, "SELECT count(*) > 1 FROM models WHERE installed_at IS NOT NULL") == [(1,)]


def test_the_size_of_batches_changes_nothing(base, tmp_path):
    one = run(shutil.copytree(base, tmp_path / "one"), colour(90), 90)
    assert run(shutil.copytree(base, tmp_path / "two"), colour(90), 7) == one


def test_the_log_and_snapshots_hold_vectors_and_no_pixels(folder):
    with Stream(folder, trainer=None) as stream:
        stream.take(colour(100))
        ((content,),) = rows(folder, "SELECT pixels FROM steps WHERE kind = 'observe'")
        assert len(content) < 100 * (2 * 192 + 8)  # two bytes a number
    with Reader(folder) as reader:
        step = reader.models.newest_snapshot(1).step
    pool = checkpoint.read(Layout(folder).snapshot(step))["discovery"]["pool"]["items"]
    assert pool["images"].size == 0
    assert pool["frozen"].dtype == np.float16
    assert rows(folder, "SELECT count(*) FROM items WHERE place > 0 AND picture IS NULL") == [(0,)]


def test_a_view_from_elsewhere_spares_the_encoder(folder):
    images = colour(4)
    with Stream(folder, trainer=None) as stream, counting() as passes:
        frozen = stream._frozen.embed(np.stack([image.image for image in images]))
        passes.clear()
        gallery = stream._engine.gallery
        views = [View(gallery.embed(row[None])[0], row.astype(np.float32), 1) for row in frozen]
        stream.take(images, [*views[:3], None])
        assert sum(passes) == 1
        kept = [item.frozen for item in stream._engine.discovery.pool.items()]
    assert np.stack(kept) == pytest.approx(frozen)


def test_training_needs_no_encoder(tmp_path):
    name = write_encoder(tmp_path / "pixels.onnx")
    folder = make_colour(tmp_path / "stream", name)
    with Stream(folder, trainer=InProcessTrainer) as stream:
        stream.take(colour(120))
        reply(folder)
        (tmp_path / "pixels.onnx").unlink()
        stream.finish()
    assert rows(folder, "SELECT count(*) > 1 FROM models WHERE installed_at IS NOT NULL") == [(1,)]


def test_images_that_differ_in_their_vectors_alone_are_different_images(folder):
    """The engine sees no pixels, and must not take all images for one and the same."""
    run(folder, colour(200))
    ((asked,),) = rows(folder, "SELECT count(DISTINCT representative) FROM questions")
    assert asked > 8
    twice = "SELECT count(*) FROM questions q JOIN members m ON m.question_id = q.id"
    assert rows(folder, twice)[0][0] < 100


def test_every_model_and_the_folder_name_the_encoder(folder, name):
    run(folder, colour(200))
    with Reader(folder) as reader:
        expected = reader.config.encoder
        version = reader.models.in_use()
    assert version > 1
    assert expected.name == name
    state = checkpoint.read(Layout(folder).model(version))
    assert checkpoint.model_from(state).encoder == expected


def test_a_folder_whose_encoder_changed_or_is_gone_is_refused_and_stays_as_it_was(tmp_path):
    name = write_encoder(tmp_path / "pixels.onnx")
    folder = make_colour(tmp_path / "stream", name)
    before = run(folder, colour(60))
    write_encoder(tmp_path / "pixels.onnx", sign=-1.0)
    with pytest.raises(EncoderError, match="as before"):
        Stream(folder)
    (tmp_path / "pixels.onnx").unlink()
    with pytest.raises(EncoderError, match="check the path"):
        Stream(folder)
    with Reader(folder) as reader:
        assert reader.history.position() == 60
    write_encoder(tmp_path / "pixels.onnx")
    with Stream(folder, trainer=None) as stream:
        assert knowledge(stream) == before


def test_images_must_have_the_encoders_shape(tmp_path, name):
    images = [decode(Arrival(str(n), np.zeros((9, 9), np.uint8)), (9, 9)) for n in range(4)]
    config = Config(replace(SETTINGS, encoder=name), (9, 9))
    with pytest.raises(InputError, match=r"takes images \(8, 8, 3\)"):
        make(tmp_path / "stream", config, images, ["a", "b"] * 2)
    assert not (tmp_path / "stream").exists()


def test_the_exported_model_gives_the_streams_scores_from_the_encoders_vectors(folder, tmp_path):
    run(folder, colour(60))
    with Reader(folder) as reader:
        card = write_model(reader, tmp_path / "model")
        expected = reader.config.encoder
    assert card["encoder"] == asdict(expected)
    assert card["image_shape"] == list(SHAPE)
    arrays = load_file(tmp_path / "model.safetensors")
    images = np.stack([image.image for image in colour(5)])
    with Stream(folder, trainer=None) as stream:
        theirs = stream.scores(images)
        vectors = stream._frozen.embed(images) - arrays["network.body.mean"]
    axes = arrays["network.body.axes"]
    vectors = vectors - (vectors @ axes.T * arrays["network.body.damping"]) @ axes
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    scores = 1 / (1 + np.exp(-(vectors @ arrays["weights"].T + arrays["bias"])))
    assert scores == pytest.approx(theirs, abs=1e-4)
