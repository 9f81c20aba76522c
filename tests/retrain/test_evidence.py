from dataclasses import replace

import numpy as np

from csim.records import Item, Model
from csim.retrain.evidence import held_out, stored, trained
from csim.store.class_store import ClassStore
from csim.store.eviction import ProtectTold


class Shades:
    """View items by their shade; refuse an empty batch."""

    def vectors(self, items):
        assert items
        shades = np.array([item.image[0, 0] for item in items])
        return np.stack([shades, 255 - shades], axis=1) / 255


def make_model(vectors, seed=0, class_ids=(3, 7, 9)):
    rng = np.random.default_rng(seed)
    weights = rng.normal(size=(len(class_ids), vectors.shape[1]))
    bias = rng.normal(size=len(class_ids))
    return Model(1, class_ids, (8, 8), {}, weights, bias, vectors)


def store_with(*entries):
    store = ClassStore(9, ProtectTold())
    for number, (shade, class_id, is_told) in enumerate(entries):
        store.add(Item(str(number), 0, np.full((8, 8), shade, np.uint8)), class_id, is_told=is_told)
    return store


def test_held_out_vectors_come_without_a_class_of_their_own():
    vectors = np.random.default_rng(1).normal(size=(40, 2))
    given, labels = held_out(make_model(vectors), Shades(), store_with((9, 3, True)))
    assert (given == vectors).all()
    assert labels is None


def test_stored_images_are_all_evidence_told_or_not():
    store = store_with((0, 7, True), (255, 3, False), (51, 7, False))
    vectors, labels = stored(make_model(np.zeros((0, 2))), Shades(), store)
    found = {
        (round(float(left), 2), label)
        for left, label in zip(vectors[:, 0], labels.tolist(), strict=True)
    }
    assert found == {(0.0, 7), (1.0, 3), (0.2, 7)}


def test_an_empty_store_gives_no_evidence_and_nothing_is_embedded():
    vectors, labels = stored(make_model(np.zeros((5, 2))), Shades(), ClassStore(9, ProtectTold()))
    assert (vectors.shape, labels.shape) == ((0, 2), (0,))


def test_trained_images_come_with_their_own_classes_whatever_the_store_holds():
    vectors = np.random.default_rng(1).normal(size=(4, 2))
    labels = np.array([3, 3, 7, 9])
    model = replace(make_model(np.zeros((0, 2))), trained=vectors, trained_ids=labels)
    given, classes = trained(model, Shades(), store_with((9, 3, True), (200, 7, False)))
    assert (given == vectors).all()
    assert classes.tolist() == [3, 3, 7, 9]
