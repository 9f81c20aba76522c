"""Images that hold their own vector, so that a test can choose it and measure by hand."""

import numpy as np

from csim.decide.head import Head
from csim.decide.thresholds import NoThreshold
from csim.discover.scene import Scene
from csim.embed.gallery import Gallery
from csim.records import Item, Model, Views
from csim.store.class_store import ClassStore
from csim.store.eviction import ProtectTold

LEFT = 3
RIGHT = 7


class Places:
    """An encoder that reads an image's place off its bytes: vectors and features alike."""

    def embed(self, images):
        return images.reshape(len(images), -1).view(np.float32)  # (n, d)

    def view(self, images):
        places = self.embed(images)
        return Views(places, places.copy())


def items_at(places, name="recent"):
    """Return an item for each place, (n, d): of the stream if it is recent, else of the warm-up."""
    pixels = np.ascontiguousarray(places, np.float32).view(np.uint8)
    return [
        Item(f"{name} {n}", n if name == "recent" else 0, row[None].copy())
        for n, row in enumerate(pixels, start=1)
    ]


def store_of(labelled):
    """Return a store with told images at places, by class."""
    store = ClassStore(10_000, ProtectTold())
    for class_id, places in labelled.items():
        for item in items_at(places, f"labelled {class_id}"):
            store.add(item, class_id, is_told=True)
    return store


def head_of(class_ids=(LEFT, RIGHT), steepness=2.0):
    """Return a head that tells left from right; its score grows with the distance from 0."""
    known = dict(zip((LEFT, RIGHT), ([-steepness, 0.0], [steepness, 0.0]), strict=True))
    weights = np.array([known[c] for c in class_ids]).reshape(-1, 2)
    head = Head(NoThreshold())
    head.install(
        Model(1, tuple(class_ids), (1, 8), {}, weights, np.zeros(len(class_ids)), np.zeros((0, 2))),
        lambda c: c,
    )
    return head


def scene_of(recent, labelled, head=None, *, covered=(), version=1, metric=None):
    """Return a scene of recent images at places, (n, 2), and labelled ones by class.

    `covered` are the indices of images that open questions are about.
    """
    items = items_at(recent)
    ids = {items[index].id for index in covered}
    viewer = Gallery(Places(), version, metric=metric)
    return Scene(items, viewer, head or head_of(), store_of(labelled), covered=ids)
