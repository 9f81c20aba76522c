"""The projection: which distances it keeps, when it is fitted, and what is computed once."""

import numpy as np
import pytest
from discover.places import items_at
from scipy.spatial.distance import cdist

from csim.discover.projection import Projection
from csim.embed.gallery import Gallery
from csim.records import Item, Views

RNG = np.random.default_rng(0)


class Counted:
    """Return features by item id, and count the items."""

    def __init__(self, **features):
        self.of = features
        self.count = 0

    def __call__(self, items):
        self.count += len(items)
        rows = [self.of[item.id.split()[0]][int(item.id.split()[1])] for item in items]
        return np.array(rows, np.float32)


def items(name, count, first=0):
    """Return items of the stream if they are recent, and else of the warm-up."""
    return [
        Item(f"{name} {n}", n + 1 if name == "recent" else 0, np.zeros((1, 1), np.uint8))
        for n in range(first, first + count)
    ]


def place(recent, labelled, projection=None, metric=1):
    counted = Counted(recent=recent, labelled=labelled)
    return (projection or Projection(turns=1)).place(
        items("recent", len(recent)), items("labelled", len(labelled)), counted, metric
    )


@pytest.mark.parametrize("size", [3, 40])
def test_a_projection_keeps_all_distances_but_for_their_scale(size):
    recent = 5 + 3 * RNG.normal(size=(30, size))
    labelled = 5 + 3 * RNG.normal(size=(20, size))
    placed, known = place(recent, labelled)
    scale = np.sqrt(((labelled - labelled.mean(axis=0)) ** 2).sum(axis=1).mean())
    assert cdist(placed, known) * scale == pytest.approx(cdist(recent, labelled), rel=1e-4)
    assert (known**2).sum(axis=1).mean() == pytest.approx(1, rel=1e-5)


@pytest.mark.parametrize("size", [60, 700])
def test_of_many_features_about_the_forty_directions_of_most_spread_are_kept(size):
    spread = 0.97 ** np.arange(size)  # of each feature, as of real ones
    recent = RNG.normal(size=(700, size)) * spread
    labelled = RNG.normal(size=(500, size)) * spread
    placed, known = place(recent, labelled)
    both = np.concatenate([recent, labelled]) - labelled.mean(axis=0)
    exact = both @ np.linalg.svd(both)[2][:40].T
    kept = np.concatenate([placed, known])
    scale = np.sqrt((exact[700:] ** 2).sum(axis=1).mean())
    assert kept.shape == (1200, 40)
    assert 0.98 < (kept**2).sum() / ((exact / scale) ** 2).sum() < 1.02
    assert cdist(placed, known) == pytest.approx(cdist(exact[:700], exact[700:]) / scale, rel=0.15)


@pytest.mark.parametrize("labelled", [np.zeros((0, 3)), np.ones((4, 3)), np.ones((1, 3))])
def test_points_are_finite_even_if_the_labelled_have_no_spread(labelled):
    placed, known = place(RNG.normal(size=(6, 3)), labelled)
    assert np.isfinite(placed).all()
    assert np.isfinite(known).all()
    assert (placed.shape, known.shape) == ((6, 3), labelled.shape)


def test_between_two_fits_only_images_that_came_since_are_projected():
    counted = Counted(recent=RNG.normal(size=(90, 5)), labelled=RNG.normal(size=(30, 5)))
    projection = Projection(turns=3)
    labelled = items("labelled", 20)
    first, _ = projection.place(items("recent", 50), labelled, counted, 1)
    assert counted.count == 70
    second, _ = projection.place(items("recent", 50, 10), items("labelled", 21), counted, 1)
    assert counted.count == 70 + 10 + 1
    assert (second[:40] == first[10:]).all()


def test_it_is_fitted_again_for_a_new_metric_and_after_so_many_searches():
    counted = Counted(recent=RNG.normal(size=(90, 5)), labelled=RNG.normal(size=(20, 5)))
    projection = Projection(turns=3)
    seen = []
    for metric in (1, 1, 1, 1, 2):
        before = counted.count
        projection.place(items("recent", 40), items("labelled", 20), counted, metric)
        seen.append(counted.count - before)
    assert seen == [60, 0, 0, 60, 60]


def test_an_image_has_the_same_point_whatever_is_projected_with_it():
    features = RNG.normal(size=(300, 512))
    counted = Counted(recent=features, labelled=RNG.normal(size=(100, 512)))
    whole, parts = Projection(turns=9), Projection(turns=9)
    whole.place(items("recent", 200), items("labelled", 100), counted, 1)
    parts.restore(whole.state())
    expected, _ = whole.place(items("recent", 300), items("labelled", 100), counted, 1)
    for size in (1, 7, 63, 64, 65, 130, 300):
        found, _ = parts.place(items("recent", size), [], counted, 1)
        assert (found == expected[:size]).all()


def test_after_more_images_than_it_remembers_points_are_computed_again(monkeypatch):
    monkeypatch.setattr("csim.discover.projection._MOST_POINTS", 30)
    counted = Counted(recent=RNG.normal(size=(90, 5)), labelled=RNG.normal(size=(20, 5)))
    projection = Projection(turns=9)
    for _ in range(3):
        placed, _ = projection.place(items("recent", 60), items("labelled", 20), counted, 1)
    again, _ = place(counted.of["recent"][:60], counted.of["labelled"])
    assert cdist(placed, placed) == pytest.approx(cdist(again, again), rel=1e-3, abs=1e-3)


def test_a_gallery_can_give_the_features():
    class Twice:
        def embed(self, images):
            return self.view(images).vectors

        def view(self, images):
            places = images.reshape(len(images), -1).view(np.float32)
            return Views(places, 2 * places)

    recent = items_at(RNG.normal(size=(9, 2)))
    gallery = Gallery(Twice(), 4)
    placed, known = Projection(turns=2).place(
        recent, recent[:3], lambda chosen: gallery.features(chosen), gallery.metric
    )
    assert (placed[:3] == known).all()
