import numpy as np
import pytest

from csim.embed import gallery as gallery_module
from csim.embed.gallery import Gallery
from csim.errors import InputError
from csim.records import Item, View, Views


class Counting:
    """An encoder that sees an image's shade, and remembers the shades it was shown."""

    def __init__(self):
        self.looked = []
        self.embedded = []

    def embed(self, images):
        self.embedded += [int(image.flat[0]) for image in images]
        return self._see(images).vectors

    def view(self, images):
        self.looked += [int(image.flat[0]) for image in images]
        return self._see(images)

    def _see(self, images):
        shades = np.array([image.flat[0] for image in images], np.float32)
        return Views(
            np.stack([shades, -shades], axis=1),
            np.stack([shades, shades**2, np.ones(len(shades))], axis=1),
        )


def views_of(gallery, items, given=()):
    """Return the vectors and the features of items."""
    return Views(gallery.vectors(items, given), gallery.features(items))


def make_items(make_item, shades):
    return [make_item(f"item {shade}", shade) for shade in shades]


def shades_of(views):
    return views.vectors[:, 0].tolist()


def test_items_are_seen_as_the_encoder_sees_them_in_their_order(make_item):
    gallery = Gallery(Counting(), 1)
    items = make_items(make_item, [4, 1, 3])
    views_of(gallery, items[:2])
    views = views_of(gallery, items[::-1])
    expected = Counting().view(np.stack([item.image for item in items[::-1]]))
    assert (views.vectors == expected.vectors).all()
    assert (views.features == expected.features).all()


def test_an_image_is_embedded_once(make_item):
    encoder = Counting()
    gallery = Gallery(encoder, 1)
    for shades in ([1, 2], [2, 3, 1], [3], [4, 2]):
        assert shades_of(views_of(gallery, make_items(make_item, shades))) == shades
    assert encoder.looked == [1, 2, 3, 4]


def test_an_id_that_comes_again_is_another_image():
    gallery = Gallery(Counting(), 1)
    for position, shade in ((1, 7), (900, 8)):
        assert shades_of(
            views_of(gallery, [Item("again", position, np.full((8, 8), shade, np.uint8))])
        ) == [shade]


def test_an_item_may_come_twice_in_one_look(make_item):
    items = make_items(make_item, [5, 6, 5])
    assert shades_of(views_of(Gallery(Counting(), 1), items)) == [5, 6, 5]


def test_plain_images_are_embedded_and_not_remembered(make_item):
    encoder = Counting()
    gallery = Gallery(encoder, 1)
    (item,) = make_items(make_item, [7])
    for _ in range(2):
        assert gallery.embed(item.image[None]).tolist() == [[7, -7]]
    assert encoder.embedded == [7, 7]
    views_of(gallery, [item])
    assert encoder.looked == [7]


@pytest.mark.parametrize("room", [1, 4, 10])
def test_memory_is_bounded_and_what_was_forgotten_is_looked_at_anew(make_item, monkeypatch, room):
    monkeypatch.setattr(gallery_module, "_LABELLED_ITEMS", room)
    encoder = Counting()
    gallery = Gallery(encoder, 1, recent=0)
    for start in range(0, 100, 5):
        gallery.vectors(make_items(make_item, range(start, start + 5)))
        assert len(gallery._embedded) <= room
    assert encoder.looked == list(range(100))
    gallery.vectors(make_items(make_item, range(100 - room, 100)))
    assert encoder.looked == list(range(100))  # the newest are still remembered
    gallery.vectors(make_items(make_item, [0]))
    assert encoder.looked == [*range(100), 0]


def test_more_images_at_once_than_there_is_room_for_are_all_seen(make_item, monkeypatch):
    monkeypatch.setattr(gallery_module, "_LABELLED_ITEMS", 1)
    gallery = Gallery(Counting(), 1, recent=1)
    assert shades_of(views_of(gallery, make_items(make_item, range(20)))) == list(range(20))


def test_what_it_returns_is_the_callers_own(make_item):
    gallery = Gallery(Counting(), 1)
    items = make_items(make_item, [1, 2])
    views = views_of(gallery, items)
    views.vectors[:] = 0
    views.features[:] = 0
    assert shades_of(views_of(gallery, items)) == [1, 2]
    assert gallery.features(items)[:, 1].tolist() == [1, 4]


def test_an_error_of_the_encoder_leaves_nothing_half_remembered(make_item):
    class Failing(Counting):
        is_well = False

        def view(self, images):
            if not self.is_well:
                raise RuntimeError("out of memory")
            return super().view(images)

    encoder = Failing()
    gallery = Gallery(encoder, 1)
    items = make_items(make_item, [1, 2])
    with pytest.raises(RuntimeError):
        views_of(gallery, items)
    encoder.is_well = True
    assert shades_of(views_of(gallery, items)) == [1, 2]


