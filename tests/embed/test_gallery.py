import numpy as np
import pytest

from csim.embed import gallery as gallery_module
from csim.embed.gallery import Gallery
from csim.records import Item, Views


class Counting:
    """An encoder that sees an image's shade, and remembers the shades it was shown."""

    def __init__(self):
        self.looked = []
        self.embedded = []

    def embed(self, images):
        self.embedded += images[:, 0, 0].tolist()
        return self._see(images).vectors

    def view(self, images):
        self.looked += images[:, 0, 0].tolist()
        return self._see(images)

    def _see(self, images):
        shades = images[:, 0, 0].astype(np.float32)
        return Views(
            np.stack([shades, -shades], axis=1),
            np.stack([shades, shades**2, np.ones(len(shades))], axis=1),
        )


def make_items(make_item, shades):
    return [make_item(f"item {shade}", shade) for shade in shades]


def shades_of(views):
    return views.vectors[:, 0].tolist()


def test_items_are_seen_as_the_encoder_sees_them_in_their_order(make_item):
    gallery = Gallery(Counting())
    items = make_items(make_item, [4, 1, 3])
    gallery.views(items[:2])
    views = gallery.views(items[::-1])
    expected = Counting().view(np.stack([item.image for item in items[::-1]]))
    assert (views.vectors == expected.vectors).all()
    assert (views.features == expected.features).all()


def test_an_image_is_embedded_once(make_item):
    encoder = Counting()
    gallery = Gallery(encoder)
    for shades in ([1, 2], [2, 3, 1], [3], [4, 2]):
        assert shades_of(gallery.views(make_items(make_item, shades))) == shades
    assert encoder.looked == [1, 2, 3, 4]


def test_an_id_that_comes_again_is_another_image():
    gallery = Gallery(Counting())
    for position, shade in ((1, 7), (900, 8)):
        assert shades_of(
            gallery.views([Item("again", position, np.full((8, 8), shade, np.uint8))])
        ) == [shade]


def test_an_item_may_come_twice_in_one_look(make_item):
    items = make_items(make_item, [5, 6, 5])
    assert shades_of(Gallery(Counting()).views(items)) == [5, 6, 5]


def test_plain_images_are_embedded_and_not_remembered(make_item):
    encoder = Counting()
    gallery = Gallery(encoder)
    (item,) = make_items(make_item, [7])
    for _ in range(2):
        assert gallery.embed(item.image[None]).tolist() == [[7, -7]]
    assert encoder.embedded == [7, 7]
    gallery.views([item])
    assert encoder.looked == [7]


@pytest.mark.parametrize("room", [1, 4, 10])
def test_memory_is_bounded_and_what_was_forgotten_is_looked_at_anew(make_item, monkeypatch, room):
    monkeypatch.setattr(gallery_module, "_ROOM", room)
    encoder = Counting()
    gallery = Gallery(encoder)
    for start in range(0, 100, 5):
        assert shades_of(gallery.views(make_items(make_item, range(start, start + 5)))) == list(
            range(start, start + 5)
        )
        assert len(gallery._seen) <= room
    assert encoder.looked == list(range(100))
    gallery.views(make_items(make_item, range(100 - room, 100)))
    assert encoder.looked == list(range(100))  # the newest are still remembered
    gallery.views(make_items(make_item, [0]))
    assert encoder.looked == [*range(100), 0]


def test_more_images_at_once_than_there_is_room_for_are_all_seen(make_item, monkeypatch):
    monkeypatch.setattr(gallery_module, "_ROOM", 3)
    gallery = Gallery(Counting())
    assert shades_of(gallery.views(make_items(make_item, range(20)))) == list(range(20))


def test_what_it_returns_is_the_callers_own(make_item):
    gallery, items = Gallery(Counting()), make_items(make_item, [1, 2])
    views = gallery.views(items)
    views.vectors[:] = 0
    views.features[:] = 0
    assert shades_of(gallery.views(items)) == [1, 2]
    assert gallery.views(items).features[:, 1].tolist() == [1, 4]


def test_an_error_of_the_encoder_leaves_nothing_half_remembered(make_item):
    class Failing(Counting):
        is_well = False

        def view(self, images):
            if not self.is_well:
                raise RuntimeError("out of memory")
            return super().view(images)

    encoder = Failing()
    gallery, items = Gallery(encoder), make_items(make_item, [1, 2])
    with pytest.raises(RuntimeError):
        gallery.views(items)
    encoder.is_well = True
    assert shades_of(gallery.views(items)) == [1, 2]
