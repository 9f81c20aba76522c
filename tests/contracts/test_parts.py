"""What every part promises, part by part. A new part is one more name here."""

import copy
from functools import partial

import numpy as np
import pytest
import torch

from csim.ask.budget import Budget
from csim.decide.head import Head
from csim.decide.thresholds import MeanBoundThreshold, NoThreshold, QuantileThreshold
from csim.discover.buffer import Buffer
from csim.discover.discovery import Discovery
from csim.discover.purify import AdaptiveDbscan, Dbscan, Singles
from csim.discover.representative import Medoid, RandomMember
from csim.discover.window import Window, at_random, least_sure
from csim.embed.backbone import OwnBackbone
from csim.embed.batches import Balanced, Plain
from csim.embed.encoder import CentredEncoder, CheckedEncoder, NetworkEncoder
from csim.embed.losses import JointLoss, by_triplets, evenly
from csim.embed.mining import AllPositive, BatchHard, Literal
from csim.embed.network import CentredBody, ConvBody
from csim.embed.training import seeded
from csim.errors import NotFittedError
from csim.records import Decision, Item, Model
from csim.retrain.schedule import Schedule
from csim.store.class_store import ClassStore
from csim.store.eviction import OldestOut, ProtectTold

CPU = torch.device("cpu")
make_body = partial(ConvBody, conv_layers=1, channels=2, hidden_units=6, embedding_size=4)


class OneByOne:
    """A foreign encoder as people write them: it goes through the images and makes an array of the results."""

    def embed(self, images):
        return np.array([[image.mean() + 1, image.std()] for image in images])


class Strict:
    """A foreign encoder that, as scikit-learn's do, refuses an empty batch."""

    def embed(self, images):
        if len(images) == 0:
            raise ValueError("Found array with 0 sample(s)")
        return OneByOne().embed(images)


def make_network_encoder():
    with seeded(0):
        return NetworkEncoder(make_body((8, 8)), CPU)


def make_foreign(encoder):
    return CentredEncoder(CheckedEncoder(encoder), CentredBody(torch.tensor([128.0, 70.0])))


def make_model(size=4):
    rng = np.random.default_rng(0)
    weights, bias = rng.normal(size=(3, size)), rng.normal(size=3)
    return Model(1, (3, 7, 9), (8, 8), {}, weights, bias, np.zeros((0, size)), np.zeros(0, np.int64))


def make_head(threshold=None):
    head = Head(threshold or MeanBoundThreshold())
    head.install(make_model(), lambda class_id: class_id)
    return head


def make_items(count, start=1):
    rng = np.random.default_rng(start)
    images = rng.integers(0, 256, (count, 8, 8), dtype=np.uint8)
    return [Item(str(start + place), start + place, image) for place, image in enumerate(images)]


IMAGES = np.stack([item.image for item in make_items(12)])
VECTORS = np.random.default_rng(0).normal(size=(12, 4)).astype(np.float32)

