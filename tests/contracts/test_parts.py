"""What every part promises, part by part. A new part is one more name here."""

import copy
from functools import partial

import numpy as np
import pytest
import torch
from contracts.small_parts import OneByOne, fill_store, make_foreign, make_items

from csim.decide.head import Head
from csim.decide.thresholds import MeanBoundThreshold, NoThreshold, QuantileThreshold
from csim.discover.representative import Medoid, RandomMember
from csim.embed.augment import Augment
from csim.embed.backbone import OwnBackbone
from csim.embed.batches import Balanced, Plain
from csim.embed.encoder import NetworkEncoder
from csim.embed.losses import JointLoss, by_triplets, evenly
from csim.embed.mining import AllPositive, BatchHard, Literal
from csim.embed.network import ConvBody
from csim.embed.network_trainer import seeded
from csim.errors import NotFittedError
from csim.records import Model
from csim.store.class_store import ClassStore
from csim.store.eviction import OldestOut, ProtectTold

CPU = torch.device("cpu")
make_body = partial(
    ConvBody, conv_layers=1, channels=2, kernel=3, batch_norm=True, hidden_units=6, embedding_size=4
)


class Strict:
    """A foreign encoder that, as scikit-learn's do, refuses an empty batch."""

    def embed(self, images):
        if len(images) == 0:
            raise ValueError("Found array with 0 sample(s)")
        return OneByOne().embed(images)


def make_network_encoder():
    with seeded(0):
        return NetworkEncoder(make_body((8, 8)), CPU)


def make_model(size=4):
    rng = np.random.default_rng(0)
    weights = rng.normal(size=(3, size))
    bias = rng.normal(size=3)
    return Model(1, (3, 7, 9), (8, 8), {}, weights, bias, np.zeros((0, size)))


def make_head(threshold=None):
    head = Head(threshold or MeanBoundThreshold())
    head.install(make_model(), lambda class_id: class_id)
    return head


IMAGES = np.stack([item.image for item in make_items(12)])
VECTORS = np.random.default_rng(0).normal(size=(12, 4)).astype(np.float32)

ENCODERS = {
    "network": make_network_encoder,
    "foreign": lambda: make_foreign(OneByOne()),
    "foreign and strict": lambda: make_foreign(Strict()),
}
REPRESENTATIVES = {"medoid": Medoid, "random": lambda: RandomMember(np.random.default_rng(0))}


def each(makers):
    return pytest.mark.parametrize("make", makers.values(), ids=makers.keys())


# An empty batch is fine.


@each(ENCODERS)
def test_an_encoder_embeds_an_empty_batch(make):
    encoder = make()
    size = encoder.embed(IMAGES).shape[1]
    assert encoder.embed(IMAGES[:0]).shape == (0, size)


def test_an_own_backbone_takes_an_empty_batch():
    assert OwnBackbone(make_body, CPU).inputs(IMAGES[:0]).shape == (0, 1, 8, 8)


def test_a_head_decides_about_an_empty_batch():
    head = make_head()
    head.calibrate(VECTORS, np.array([3, 7, 9] * 4))
    scores = head.scores(VECTORS[:0])
    assert scores.shape == (0, 3)
    assert head.decide(scores) == []


@pytest.mark.parametrize("make_threshold", [QuantileThreshold, MeanBoundThreshold, NoThreshold])
def test_a_head_is_calibrated_on_nothing(make_threshold):
    head = make_head(make_threshold())
    head.calibrate(VECTORS[:0], np.zeros(0, np.int64))
    assert len(head.decide(head.scores(VECTORS))) == 12


@pytest.mark.parametrize("batches", [Plain(8), Balanced(8)])
def test_an_empty_training_set_gives_no_batch(batches):
    assert list(batches.epoch(np.zeros(0, np.int64), np.random.default_rng(0))) == []


@pytest.mark.parametrize("eviction", [OldestOut(), ProtectTold()])
def test_an_empty_store_has_no_examples(eviction):
    images, labels, is_told = ClassStore(3, eviction).examples([])
    assert len(images) == len(labels) == len(is_told) == 0
    items, labels = ClassStore(3, eviction).newest(9, 9)
    assert len(items) == len(labels) == 0


# The caller's arrays are neither kept nor edited.


