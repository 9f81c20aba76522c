"""Vectors of a folder's images under one model after another: who passes through the encoder."""

import numpy as np
import pytest
from colour_folder import colour, make_colour
from digit_folder import arrivals, make_folder, rows
from folder.in_process import InProcessTrainer
from folder.story import reply
from tiny_encoder import counting, write_encoder

from csim.build import open_encoder
from csim.folder import image_vectors
from csim.folder.image_vectors import ImageVectors
from csim.folder.jobs import read_model
from csim.folder.reader import Reader
from csim.folder.stream import Stream

pytestmark = pytest.mark.slow


def run(root, images):
    """Let the folder take images and answers until a second model is in use."""
    with Stream(root, trainer=InProcessTrainer) as stream:
        for start in range(0, len(images), 30):
            stream.take(images[start : start + 30])
            reply(root)
        stream.finish()
    return root


@pytest.fixture(scope="module")
def frozen(tmp_path_factory):
    """Return a folder whose store holds 2 images per class: the vectors of others are gone."""
    path = tmp_path_factory.mktemp("frozen")
    name = write_encoder(path / "pixels.onnx")
    return run(make_colour(path / "stream", name, store_size=2), colour(120))


@pytest.fixture(scope="module")
def own(tmp_path_factory):
    return run(make_folder(tmp_path_factory.mktemp("own") / "stream"), arrivals(120))


def pictured(root):
    return [place for (place,) in rows(root, "SELECT place FROM items WHERE picture IS NOT NULL")]


def vectors(known, reader, version, places):
    known.use(reader, version)
    known.embed(reader, known.missing(reader, places))
    return known.at(places)


@pytest.mark.parametrize("kind", ["frozen", "own"])
def test_vectors_are_those_of_each_model(kind, request):
    root = request.getfixturevalue(kind)
    places = pictured(root)[::3]
    known = ImageVectors()
    with Reader(root) as reader:
        newest = reader.models.in_use()
        for version in (newest, newest - 1):
            found = vectors(known, reader, version, places)
            assert [*found] == places
            encoder = open_encoder(reader.config.settings, read_model(reader.layout, version))
            images = np.stack([image_vectors._kept_image(reader, place) for place in places])
            assert np.stack([*found.values()]) == pytest.approx(encoder.embed(images), abs=1e-5)


def test_only_images_whose_vector_is_gone_pass_and_only_once(frozen):
    places = pictured(frozen)
    with Reader(frozen) as reader:
        gone = set(places) - set(reader.frozen_vectors.at(places))
        assert 0 < len(gone) < len(places)
        newest = reader.models.in_use()
        known = ImageVectors()
        with counting() as passes:
            for version in (newest - 1, newest):
                assert [*vectors(known, reader, version, places)] == places
                assert sum(passes) == len(gone)


def test_an_image_without_a_picture_and_a_vector_stays_missing(frozen):
    with Reader(frozen) as reader:
        assert vectors(ImageVectors(), reader, reader.models.in_use(), [4000]) == {}


def test_images_that_nobody_wants_are_forgotten(frozen, monkeypatch):
    monkeypatch.setattr(image_vectors, "_MOST_REMEMBERED", 20)
    places = pictured(frozen)
    known = ImageVectors()
    with Reader(frozen) as reader:
        for start in range(0, 60, 10):
            wanted = places[start : start + 15]  # some of them were wanted before
            assert [*vectors(known, reader, reader.models.in_use(), wanted)] == wanted
            assert len(known._vectors) <= 20
