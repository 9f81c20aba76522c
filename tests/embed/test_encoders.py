from functools import partial

import numpy as np
import pytest
import torch

from csim import build
from csim.embed import encoder as encoder_module
from csim.embed.backbone import OwnBackbone
from csim.embed.encoder import (
    CheckedEncoder,
    NetworkEncoder,
    WhitenedEncoder,
    WhitenedVectors,
)
from csim.embed.inputs import to_inputs
from csim.embed.network import ConvBody, OpenWorldNetwork
from csim.embed.network_trainer import seeded
from csim.embed.whitening import Whitening
from csim.errors import InputError
from csim.records import EncoderId, Model
from csim.settings import Settings

CPU = torch.device("cpu")
make_body = partial(
    ConvBody, conv_layers=1, channels=3, kernel=3, batch_norm=True, hidden_units=9, embedding_size=5
)


class Returning:
    """A foreign encoder that returns what it was made with, whatever the images."""

    def __init__(self, vectors):
        self.vectors = vectors

    def embed(self, images):
        return self.vectors


class Shades:
    """A foreign encoder: an image's mean and spread, one image at a time."""

    def embed(self, images):
        return np.array([[image.mean(), image.std()] for image in images])


def draw_images(count, shape=(8, 8), seed=0):
    return np.random.default_rng(seed).integers(0, 256, (count, *shape), dtype=np.uint8)


def make_encoder(shape=(8, 8)):
    with seeded(0):
        return NetworkEncoder(make_body(shape), CPU)


@pytest.mark.parametrize("shape", [(8, 8), (9, 10, 3)])
def test_inputs_are_the_pixels_from_0_to_1_with_channels_first(shape):
    images = draw_images(2, shape)
    inputs = to_inputs(images, CPU)
    assert inputs.dtype == torch.float32
    for n, y, x in [(0, 0, 0), (1, 3, 7), (1, 7, 2)]:
        assert inputs[n, :, y, x].tolist() == pytest.approx(np.atleast_1d(images[n, y, x]) / 255)


def test_chunks_do_not_change_vectors_and_features(monkeypatch):
    images = draw_images(23)
    whole = make_encoder().embed(images)
    seen = make_encoder().view(images)
    monkeypatch.setattr(encoder_module, "_CHUNK", 4)
    assert make_encoder().embed(images) == pytest.approx(whole, abs=1e-6)
    assert make_encoder().view(images).vectors == pytest.approx(whole, abs=1e-6)
    assert make_encoder().view(images).features == pytest.approx(seen.features, abs=1e-6)


@pytest.mark.parametrize("shape", [(8, 8), (28, 28), (12, 12, 3)])
def test_an_image_looks_the_same_to_the_last_bit_in_whatever_company(shape):
    encoder = NetworkEncoder(build.make_body(Settings(), shape), CPU)
    images = np.random.default_rng(0).integers(0, 256, (300, *shape), np.uint8)
    whole = encoder.view(images)
    for start, count in [(0, 1), (9, 1), (4, 2), (5, 3), (0, 4), (7, 31), (20, 257), (0, 259)]:
        part = encoder.view(images[start : start + count])
        assert len(part.vectors) == len(part.features) == count
        assert (part.vectors == whole.vectors[start : start + count]).all()
        assert (part.features == whole.features[start : start + count]).all()
        assert (encoder.embed(images[start : start + count]) == part.vectors).all()


def test_more_images_than_a_chunk_are_embedded_each_as_if_alone():
    images = draw_images(encoder_module._CHUNK + 3)
    encoder = make_encoder()
    vectors = encoder.embed(images)
    for place in (0, encoder_module._CHUNK - 1, encoder_module._CHUNK, len(images) - 1):
        assert vectors[place] == pytest.approx(
            encoder.embed(images[place : place + 1])[0], abs=1e-6
        )


def make_foreign(encoder, mean=(0.0, 0.0)):
    return WhitenedEncoder(CheckedEncoder(encoder), centring(mean))


def centring(mean):
    """Return a whitening that only subtracts a mean."""
    return Whitening.from_arrays({"body.mean": np.array(mean)})


@pytest.mark.parametrize("shape", [(8, 8), (16, 12, 3)])
def test_a_look_shows_the_same_vectors_and_the_features_that_the_body_saw(shape):
    images = draw_images(6, shape)
    encoder = make_encoder(shape)
    views = encoder.view(images)
    assert views.vectors == pytest.approx(encoder.embed(images), abs=1e-6)
    with seeded(0), torch.inference_mode():
        expected = make_body(shape).eval().view(to_inputs(images, CPU))[1].numpy()
    assert views.features == pytest.approx(expected, abs=1e-6)
    assert views.features.dtype == np.float32
    assert views.features.shape == (6, 3 * 4 * 4)


def test_a_foreign_encoders_features_are_its_vectors_as_the_model_sees_them():
    images = draw_images(4)
    views = make_foreign(Shades(), (120.0, 70.0)).view(images)
    assert (views.features == views.vectors).all()
    assert (views.vectors == make_foreign(Shades(), (120.0, 70.0)).embed(images)).all()


def test_vectors_are_float32_of_unit_length():
    for vectors in (
        make_encoder().embed(draw_images(6)),
        make_foreign(Shades()).embed(draw_images(6)),
    ):
        assert vectors.dtype == np.float32
        assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(6), abs=1e-5)


def test_a_foreign_encoders_vectors_are_seen_from_the_middle():
    images = draw_images(4)
    mean = np.array([120.0, 70.0])
    moved = np.array([[image.mean(), image.std()] for image in images]) - mean
    expected = [vector / np.sqrt((vector**2).sum()) for vector in moved]
    assert make_foreign(Shades(), mean.tolist()).embed(images) == pytest.approx(
        np.array(expected), abs=1e-5
    )


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_foreign_vectors_of_any_size_come_to_unit_length(size):
    vectors = make_foreign(Returning(np.array([[3.0, 4.0]]) * size)).embed(draw_images(1))
    assert vectors == pytest.approx(np.array([[0.6, 0.8]]), rel=1e-5)