@each(ENCODERS)
def test_an_encoder_leaves_the_images_alone_and_does_not_keep_them(make):
    images = IMAGES.copy()
    encoder = make()
    vectors = encoder.embed(images)
    kept = vectors.copy()
    assert (images == IMAGES).all()
    images[:] = 0
    assert (vectors == kept).all()
    assert not np.shares_memory(encoder.embed(IMAGES), vectors)


@pytest.mark.parametrize("augment", [Augment(2), Augment(0, flip=True), Augment(2, flip=True)])
def test_augmentation_leaves_the_images_alone(augment):
    images = torch.rand(12, 1, 8, 8, generator=torch.Generator().manual_seed(0))
    before = images.clone()
    augment(images, np.random.default_rng(0))
    assert torch.equal(images, before)


@each(REPRESENTATIVES)
def test_a_representative_is_chosen_without_touching_the_vectors(make):
    vectors = VECTORS.copy()
    assert make().choose(vectors) in range(12)
    assert (vectors == VECTORS).all()
    assert make().choose(VECTORS[:1]) == 0


def test_a_head_leaves_the_model_and_the_vectors_alone():
    model = make_model()
    vectors = VECTORS.copy()
    labels = np.array([3, 7, 9] * 4)
    before = copy.deepcopy((model.weights, model.bias))
    head = Head(QuantileThreshold())
    head.install(model, lambda class_id: None if class_id == 7 else 3)
    head.calibrate(vectors, labels)
    head.decide(head.scores(vectors))
    assert (model.weights == before[0]).all()
    assert (model.bias == before[1]).all()
    assert (vectors == VECTORS).all()
    assert labels.tolist() == [3, 7, 9] * 4


@pytest.mark.parametrize("mining", [AllPositive(), BatchHard(), Literal()])
@pytest.mark.parametrize("weighting", [by_triplets, evenly])
def test_a_loss_leaves_its_arguments_alone(mining, weighting):
    vectors = torch.from_numpy(VECTORS.copy())
    logits = torch.zeros(12, 3)
    columns = torch.arange(12) % 3
    before = vectors.clone(), logits.clone(), columns.clone()
    JointLoss(beta=1.0, margin=1.0, mining=mining, weighting=weighting)(vectors, logits, columns)
    assert all(torch.equal(a, b) for a, b in zip((vectors, logits, columns), before, strict=True))


# Use before fitting says so.


@pytest.mark.parametrize(
    "use",
    [
        lambda: Head(MeanBoundThreshold()).scores(VECTORS),
        lambda: Head(MeanBoundThreshold()).calibrate(VECTORS, np.zeros(12, np.int64)),
        lambda: Head(MeanBoundThreshold()).guess(VECTORS[0]),
        lambda: make_head().decide(np.ones((1, 3))),
        lambda: make_head(QuantileThreshold()).decide(np.ones((1, 3))),
        lambda: make_head(NoThreshold()).decide(np.ones((1, 3))),
    ],
    ids=[
        "scores",
        "calibrate",
        "guess",
        "decide by the bound",
        "decide by the quantile",
        "decide by nothing",
    ],
)
def test_use_before_fitting_is_refused(use):
    with pytest.raises(NotFittedError):
        use()


# Deciding changes nothing.


@each(ENCODERS)
def test_embedding_twice_gives_the_same(make):
    encoder = make()
    first = encoder.embed(IMAGES)
    encoder.embed(IMAGES[:3])
    assert (encoder.embed(IMAGES) == first).all()


@each(ENCODERS)
def test_a_look_shows_the_vectors_that_embedding_gives(make):
    encoder = make()
    views = encoder.view(IMAGES)
    assert views.vectors == pytest.approx(encoder.embed(IMAGES), abs=1e-6)
    assert len(views.features) == 12
    assert (encoder.view(IMAGES).features == views.features).all()


@each(ENCODERS)
def test_an_image_is_embedded_alone_as_in_company(make):
    encoder = make()
    together = encoder.embed(IMAGES)
    alone = np.concatenate([encoder.embed(image[None]) for image in IMAGES])
    assert alone == pytest.approx(together, abs=1e-6)


# Memory stays bounded.


@pytest.mark.parametrize("eviction", [OldestOut(), ProtectTold()])
def test_a_store_holds_no_more_than_its_size_per_class(eviction):
    store = ClassStore(4, eviction)
    for start in range(1, 400, 9):
        fill_store(store, start)
    assert [store.count(class_id) for class_id in store.class_ids()] == [4, 4]
    assert len(store.state()["items"]["images"]) == 8
