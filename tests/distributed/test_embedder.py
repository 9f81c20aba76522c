import numpy as np
import pytest
from digit_folder import arrivals

from csim.build import open_encoder
from csim.distributed.embedder import Embedder
from csim.folder.jobs import read_model
from csim.folder.layout import Layout
from csim.folder.reader import Reader
from csim.sources.arrival import Arrival, Decoded, Trouble


@pytest.fixture
def config(base):
    with Reader(base) as reader:
        return reader.config


def sent(count):
    return [Arrival(arrival.id, arrival.kept, source_name="pond") for arrival in arrivals(count)]


def test_images_come_back_decoded_with_the_view_that_the_engine_would_make(base, config):
    model = read_model(Layout(base), 1)
    found = Embedder(config).embed(model, sent(20))
    expected = open_encoder(config.settings, model).view(
        np.stack([arrival.image for arrival in arrivals(20)])
    )
    assert [image.id for image in found] == [arrival.id for arrival in arrivals(20)]
    assert all(image.source_name == "pond" and image.view.model == 1 for image in found)
    assert (
        np.stack([image.image for image in found]).tobytes()
        == np.stack([arrival.image for arrival in arrivals(20)]).tobytes()
    )
    vectors = np.stack([image.view.vector for image in found])
    features = np.stack([image.view.features for image in found])
    assert vectors.tobytes() == expected.vectors.tobytes()
    assert features.tobytes() == expected.features.tobytes()


def test_a_view_does_not_depend_on_the_other_images_of_its_call(base, config):
    model = read_model(Layout(base), 1)
    embedder = Embedder(config)
    together = embedder.embed(model, sent(9))
    alone = [embedder.embed(model, [arrival])[0] for arrival in sent(9)]
    for one, other in zip(together, alone, strict=True):
        assert one.view.vector.tobytes() == other.view.vector.tobytes()


def test_what_cannot_be_decoded_keeps_its_place(base, config):
    model = read_model(Layout(base), 1)
    first, second = sent(2)
    mixed = [Arrival("text", b"just text"), first, Arrival("empty", b""), second]
    found = Embedder(config).embed(model, mixed)
    assert [type(one) for one in found] == [Trouble, Decoded, Trouble, Decoded]
    assert [one.id for one in found] == ["text", first.id, "empty", second.id]
    assert Embedder(config).embed(model, []) == []