def test_a_foreign_vector_in_the_very_middle_stays_finite():
    assert np.isfinite(
        make_foreign(Returning(np.ones((2, 2))), (1.0, 1.0)).embed(draw_images(2))
    ).all()


def test_an_empty_batch_does_not_reach_a_foreign_encoder():
    assert make_foreign(Returning(np.zeros(7))).embed(draw_images(0)).shape == (0, 2)


@pytest.mark.parametrize("shape", [(3,), (2, 4), (4, 4), (3, 2, 2), ()])
def test_a_foreign_encoder_must_give_one_vector_per_image(shape):
    with pytest.raises(InputError, match=r"one vector per image, \(3, d\)"):
        CheckedEncoder(Returning(np.ones(shape))).embed(draw_images(3))


@pytest.mark.parametrize("make", [CheckedEncoder, make_foreign])
def test_a_foreign_encoder_must_give_vectors_of_at_least_one_number(make):
    with pytest.raises(InputError, match=r"at least one number; it returned \(3, 0\)"):
        make(Returning(np.zeros((3, 0)))).embed(draw_images(3))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_foreign_encoder_must_give_finite_numbers(bad):
    vectors = np.ones((3, 2))
    vectors[1, 1] = bad
    with pytest.raises(InputError, match="not a finite number"):
        CheckedEncoder(Returning(vectors)).embed(draw_images(3))


@pytest.mark.parametrize("vectors", [[[1.0, 2.0], [3.0]], [["a", "b"], ["c", "d"]]])
def test_what_is_no_array_of_numbers_is_refused_with_our_error(vectors):
    with pytest.raises(InputError):
        CheckedEncoder(Returning(vectors)).embed(draw_images(2))


def test_a_foreign_encoder_may_return_tensors_that_carry_gradients():
    vectors = torch.tensor([[3.0, 4.0]], requires_grad=True)
    assert CheckedEncoder(Returning(vectors)).embed(draw_images(1)).tolist() == [[3.0, 4.0]]


def test_a_foreign_encoders_own_array_is_neither_edited_nor_handed_on():
    own = np.array([[3.0, 4.0]], np.float32)
    for encoder in (CheckedEncoder(Returning(own)), make_foreign(Returning(own), (1.0, 1.0))):
        vectors = encoder.embed(draw_images(1))
        assert own.tolist() == [[3.0, 4.0]]
        assert not np.shares_memory(vectors, own)


def model_of(network, shape):
    empty = np.zeros((0, network.body.size), np.float32)
    head = network.one_vs_rest
    return Model(
        version=1,
        class_ids=network.class_ids,
        image_shape=shape,
        network=network.arrays(),
        weights=head.weights().detach().numpy(),
        bias=head.bias.detach().numpy(),
        held_out=empty,
    )


@pytest.mark.parametrize("shape", [(8, 8), (8, 9, 3)])
def test_an_opened_model_embeds_as_the_network_it_was_made_of(shape):
    backbone = OwnBackbone(make_body, CPU)
    images = draw_images(5, shape)
    inputs = to_inputs(images, CPU)
    with seeded(2):
        network = OpenWorldNetwork(backbone.body(images), [4, 9])
    with torch.inference_mode():
        expected = network.eval()(inputs)[0].numpy()
    assert backbone.encoder(network).embed(images) == pytest.approx(expected, abs=1e-6)
    opened = backbone.open(model_of(network, shape))
    assert opened.embed(images) == pytest.approx(expected, abs=1e-6)
    assert opened.view(images).features == pytest.approx(
        backbone.encoder(network).view(images).features, abs=1e-6
    )


def test_an_opened_frozen_model_keeps_its_own_middle():
    arrays = {"body.mean": np.array([120.0, 70.0])}
    opened = WhitenedVectors(Whitening.from_arrays(arrays))
    vectors = Shades().embed(draw_images(5))
    before = opened.embed(vectors)
    arrays["body.mean"][:] = 0
    assert (opened.embed(vectors) == before).all()


def test_a_model_refuses_frozen_vectors_of_another_length():
    with pytest.raises(InputError, match="trained on vectors of 2 numbers"):
        WhitenedVectors(centring((0.0, 0.0))).view(np.zeros((1, 3), np.float32))


class Growing:
    """A foreign encoder that returns one number more every time."""

    def __init__(self):
        self.size = 3

    def embed(self, images):
        self.size += 1
        return np.ones((len(images), self.size))


def test_an_encoder_that_changes_its_dimension_is_refused():
    encoder = CheckedEncoder(Growing())
    encoder.embed(draw_images(2))
    with pytest.raises(InputError, match="4 numbers per image at first and 5 now"):
        encoder.embed(draw_images(2))


class Named(Returning):
    identity = EncoderId("lite0", "00")


@pytest.mark.parametrize(
    ("size", "kind"), [(1.0, np.float16), (1e6, np.float32), (1e-8, np.float32)]
)
def test_a_named_encoders_vectors_take_half_the_room_unless_they_lose_by_it(size, kind):
    vectors = np.random.default_rng(0).normal(size=(4, 9)) * size
    frozen = CheckedEncoder(Named(vectors)).embed(draw_images(4))
    assert frozen.dtype == kind
    errors = np.linalg.norm(frozen - vectors, axis=1) / np.linalg.norm(vectors, axis=1)
    assert errors.max() < 1e-3
    assert CheckedEncoder(Returning(vectors)).embed(draw_images(4)).dtype == np.float32
