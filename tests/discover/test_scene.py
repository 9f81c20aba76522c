from dataclasses import replace

import numpy as np
import pytest
from discover.places import LEFT, RIGHT, Places, head_of, items_at, scene_of, store_of

from csim.discover import scene as scene_module
from csim.discover.scene import Scene
from csim.embed.gallery import Gallery
from csim.records import JUNK

RECENT = np.array([[-4.0, 1.0], [0.0, 2.0], [3.0, -1.0]])
LABELLED = {
    LEFT: np.array([[-5.0, 0.0], [-6.0, 0.0]]),
    RIGHT: np.array([[5.0, 0.0]]),
    12: np.array([[0.0, 9.0]]),
}


class Counting(Places):
    """An encoder that counts the images it has looked at."""

    count = 0

    def view(self, images):
        self.count += len(images)
        return super().view(images)


class Untouched:
    """A part that must not be asked for anything."""

    def __getattr__(self, name):
        raise AssertionError(f"{name} was wanted")


def test_a_scene_shows_items_as_the_model_sees_them():
    scene = scene_of(RECENT, LABELLED)
    assert len(scene) == 3
    assert (scene.vectors == RECENT).all()
    assert (scene.features(scene.items) == RECENT).all()
    expected = 1 / (1 + np.exp(np.stack([2 * RECENT[:, 0], -2 * RECENT[:, 0]], axis=1)))
    assert scene.scores == pytest.approx(expected, rel=1e-5)


def test_the_reference_is_the_labelled_images_with_the_column_of_each_class():
    scene = scene_of(RECENT, LABELLED)
    items, columns = scene.reference
    features = scene.features(items)
    found = {
        (*point, column) for point, column in zip(features.tolist(), columns.tolist(), strict=True)
    }
    assert found == {
        (-5.0, 0.0, 0),
        (-6.0, 0.0, 0),
        (5.0, 0.0, 1),
        (0.0, 9.0, -1),
    }  # 12 is not learned yet
    assert columns.dtype == np.int64


def test_columns_are_those_of_the_head():
    _, columns = scene_of(RECENT, LABELLED, head_of((RIGHT,))).reference
    assert sorted(columns.tolist()) == [-1, -1, -1, 0]


def test_without_labelled_images_the_reference_is_empty():
    items, columns = scene_of(RECENT, {}).reference
    assert (items, columns.shape) == ([], (0,))


def test_without_a_class_there_are_no_scores_and_no_columns():
    scene = scene_of(RECENT, LABELLED, head_of(()))
    assert scene.scores.shape == (3, 0)
    assert set(scene.reference[1].tolist()) == {-1}


def test_the_reference_holds_about_as_many_images_of_each_class_however_large_the_store(
    monkeypatch,
):
    monkeypatch.setattr(scene_module, "_MAX_LABELLED", 9)
    line = np.stack([np.arange(50.0), np.zeros(50)], axis=1)
    _, columns = scene_of(RECENT, {LEFT: line, RIGHT: line[:20], 12: line[:2]}).reference
    assert np.bincount(columns + 1).tolist() == [2, 3, 3]


def test_the_reference_holds_so_many_images_of_a_class_at_most(monkeypatch):
    monkeypatch.setattr(scene_module, "_MAX_PER_CLASS", 4)
    line = np.stack([np.arange(50.0), np.zeros(50)], axis=1)
    _, columns = scene_of(RECENT, {LEFT: line, RIGHT: line[:3]}).reference
    assert np.bincount(columns).tolist() == [4, 3]


def test_other_items_features_come_in_their_order():
    scene = scene_of(RECENT, LABELLED)
    others = items_at([[1.0, 2.0], [3.0, 4.0]], "other")
    assert scene.features(others[::-1]).tolist() == [[3.0, 4.0], [1.0, 2.0]]


def test_each_part_is_worked_out_when_it_is_first_wanted_and_once():
    encoder = Counting()
    scene = Scene(items_at(RECENT), Gallery(encoder, 1), head_of(), store_of(LABELLED))
    assert encoder.count == 0
    for _ in range(2):
        assert (len(scene.vectors), len(scene.scores)) == (3, 3)
        assert encoder.count == 3
    for _ in range(2):
        assert len(scene.features(scene.reference[0])) == 4
        assert encoder.count == 7


def test_frozen_vectors_of_the_scene_are_viewed_once():
    encoder = Counting()
    frozen = [replace(item, frozen=item.image[0]) for item in items_at(RECENT)]
    scene = Scene(frozen, Gallery(encoder, 1), head_of(), store_of(LABELLED))
    assert (scene.features(scene.items) == scene.vectors).all()
    assert encoder.count == 3


def test_vectors_need_neither_classes_nor_labelled_images():
    scene = Scene(items_at(RECENT), Gallery(Places(), 1), Untouched(), Untouched())
    assert len(scene.vectors) == 3
    with pytest.raises(AssertionError, match="columns"):
        _ = scene.scores


def test_what_looks_most_like_junk_is_not_in_doubt():
    head = head_of()
    doubt = scene_of(RECENT, LABELLED, head).doubt
    head.install(head._model, lambda class_id: JUNK if class_id == LEFT else class_id)
    assert scene_of(RECENT, LABELLED, head).doubt.tolist() == [0, 0, doubt[2]]
    assert doubt[1] > 0.4
