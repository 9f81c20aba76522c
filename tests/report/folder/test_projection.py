"""The projection of a report takes frozen vectors from the folder."""

import pytest
from colour_folder import colour, make_colour
from tiny_encoder import counting, write_encoder

from csim.folder.reader import Reader
from csim.folder.stream import Stream
from csim.report.folder.projection import project_items


@pytest.fixture
def encoder(tmp_path):
    return tmp_path / "pixels.onnx"


def make_folder(encoder, **changes):
    folder = make_colour(encoder.parent / "stream", write_encoder(encoder), **changes)
    with Stream(folder, trainer=None) as stream:
        stream.take(colour(60))
    return folder


def test_no_image_passes_through_the_encoder_again(encoder):
    folder = make_folder(encoder)
    with Reader(folder) as reader, counting() as passes:
        shown = project_items(reader, 1)
        assert len(shown.names) == len(shown.panels[0].points) == len(reader.samples.spread(600))
    assert passes == []


def test_images_whose_vector_is_gone_pass_through_it(encoder):
    folder = make_folder(encoder, store_size=2)
    with Reader(folder) as reader, counting() as passes:
        shown = project_items(reader, 1)
        places = [item.place for item in reader.samples.spread(600)]
        assert len(shown.names) == len(places)
        assert sum(passes) == len(places) - len(reader.frozen_vectors.at(places)) > 0


def test_without_the_encoder_it_shows_the_images_whose_vector_is_there(encoder):
    folder = make_folder(encoder, store_size=2)
    encoder.unlink()
    with Reader(folder) as reader:
        places = [item.place for item in reader.samples.spread(600)]
        known = len(reader.frozen_vectors.at(places))
        assert len(project_items(reader, 1).names) == known < len(places)


def test_without_the_encoder_and_without_vectors_there_is_no_projection(encoder):
    folder = make_colour(encoder.parent / "stream", write_encoder(encoder))
    encoder.unlink()
    for file in folder.glob("snapshots/*"):
        file.unlink()
    with Reader(folder) as reader:
        assert project_items(reader, 1) is None