ENCODERS = {
    "network": make_network_encoder,
    "foreign": lambda: make_foreign(OneByOne()),
    "foreign and strict": lambda: make_foreign(Strict()),
}
CLUSTERINGS = {
    "dbscan": lambda: Dbscan(eps=0.8, min_points=2),
    "adaptive": lambda: AdaptiveDbscan(core_share=0.5, min_points=2),
    "singles": Singles,
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
    assert head.guesses([]) == []


@pytest.mark.parametrize("make_threshold", [QuantileThreshold, MeanBoundThreshold, NoThreshold])
def test_a_head_is_calibrated_on_nothing(make_threshold):
    head = make_head(make_threshold())
    head.calibrate(VECTORS[:0], np.zeros(0, np.int64))
    assert len(head.decide(head.scores(VECTORS))) == 12


@each(CLUSTERINGS)
def test_a_clustering_groups_an_empty_batch(make):
    assert make().group(VECTORS[:0]) == []


@pytest.mark.parametrize("batches", [Plain(8), Balanced(8)])
def test_an_empty_training_set_gives_no_batch(batches):
    assert list(batches.epoch(np.zeros(0, np.int64), np.random.default_rng(0))) == []


@pytest.mark.parametrize("eviction", [OldestOut(), ProtectTold()])
def test_an_empty_store_has_no_examples(eviction):
    images, labels = ClassStore(3, eviction).examples([])
    assert len(images) == len(labels) == 0


# The caller's arrays are neither kept nor edited.


@each(ENCODERS)
def test_an_encoder_leaves_the_images_alone_and_does_not_keep_them(make):
    images, encoder = IMAGES.copy(), make()
    vectors = encoder.embed(images)
    kept = vectors.copy()
    assert (images == IMAGES).all()
    images[:] = 0
    assert (vectors == kept).all()
    assert not np.shares_memory(encoder.embed(IMAGES), vectors)


@each(CLUSTERINGS)
def test_a_clustering_leaves_the_vectors_alone(make):
    vectors = VECTORS.copy()
    make().group(vectors)
    assert (vectors == VECTORS).all()


@each(REPRESENTATIVES)
def test_a_representative_is_chosen_without_touching_the_vectors(make):
    vectors = VECTORS.copy()
    assert make().choose(vectors) in range(12)
    assert (vectors == VECTORS).all()
    assert make().choose(VECTORS[:1]) == 0


def test_a_head_leaves_the_model_and_the_vectors_alone():
    model, vectors, labels = make_model(), VECTORS.copy(), np.array([3, 7, 9] * 4)
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
    vectors, logits, columns = torch.from_numpy(VECTORS.copy()), torch.zeros(12, 3), torch.arange(12) % 3
    before = vectors.clone(), logits.clone(), columns.clone()
    JointLoss(beta=1.0, margin=1.0, mining=mining, weighting=weighting)(vectors, logits, columns)
    assert all(torch.equal(a, b) for a, b in zip((vectors, logits, columns), before, strict=True))


# Use before fitting says so.


@pytest.mark.parametrize(
    "use",
    [
        lambda: Head(MeanBoundThreshold()).scores(VECTORS),
        lambda: Head(MeanBoundThreshold()).calibrate(VECTORS, np.zeros(12, np.int64)),
        lambda: Head(MeanBoundThreshold()).guesses([VECTORS[0]]),
        lambda: make_head().decide(np.ones((1, 3))),
        lambda: make_head(QuantileThreshold()).decide(np.ones((1, 3))),
        lambda: make_head(NoThreshold()).decide(np.ones((1, 3))),
    ],
    ids=["scores", "calibrate", "guesses", "decide by the bound", "decide by the quantile", "decide by nothing"],
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
def test_an_image_is_embedded_alone_as_in_company(make):
    encoder = make()
    together = encoder.embed(IMAGES)
    alone = np.concatenate([encoder.embed(image[None]) for image in IMAGES])
    assert alone == pytest.approx(together, abs=1e-6)


@each(CLUSTERINGS)
def test_grouping_twice_gives_the_same(make):
    clustering = make()
    first = [group.tolist() for group in clustering.group(VECTORS)]
    clustering.group(VECTORS[:5])
    assert [group.tolist() for group in clustering.group(VECTORS)] == first


# State survives save and load.


REJECTED = Decision(0, 0.2, is_accepted=False)


def fill_buffer(buffer, start=1):
    for item in make_items(5, start):
        buffer.add(item, REJECTED)


def fill_window(window, start=1):
    for item in make_items(5, start):
        window.add(item, Decision(0, float(item.image.mean()) / 255, is_accepted=True))


def look_at_window(window):
    return window.is_due(6), window.choose(2), window.choose(2), len(window)


def fill_schedule(schedule, start=1):
    """Ask for a job after every seventh answer or so; it is done at once."""
    store = ClassStore(9, OldestOut())
    fill_store(store)
    for told in range(start, start + 20):
        schedule.due(store, [0, 1], told)
        schedule.done()


def look_at_schedule(schedule):
    store = ClassStore(9, OldestOut())
    fill_store(store)
    jobs = [schedule.due(store, [0, 1], told) for told in range(100, 400)]
    return [job and (job.version, job.seed) for job in jobs]


def fill_store(store, start=1):
    for place, item in enumerate(make_items(9, start)):
        store.add(item, place % 2, is_told=place % 3 == 0)


def make_singles():
    return Discovery(Window(9, at_random, np.random.default_rng(3)), Singles(), Medoid())


def make_discovery():
    return Discovery(Buffer(9), Dbscan(eps=2.0, min_points=1), RandomMember(np.random.default_rng(3)))


STATEFUL = {
    "buffer": (lambda: Buffer(9, 4), fill_buffer, lambda part: (part.items(), part.is_due(6))),
    "store, oldest out": (lambda: ClassStore(3, OldestOut()), fill_store, lambda part: (part.items(0), part.items(1))),
    "store, told kept": (lambda: ClassStore(3, ProtectTold()), fill_store, lambda part: (part.items(0), part.items(1))),
    "window, least sure": (lambda: Window(9, least_sure, np.random.default_rng(3)), fill_window, look_at_window),
    "window, at random": (lambda: Window(9, at_random, np.random.default_rng(3)), fill_window, look_at_window),
    "budget": (
        lambda: Budget(0.25),
        lambda part, start=1: part.spend(start),
        lambda part: [part.left(position) for position in range(0, 2000, 50)],
    ),
    "schedule": (
        lambda: Schedule(update_size=8, update_labels=7, seed=3),
        fill_schedule,
        look_at_schedule,
    ),
    "discovery of singles": (make_singles, fill_window, lambda part: part.purify(make_foreign(OneByOne()), 3)),
    "discovery": (make_discovery, fill_buffer, lambda part: part.purify(make_foreign(OneByOne()), 99)),
    "random member": (
        lambda: RandomMember(np.random.default_rng(3)),
        lambda part, start=1: [part.choose(VECTORS) for _ in range(start)],
        lambda part: [part.choose(VECTORS) for _ in range(20)],
    ),
}


@pytest.mark.parametrize(("make", "fill", "look"), STATEFUL.values(), ids=STATEFUL.keys())
def test_a_restored_part_goes_on_like_the_one_that_was_saved(make, fill, look):
    part, other = make(), make()
    fill(part)
    fill(part, 30)
    fill(other, 60)  # a restore forgets what was there
    other.restore(copy.deepcopy(part.state()))
    assert look(other) == look(part)
    for one in (part, other):
        fill(one, 90)
    assert look(other) == look(part)


@pytest.mark.parametrize(("make", "fill", "look"), STATEFUL.values(), ids=STATEFUL.keys())
def test_an_empty_part_can_be_saved_too(make, fill, look):
    part, other = make(), make()
    fill(other)
    other.restore(part.state())
    assert look(other) == look(part)


@pytest.mark.parametrize(("make", "fill", "look"), STATEFUL.values(), ids=STATEFUL.keys())
def test_a_saved_state_does_not_move_with_the_part(make, fill, look):
    part, early, late = make(), make(), make()
    fill(part)
    state = part.state()
    early.restore(copy.deepcopy(state))
    fill(part, 30)
    late.restore(state)
    assert look(late) == look(early)


# Memory stays bounded.


@pytest.mark.parametrize("eviction", [OldestOut(), ProtectTold()])
def test_a_store_holds_no_more_than_its_size_per_class(eviction):
    store = ClassStore(4, eviction)
    for start in range(1, 400, 9):
        fill_store(store, start)
    assert [store.count(class_id) for class_id in store.class_ids()] == [4, 4]
    assert len(store.state()["items"]["images"]) == 8