def view_of(shade, model=1, feature=9.0):
    angle = shade / 255
    return View(np.array([np.cos(angle), np.sin(angle)]), np.array([feature, 1, 2]), model)


def test_a_given_view_of_the_model_is_used_and_nothing_is_embedded_for_it(make_item):
    encoder = Counting()
    gallery = Gallery(encoder, 1)
    items = make_items(make_item, [4, 7])
    views = views_of(gallery, items, given=[view_of(4), None])
    assert views.vectors[0] == pytest.approx(view_of(4).vector)
    assert views.features[0].tolist() == [9, 1, 2]
    assert views.vectors[1].tolist() == [7, -7]
    views_of(gallery, items)
    assert encoder.looked == [0, 7]  # a blank image tells the sizes that a view must have


def test_a_view_of_another_model_is_ignored(make_item):
    encoder = Counting()
    items = make_items(make_item, [4])
    views = views_of(Gallery(encoder, 2), items, given=[view_of(4, model=1)])
    assert shades_of(views) == [4]
    assert encoder.looked == [4]


@pytest.mark.parametrize(
    ("view", "reason"),
    [
        (View(np.ones(3) / np.sqrt(3), np.ones(3), 1), r"got \(3,\) and \(3,\)"),
        (View(np.array([1.0, 0.0]), np.ones(2), 1), r"features of shape \(3,\)"),
        (View(np.array([1.0, 1.0]), np.ones(3), 1), "unit length"),
        (View(np.array([np.nan, 1.0]), np.ones(3), 1), "unit length"),
        (View(np.array([1.0, 0.0]), np.array([1, np.inf, 1]), 1), "finite features"),
    ],
)
def test_a_view_that_the_model_cannot_have_made_is_refused_and_nothing_is_remembered(
    make_item, view, reason
):
    gallery = Gallery(Counting(), 1)
    items = make_items(make_item, [4, 5])
    with pytest.raises(InputError, match=reason):
        views_of(gallery, items, given=[view_of(4), view])
    assert gallery.state()["positions"] == []
    assert shades_of(views_of(gallery, items)) == [4, 5]


def test_views_must_be_one_per_item(make_item):
    with pytest.raises(InputError, match="got 1 for 2 items"):
        views_of(Gallery(Counting(), 1), make_items(make_item, [4, 5]), given=[view_of(4)])


def test_given_views_survive_a_restore_and_are_not_computed_again(make_item):
    gallery = Gallery(Counting(), 1)
    items = make_items(make_item, [4, 5, 6])
    views_of(gallery, items, given=[view_of(4), None, view_of(6, feature=3.0)])
    encoder = Counting()
    again = Gallery(encoder, 1)
    again.restore(gallery.state())
    expected = views_of(gallery, items)
    restored = views_of(again, items)
    assert (restored.vectors == expected.vectors).all()
    assert (restored.features == expected.features).all()
    assert encoder.looked == [5]


def test_the_memory_of_given_views_is_bounded_and_restores_as_it_was(make_item, monkeypatch):
    monkeypatch.setattr(gallery_module, "_GIVEN_ITEMS", 3)
    gallery = Gallery(Counting(), 1)
    for shade in range(10):
        views_of(gallery, make_items(make_item, [shade]), given=[view_of(shade)])
    assert gallery.state()["positions"] == [7, 8, 9]


def test_no_items_have_no_views():
    assert Gallery(Counting(), 1).vectors([]).shape[0] == 0


class CountingHead:
    """Scores a vector by its first number, once for each of its columns."""

    def __init__(self, columns):
        self.columns = columns
        self.scored = []

    def scores(self, vectors):
        self.scored += vectors[:, 0].astype(int).tolist()
        return np.repeat(vectors[:, :1], len(self.columns), axis=1)


def test_an_item_is_scored_once_until_the_columns_of_the_head_change(make_item):
    gallery, head = Gallery(Counting(), 1), CountingHead((3, 7))
    for shades in ([1, 2], [2, 3, 1], [4, 2]):
        scores = gallery.scores(make_items(make_item, shades), head)
        assert scores.tolist() == [[shade, shade] for shade in shades]
    assert head.scored == [1, 2, 3, 4]
    head.columns = (3, None)
    gallery.scores(make_items(make_item, [2, 4]), head)
    assert head.scored == [1, 2, 3, 4, 2, 4]
