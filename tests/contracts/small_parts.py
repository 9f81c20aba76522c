"""Small real parts that several contracts are tried on."""

import numpy as np

from csim.decide.head import Head
from csim.decide.thresholds import NoThreshold
from csim.discover.scene import Scene
from csim.embed.encoder import CheckedEncoder, WhitenedEncoder
from csim.embed.gallery import Gallery
from csim.embed.whitening import Whitening
from csim.records import Item, Model
from csim.store.class_store import ClassStore
from csim.store.eviction import ProtectTold


class OneByOne:
    """A foreign encoder as people write them: one image after the other."""

    def embed(self, images):
        return np.array([[image.mean() + 1, image.std()] for image in images])


def make_foreign(encoder):
    whitening = Whitening.from_arrays({"body.mean": np.array([128.0, 70.0])})
    return WhitenedEncoder(CheckedEncoder(encoder), whitening)


def make_items(count, start=1):
    rng = np.random.default_rng(start)
    images = rng.integers(0, 256, (count, 8, 8), dtype=np.uint8)
    return [Item(str(start + index), start + index, image) for index, image in enumerate(images)]


def fill_store(store, start=1):
    for index, item in enumerate(make_items(9, start)):
        store.add(item, index % 2, is_told=index % 3 == 0)


def make_scene(items, encoder=None):
    """Return a scene of items, the head of a foreign encoder's two values and a small store."""
    rng = np.random.default_rng(0)
    model = Model(1, (0, 1), (8, 8), {}, rng.normal(size=(2, 2)), np.zeros(2), np.zeros((0, 2)))
    head = Head(NoThreshold())
    store = ClassStore(9, ProtectTold())
    head.install(model, lambda class_id: class_id)
    fill_store(store, start=500)
    return Scene(items, encoder or Gallery(make_foreign(OneByOne()), 1), head, store)


def plain(found):
    return [(pick.members.tolist(), pick.representative) for pick in found.picks], [
        (place, members.tolist()) for place, members in found.joined.items()
    ]
